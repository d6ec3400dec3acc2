// The bytes that items of a range move from and to given nodes, and how long they wait for them (model 1.8 and 3.5;
// numasim/plan/node_bytes.py). No cache serves them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "checked.hpp"
#include "memory/pages.h"
#include "plan.hpp"
#include "policy/amounts.h"
#include "wide.hpp"

namespace numasim {

// How long an item waits for them, and if they were all local.
struct NodeWait {
    std::int64_t wait_ps = 0, local_ps = 0;
};

class NodeBytes {
public:
    // The arrays that `family` refers to must outlive the object.
    NodeBytes(const Family& family, std::uint64_t seed) : accesses_(family.node_accesses), seed_(seed) {}

    bool any() const { return accesses_.size() != 0; }
    // Whether all items have the same.
    bool uniform() const {
        return std::ranges::all_of(accesses_,
                                   [](const NodeAccess& each) { return ns_amounts_are_fixed(&each.amounts); });
    }

    // As seen from a node.
    NodeWait wait(std::size_t node, std::int64_t item) const {
        return wait(node, item, [](const NodeAccess&, std::size_t, std::int64_t) {});
    }

    // Likewise; call `visit(access, home, bytes)` for what the item has on each home.
    template <typename Visit>
    NodeWait wait(std::size_t node, std::int64_t item, Visit visit) const {
        NodeWait found;
        for (std::size_t number = 0; number < accesses_.size(); ++number) {
            const NodeAccess& access = accesses_[number];
            const std::int64_t factor = access.written ? 2 : 1;
            const std::int64_t* const latency = access.latency.at + node * access.home.size();
            const std::int64_t amount = amount_of(number, item);
            each_part(access, amount, [&](std::size_t at, std::int64_t bytes) {
                found.wait_ps = sum_ps(found.wait_ps, lines_ps(factor * bytes, latency[at], access.misses));
                visit(access, static_cast<std::size_t>(access.home[at]), bytes);
            });
            const std::int64_t local_ps = lines_ps(factor * amount, access.local_latency[node], access.misses);
            found.local_ps = sum_ps(found.local_ps, local_ps);
        }
        return found;
    }

    // Call `visit(access, home, bytes)` for what an item has on each home.
    template <typename Visit>
    void each(std::int64_t item, Visit visit) const {
        for (std::size_t number = 0; number < accesses_.size(); ++number) {
            const NodeAccess& access = accesses_[number];
            each_part(access, amount_of(number, item), [&](std::size_t at, std::int64_t bytes) {
                visit(access, static_cast<std::size_t>(access.home[at]), bytes);
            });
        }
    }

private:
    std::int64_t amount_of(std::size_t number, std::int64_t item) const {
        return ns_amount_of(&accesses_[number].amounts, seed_, item, ns_number_of_access(number));
    }

    // Cut an amount over the homes in proportion to their shares.
    template <typename Visit>
    static void each_part(const NodeAccess& access, std::int64_t amount, Visit visit) {
        const std::size_t homes = access.home.size();
        if (homes == 1) return visit(std::size_t{0}, amount);
        const std::int64_t whole = access.share_end[homes - 1];
        std::int64_t done = 0;
        for (std::size_t at = 0; at < homes; ++at) {
            const std::int64_t upto = amount * access.share_end[at] / whole;
            visit(at, upto - done);
            done = upto;
        }
    }

    static std::int64_t lines_ps(std::int64_t bytes, std::int64_t latency_ps, std::int64_t misses) {
        std::int64_t time_ps = 0;
        if (!ns_misses_fit(bytes, latency_ps, misses, &time_ps)) refuse_time();
        return time_ps;
    }

    const ns_node_access_list accesses_;
    const std::uint64_t seed_;
};

}  // namespace numasim
