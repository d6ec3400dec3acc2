// What a segment moves and how long it waits for memory: caches, pages and latencies together (model 2.3 to 2.6;
// engine/reference/memory/access_prices.py).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "checked.hpp"
#include "memory/access_table.hpp"
#include "memory/caches.hpp"
#include "memory/speeds.hpp"
#include "plan.hpp"
#include "state/clock.hpp"

namespace numasim {

constexpr std::int64_t PS_PER_S = 1'000'000'000'000;

// Moved bytes by kind and pair of nodes, bytes served by caches, and pages of items.
struct Traffic {
    std::array<std::vector<std::int64_t>, TRAFFIC_KINDS> bytes;  // [nodes * nodes]: accessing node, home or sender
    std::int64_t cached_bytes = 0;
    std::int64_t placed = 0, unmapped = 0;              // pages that items of ranges have touched first, and given back
    std::int64_t prefetched_bytes = 0, used_bytes = 0;  // brought in by helpers; those of them that workers found
};

// What a stretch of work costs, in picoseconds. `local_wait_ps` is the wait if all bytes were local. `queued_ps` is the
// additional wait for memory controllers. `fault_ps` is the time of page faults, migrations and giving back memory.
struct Price {
    std::int64_t compute_ps = 0, wait_ps = 0, local_wait_ps = 0, queued_ps = 0, fault_ps = 0;
};

// Units of a resource that work uses.
struct Use {
    std::uint32_t resource;
    std::int64_t units;
};

// The bytes that a helper has brought in for a task, by op of the task and number of the access in the op's segment.
class Brought {
public:
    void add(std::uint32_t op, std::uint32_t number, std::int64_t bytes) {
        if (bytes != 0) portions_.push_back({op, number, bytes});
    }
    // Take out the bytes of an access.
    std::int64_t take(std::uint32_t op, std::uint32_t number) {
        std::int64_t bytes = 0;
        for (Portion& each : portions_) {
            if (each.op == op && each.number == number) bytes += std::exchange(each.bytes, 0);
        }
        return bytes;
    }

private:
    struct Portion {
        std::uint32_t op, number;
        std::int64_t bytes;
    };
    std::vector<Portion> portions_;
};

class AccessPrices {
public:
    AccessPrices(const Plan& plan, const AccessTable& table, const Clock& clock, ns_pages& pages, Traffic& traffic);

    // Set `price` to the price of a segment that starts now at `place`, and `uses` to what it uses, each resource once.
    // Caches and pages change. Bytes that a helper has `brought` for op `op` of the task, and the segment finds, count
    // as used.
    void price(std::size_t segment, std::int64_t compute_ps, const Place& place, Price& price, std::vector<Use>& uses,
               std::uint32_t op = 0, Brought* brought = nullptr);

    // Add the price of reading an access once. Returns the bytes that were in the own cache. What the reading uses is
    // kept for `collect`, together with the uses of `go_on_with`.
    std::int64_t price_ahead(const Access& access, const Place& place, Price& price);
    void go_on_with(const std::vector<Use>& uses);
    void collect(std::vector<Use>& uses);

    const AccessTable& table() const { return table_; }

    // Prefetch what `price` will read of a segment.
    void prefetch_chunks(std::size_t segment) const {
        for (const Access& access : table_.accesses(segment)) caches_->prefetch(access.print);
    }

    // From now on also add what segments move from and to each home to `bytes` [nodes].
    void count_into(std::int64_t* bytes) { counted_ = bytes; }

    std::vector<std::int64_t>& queueing_ps() { return queueing_ps_; }  // [nodes] the wait of a miss at each controller

private:
    std::int64_t price_access(const Access& access, const Place& place, std::int64_t segment_bytes, Price& price);
    const std::int64_t* homes(const Access& access, const Place& place, Price& price);
    void migrate(const Place& place);
    void move_from_memory(const Access& access, const Place& place, const std::int64_t* by_home, std::int64_t fetched,
                          std::int64_t written, Price& price);
    std::int64_t move_by_home(const Access& access, const Place& place, const std::int64_t* by_home,
                              std::int64_t fetched, std::int64_t written, Price& price);
    std::int64_t move_at(const Access& access, const Place& place, std::size_t home, std::int64_t read,
                         std::int64_t back, Price& price);
    void move_from_caches(const Access& access, const Place& place, std::int64_t hit, Price& price);
    void use(std::uint32_t resource, std::int64_t units);
    void use_path(const Paths& paths, std::size_t pair, std::int64_t bytes);

    const Plan& plan_;
    const AccessTable& table_;
    const Effects& effects_;
    Traffic& traffic_;
    std::unique_ptr<Caches> caches_;
    const Clock& clock_;
    ns_pages& pages_;
    std::int64_t* counted_ = nullptr;
    Found found_;
    std::vector<std::int64_t> queueing_ps_;  // [nodes]
    std::vector<std::int64_t> units_;        // [resources] used by the present segment
    std::vector<std::uint32_t> used_;        // resources with units
};

// The time of computing and waiting for memory, which overlap in part.
inline std::int64_t combined_ps(const Effects& effects, std::int64_t compute_ps, std::int64_t wait_ps) {
    const std::int64_t longer = std::max(compute_ps, wait_ps);
    if (effects.overlap_ppm == MILLION) return longer;
    const Wide hidden = Wide{std::min(compute_ps, wait_ps)} * (MILLION - effects.overlap_ppm) + MILLION / 2;
    return sum_ps(longer, static_cast<std::int64_t>(hidden / MILLION));
}

// The time of work with this price at a speed (model 2.5 and 2.6).
inline std::int64_t nominal_ps(const Effects& effects, const Price& price, const Speed& speed) {
    std::int64_t compute = price.compute_ps, wait = sum_ps(price.wait_ps, price.queued_ps);
    if (speed.compute_ppm != MILLION) compute = ceil_ratio(compute, MILLION, speed.compute_ppm);
    if (speed.memory_ppm != MILLION) wait = ceil_ratio(wait, MILLION, speed.memory_ppm);
    return sum_ps(combined_ps(effects, compute, wait), price.fault_ps);
}

// The time that is left of work after the nominal time of the work has changed.
inline std::int64_t scaled_ps(std::int64_t left_ps, std::int64_t nominal_before_ps, std::int64_t nominal_ps) {
    return nominal_before_ps == 0 ? nominal_ps : ceil_ratio(left_ps, nominal_ps, nominal_before_ps);
}

// The time of work at some speed, at full speed, and at full speed if all its bytes were local. `pages_ps` is the time
// for its pages, which only `nominal_ps` contains.
struct WorkTime {
    std::int64_t nominal_ps = 0, undisturbed_ps = 0, local_ps = 0, pages_ps = 0;
};

inline WorkTime work_time(const Effects& effects, const Price& price, const Speed& speed) {
    return {nominal_ps(effects, price, speed), combined_ps(effects, price.compute_ps, price.wait_ps),
            combined_ps(effects, price.compute_ps, price.local_wait_ps), price.fault_ps};
}

}  // namespace numasim
