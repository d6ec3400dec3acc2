// The bytes that a segment moves, and how long it waits for memory: caches, pages and latencies together (model 2.3 to
// 2.6; engine/reference/memory/access_prices.py).
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

// Counts of a run: bytes moved between nodes, by kind of move; bytes that caches have served; pages of items.
struct Traffic {
    explicit Traffic(std::size_t nodes) { bytes.fill(std::vector<std::int64_t>(nodes * nodes)); }

    std::array<std::vector<std::int64_t>, TRAFFIC_KINDS> bytes;  // [nodes * nodes]: accessing node; home or sender
    std::int64_t cached_bytes = 0;
    std::int64_t placed = 0, unmapped = 0;  // pages that items have touched first; given back
    std::int64_t prefetched_bytes = 0;      // bytes that helper threads have brought into caches
    std::int64_t used_bytes = 0;            // of these: bytes that workers have found in the cache
};

// The price of a segment or an item: its parts in picoseconds. `local_wait_ps` is what `wait_ps` would be if all bytes
// were local. `queued_ps` is the additional wait for memory controllers. `fault_ps` is the time of page faults,
// migrations and giving back memory.
struct Price {
    std::int64_t compute_ps = 0, wait_ps = 0, local_wait_ps = 0, queued_ps = 0, fault_ps = 0;
};

// How many units of a resource a segment or an item uses.
struct Use {
    std::uint32_t resource;
    std::int64_t units;
};

// The bytes that a helper thread has brought into the cache for a task, by op and number of the access in its segment.
class Brought {
public:
    void add(std::uint32_t op, std::uint32_t number, std::int64_t bytes) {
        if (bytes != 0) portions_.push_back({op, number, bytes});
    }
    // Return the bytes brought in for access `number` of op `op`, and forget them.
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
    AccessPrices(const Plan& plan, const AccessTable& table, const Clock& clock, ns_pages& pages, Traffic& traffic)
        : plan_(plan),
          table_(table),
          effects_(plan.effects),
          traffic_(traffic),
          caches_(make_caches(plan.effects.caches, plan.nodes)),
          clock_(clock),
          pages_(pages),
          found_(plan.nodes),
          queueing_ps_(plan.nodes, 0),
          units_(plan.effects.resources.capacity.size(), 0) {}

    // Set `price` to the price of a segment that starts now at `place`, and `uses` to its uses, with one entry for
    // each resource that the segment uses. Caches and pages change. `brought` says which bytes a helper thread has
    // prefetched for the worker's task; if the segment, op `op` of the task, finds some of them, they count as used.
    void price(std::size_t segment, std::int64_t compute_ps, const Place& place, Price& price, std::vector<Use>& uses,
               std::uint32_t op = 0, Brought* brought = nullptr) {
        const std::span<const Access> accesses = table_.accesses(segment);
        std::int64_t segment_bytes = 0;
        for (const Access& access : accesses) segment_bytes += access.print.total();
        price = {.compute_ps = compute_ps};
        for (const Access& access : accesses) {
            if (access.print.total() == 0) continue;
            const std::int64_t hit = price_access(access, place, segment_bytes, price);
            if (brought == nullptr) continue;
            traffic_.used_bytes +=
                std::min(hit, brought->take(op, static_cast<std::uint32_t>(&access - accesses.data())));
        }
        collect(uses);
    }

    // For a helper thread: add the price of reading the bytes of an access once. Returns the bytes that the helper's
    // cache had already. The resources that this uses are kept. `go_on_with` adds further uses to the kept uses, and
    // `collect` moves all kept uses to `uses`.
    std::int64_t price_ahead(const Access& access, const Place& place, Price& price) {
        counted_ = nullptr;
        const std::int64_t* const by_home = homes(access, place, price);
        found_.clear();
        caches_->first_pass(place, access.print, false, found_);
        const std::int64_t fetched = access.print.total() - found_.hit - found_.moved;
        move_from_memory(access, place, by_home, fetched, 0, price);
        move_from_caches(access, place, found_.hit, price);
        return found_.hit;
    }

    void go_on_with(const std::vector<Use>& uses) {
        for (const Use& each : uses) use(each.resource, each.units);
    }

    void collect(std::vector<Use>& uses) {
        uses.clear();
        for (const std::uint32_t resource : used_) {
            uses.push_back({resource, units_[resource]});
            units_[resource] = 0;
        }
        used_.clear();
    }

    const AccessTable& table() const { return table_; }

    // Prefetch the cache records that `price` will read for a segment.
    void prefetch_chunks(std::size_t segment) const {
        for (const Access& access : table_.accesses(segment)) caches_->prefetch(access.print);
    }

    // From now on, also add to `bytes` [nodes] the bytes that segments move from and to the memory of each node.
    void count_into(std::int64_t* bytes) { counted_ = bytes; }

