// How flows share what they use together: normalised max-min fairness in integers (model 2.5 and 2.9;
// engine/reference/memory/max_min_shares.py).
//
// What all flows ask of each resource is kept up to date, so that nothing has to be solved while nothing is asked for
// more than it has.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "memory/access_prices.hpp"
#include "plan.hpp"

namespace numasim {

constexpr int SHARE_BITS = 20;
constexpr std::int64_t ONE = std::int64_t{1} << SHARE_BITS;  // the share of a flow that nothing holds back

// What a flow uses of a resource when nothing holds it back.
struct Demand {
    std::uint32_t resource;
    std::int64_t units_per_s;
};

struct NewShare {
    std::uint32_t worker;
    std::int64_t share;
};

class Shares {
public:
    Shares(const Effects& effects, std::span<const std::int32_t> node_of_worker, std::uint32_t nodes);

    std::int64_t share(std::size_t worker) const { return share_[worker]; }

    // The worker's flow uses this while it takes `nominal_ps`; its share stays.
    void set(std::uint32_t worker, const std::vector<Use>& uses, std::int64_t nominal_ps);

    // The worker has no flow, or another one is about to start.
    void clear(std::uint32_t worker);

    // The shares that change now; where contention is `snapshot`, only those of flows that have none yet.
    const std::vector<NewShare>& solve();

    // Add to `load` [resources] what the worker's flow uses of each.
    void add_load(std::size_t worker, std::vector<std::int64_t>& load) const;

private:
    // Of what is asked for, `used` has been given; `asked` is left open.
    struct Account {
        std::int64_t asked, used;
    };

    std::span<Demand> demands(std::size_t worker) { return {demands_.data() + worker * stride_, count_[worker]}; }
    std::span<const Demand> demands(std::size_t worker) const {
        return {demands_.data() + worker * stride_, count_[worker]};
    }
    std::uint64_t& mask(std::size_t resource, std::size_t worker) {
        return masks_[resource / 64 * share_.size() + worker];
    }
    void add(std::uint32_t worker, const Demand& demand, std::int64_t sign);
    void count_fault_user(std::size_t node, std::int64_t sign);
    void change_total(std::size_t resource, std::int64_t by);
    void give(std::uint32_t worker, std::int64_t share);
    void give_all();
    void give_new();
    void fill_all();
    std::int64_t tightest(std::size_t& resource) const;
    void settle_accounts(std::uint32_t worker, std::int64_t level);

    const Effects& effects_;
    const std::span<const std::int32_t> node_;
    const bool snapshot_;
    const std::size_t stride_;               // most demands of a flow
    std::vector<Demand> demands_;            // [workers][stride]
    std::vector<std::uint32_t> count_;       // [workers] demands
    std::vector<std::uint64_t> masks_;       // [resources / 64][workers] which resources a flow uses
    std::vector<std::int64_t> share_;        // [workers]
    std::vector<std::int64_t> capacity_;     // [resources] for the flows at hand
    std::vector<std::int64_t> total_;        // [resources] that all flows ask for
    std::vector<std::uint8_t> is_held_;      // [workers] whose share stays
    std::vector<std::uint32_t> fresh_;       // workers whose flows have no share yet
    std::vector<std::int64_t> fault_users_;  // [nodes] flows that place pages
    std::int64_t fault_nodes_ = 0, over_ = 0, limited_ = 0;
    bool changed_ = false;
    std::vector<Account> accounts_;      // [resources] in the round at hand
    std::vector<std::uint32_t> open_;    // workers whose share is not found yet
    std::vector<std::uint32_t> frozen_;  // workers whose share the round has found
    std::vector<std::int64_t> level_;    // [workers]
    std::vector<NewShare> found_;
};

}  // namespace numasim