    std::vector<std::int64_t>& queueing_ps() {
        return queueing_ps_;
    }  // [nodes] wait of a miss at each memory controller

private:
    // Add the price of an access. Returns the bytes that the first of its passes over the data finds in the own cache.
    std::int64_t price_access(const Access& access, const Place& place, std::int64_t segment_bytes, Price& price) {
        const std::int64_t* const by_home = homes(access, place, price);
        const std::int64_t total = access.print.total();
        found_.clear();
        caches_->first_pass(place, access.print, access.writes(), found_);
        const std::int64_t again = total * (access.passes - 1);
        const std::int64_t near = segment_bytes <= effects_.caches.l2_bytes ? again : 0;
        std::int64_t llc = found_.hit;
        if (again != near) {
            const auto [part, whole] = caches_->later_pass(place, access.print, segment_bytes);
            llc += floor_ratio(again, part, whole);
        }
        const std::int64_t fetched = total + again - near - llc - found_.moved;
        const std::int64_t written = access.writes() ? fetched + found_.moved : 0;
        const std::int64_t times = access.writes() ? 2 : 1;
        traffic_.cached_bytes += times * (near + llc);
        move_from_memory(access, place, by_home, fetched, written, price);
        move_from_caches(access, place, times * llc, price);
        return found_.hit;
    }

    // [nodes] the bytes of an access on each node. Places its unplaced pages.
    const std::int64_t* homes(const Access& access, const Place& place, Price& price) {
        const std::size_t number = table_.number_of(access);
        if (access.settled) return plan_.accesses.settled.data() + number * plan_.nodes;
        const ns_page_touch touch = ns_pages_touch(&pages_, number, {place.node, clock_.now_ps()});
        price.fault_ps = sum_ps(price.fault_ps, touch.overhead_ps);
        const ns_resources& resources = effects_.resources;
        if (resources.faults >= 0) {
            use(static_cast<std::uint32_t>(resources.faults), product_ps(touch.faults, resources.fault_units));
        }
        if (touch.migrated != 0) migrate(place);
        return pages_.bytes;
    }

    // Count the bytes of migrated pages as read from the nodes where the pages were.
    void migrate(const Place& place) {
        for (std::size_t home = 0; home < plan_.nodes; ++home) {
            const std::size_t pair = static_cast<std::size_t>(place.node) * plan_.nodes + home;
            const std::int64_t bytes = pages_.moved[home] * plan_.memory.page_bytes;
            traffic_.bytes[FETCHED][pair] += bytes;
            if (counted_ != nullptr) counted_[home] += bytes;
            use_path(effects_.resources.reads, pair, bytes);
        }
    }

    // Add the price of the bytes that come from memory (`fetched`) and go to memory (`written`).
    void move_from_memory(const Access& access, const Place& place, const std::int64_t* by_home, std::int64_t fetched,
                          std::int64_t written, Price& price) {
        if (fetched == 0 && written == 0) return;
        std::int64_t moved = fetched + written;
        if (access.home != SEVERAL) {
            const std::int64_t wait_ps =
                move_at(access, place, static_cast<std::size_t>(access.home), fetched, written, price);
            if (access.home == place.node) {
                price.local_wait_ps = sum_ps(price.local_wait_ps, wait_ps);
                return;
            }
        } else {
            moved = move_by_home(access, place, by_home, fetched, written, price);
        }
        const auto node = static_cast<std::size_t>(place.node);
        const std::int64_t local_ps = effects_.latency_ps[node * plan_.nodes + node];
        price.local_wait_ps = sum_ps(price.local_wait_ps, misses_ps(moved, local_ps, access.misses));
    }

    // Divide `fetched` and `written` among the nodes in proportion to `by_home`. Returns the number of moved bytes.
    std::int64_t move_by_home(const Access& access, const Place& place, const std::int64_t* by_home,
                              std::int64_t fetched, std::int64_t written, Price& price) {
        std::int64_t whole = 0, before = 0, read_done = 0, back_done = 0;
        for (std::size_t home = 0; home < plan_.nodes; ++home) whole += by_home[home];
        for (std::size_t home = 0; home < plan_.nodes && before < whole; ++home) {
            if (by_home[home] == 0) continue;
            before += by_home[home];
            const std::int64_t read = before == whole ? fetched : floor_ratio(fetched, before, whole);
            const std::int64_t back = before == whole ? written : floor_ratio(written, before, whole);
            move_at(access, place, home, read - read_done, back - back_done, price);
            read_done = read;
            back_done = back;
        }
        return read_done + back_done;
    }

    // Move `read` bytes from and `back` bytes to the memory of node `home`. Returns the time of these moves without
    // waits for other accesses, which `price` gets, too.
    std::int64_t move_at(const Access& access, const Place& place, std::size_t home, std::int64_t read,
                         std::int64_t back, Price& price) {
        const std::size_t pair = static_cast<std::size_t>(place.node) * plan_.nodes + home;
        traffic_.bytes[access.mode == WRITE ? OWNED : FETCHED][pair] += read;
        traffic_.bytes[WRITTEN][pair] += back;
        if (counted_ != nullptr) counted_[home] += read + back;
        use_path(effects_.resources.reads, pair, read);
        use_path(effects_.resources.writes, pair, back);
        const std::int64_t wait_ps = misses_ps(read + back, effects_.latency_ps[pair], access.misses);
        price.wait_ps = sum_ps(price.wait_ps, wait_ps);
        if (effects_.queueing)
            price.queued_ps = sum_ps(price.queued_ps, misses_ps(read + back, queueing_ps_[home], access.misses));
        return wait_ps;
    }

    void move_from_caches(const Access& access, const Place& place, std::int64_t hit, Price& price) {
        if (hit != 0) {
            const std::int64_t near_ps = misses_ps(hit, effects_.caches.hit_ps, access.misses);
            price.wait_ps = sum_ps(price.wait_ps, near_ps);
            price.local_wait_ps = sum_ps(price.local_wait_ps, near_ps);
            const std::int32_t port = effects_.resources.llc_port[place.domain];
            if (port >= 0) use(static_cast<std::uint32_t>(port), hit);
        }
        if (found_.moved == 0) return;
        for (std::size_t sender = 0; sender < plan_.nodes; ++sender) {
            const std::int64_t bytes = found_.moved_by[sender];
            const std::size_t pair = static_cast<std::size_t>(place.node) * plan_.nodes + sender;
            traffic_.bytes[CACHED][pair] += bytes;
            use_path(effects_.resources.moves, pair, bytes);
            price.wait_ps = sum_ps(price.wait_ps, misses_ps(bytes, effects_.caches.remote_hit_ps, access.misses));
            price.local_wait_ps = sum_ps(price.local_wait_ps, misses_ps(bytes, effects_.caches.hit_ps, access.misses));
        }
    }

    void use(std::uint32_t resource, std::int64_t units) {
        if (units == 0) return;
        if (units_[resource] == 0) used_.push_back(resource);
        units_[resource] += units;
    }

    void use_path(const Paths& paths, std::size_t pair, std::int64_t bytes) {
        for (std::int64_t i = paths.first[pair]; i < paths.first[pair + 1]; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const std::int64_t per_line = paths.per_line[at];
            use(paths.resource[at], per_line == NS_MISS_BYTES ? bytes : ceil_ratio(bytes, per_line, NS_MISS_BYTES));
        }
    }

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

// The time of a segment that computes for `compute_ps` and waits for memory for `wait_ps`. Both may overlap in part.
inline std::int64_t combined_ps(const Effects& effects, std::int64_t compute_ps, std::int64_t wait_ps) {
    const std::int64_t longer = std::max(compute_ps, wait_ps);
    if (effects.overlap_ppm == MILLION) return longer;
    const Wide hidden = Wide{std::min(compute_ps, wait_ps)} * (MILLION - effects.overlap_ppm) + MILLION / 2;
    return sum_ps(longer, static_cast<std::int64_t>(hidden / MILLION));
}

// The time of a segment or an item with this price, for a worker with this speed (model 2.5 and 2.6).
// Inlined always: a call would make runs of many unlike items that skip ahead a tenth slower.
[[gnu::always_inline]] inline std::int64_t nominal_ps(const Effects& effects, const Price& price, const Speed& speed) {
    std::int64_t compute = price.compute_ps, wait = sum_ps(price.wait_ps, price.queued_ps);
    if (speed.compute_ppm != MILLION) compute = ceil_ratio(compute, MILLION, speed.compute_ppm);
    if (speed.memory_ppm != MILLION) wait = ceil_ratio(wait, MILLION, speed.memory_ppm);
    return sum_ps(combined_ps(effects, compute, wait), price.fault_ps);
}

// The remaining time of work after its whole time has changed to `nominal_ps`; before, `left_ps` of the whole remained.
inline std::int64_t scaled_ps(std::int64_t left_ps, std::int64_t nominal_before_ps, std::int64_t nominal_ps) {
    return nominal_before_ps == 0 ? nominal_ps : ceil_ratio(left_ps, nominal_ps, nominal_before_ps);
}

// The time of a segment or an item at some speed (`nominal_ps`), at full speed, and at full speed if all bytes were
// local. `pages_ps` is the time for its pages. Only `nominal_ps` contains `pages_ps`.
struct WorkTime {
    std::int64_t nominal_ps = 0, undisturbed_ps = 0, local_ps = 0, pages_ps = 0;
};

inline WorkTime work_time(const Effects& effects, const Price& price, const Speed& speed) {
    return {nominal_ps(effects, price, speed), combined_ps(effects, price.compute_ps, price.wait_ps),
            combined_ps(effects, price.compute_ps, price.local_wait_ps), price.fault_ps};
}

}  // namespace numasim
