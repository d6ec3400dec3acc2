#include "memory/access_prices.hpp"

#include <algorithm>

#include "checked.hpp"

namespace numasim {

AccessPrices::AccessPrices(const Plan& plan, const AccessTable& table, const Clock& clock, ns_pages& pages,
                           Traffic& traffic)
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

void AccessPrices::price(std::size_t segment, std::int64_t compute_ps, const Place& place, Price& price,
                         std::vector<Use>& uses, std::uint32_t op, Brought* brought) {
    const std::span<const Access> accesses = table_.accesses(segment);
    std::int64_t segment_bytes = 0;
    for (const Access& access : accesses) segment_bytes += access.print.total();
    price = {.compute_ps = compute_ps};
    for (const Access& access : accesses) {
        if (access.print.total() == 0) continue;
        const std::int64_t hit = price_access(access, place, segment_bytes, price);
        if (brought == nullptr) continue;
        traffic_.used_bytes += std::min(hit, brought->take(op, static_cast<std::uint32_t>(&access - accesses.data())));
    }
    collect(uses);
}

void AccessPrices::go_on_with(const std::vector<Use>& uses) {
    for (const Use& each : uses) use(each.resource, each.units);
}

void AccessPrices::collect(std::vector<Use>& uses) {
    uses.clear();
    for (const std::uint32_t resource : used_) {
        uses.push_back({resource, units_[resource]});
        units_[resource] = 0;
    }
    used_.clear();
}

std::int64_t AccessPrices::price_ahead(const Access& access, const Place& place, Price& price) {
    counted_ = nullptr;
    const std::int64_t* const by_home = homes(access, place, price);
    found_.clear();
    caches_->first_pass(place, access.print, false, found_);
    const std::int64_t fetched = access.print.total() - found_.hit - found_.moved;
    move_from_memory(access, place, by_home, fetched, 0, price);
    move_from_caches(access, place, found_.hit, price);
    return found_.hit;
}

// Add the price of an access. Returns the bytes that its first pass finds in the own cache.
std::int64_t AccessPrices::price_access(const Access& access, const Place& place, std::int64_t segment_bytes,
                                        Price& price) {
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

// [nodes] the bytes of an access by home. Unplaced pages are placed.
const std::int64_t* AccessPrices::homes(const Access& access, const Place& place, Price& price) {
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

// Count the reading of pages that migrate from where they were.
void AccessPrices::migrate(const Place& place) {
    for (std::size_t home = 0; home < plan_.nodes; ++home) {
        const std::size_t pair = static_cast<std::size_t>(place.node) * plan_.nodes + home;
        const std::int64_t bytes = pages_.moved[home] * plan_.memory.page_bytes;
        traffic_.bytes[FETCHED][pair] += bytes;
        if (counted_ != nullptr) counted_[home] += bytes;
        use_path(effects_.resources.reads, pair, bytes);
    }
}

// Add the bytes that come from memory and go there.
void AccessPrices::move_from_memory(const Access& access, const Place& place, const std::int64_t* by_home,
                                    std::int64_t fetched, std::int64_t written, Price& price) {
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

// Cut both in proportion to the bytes on each home. Returns the moved bytes.
std::int64_t AccessPrices::move_by_home(const Access& access, const Place& place, const std::int64_t* by_home,
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

// Move bytes from and to one home. Returns how long they take.
std::int64_t AccessPrices::move_at(const Access& access, const Place& place, std::size_t home, std::int64_t read,
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

void AccessPrices::move_from_caches(const Access& access, const Place& place, std::int64_t hit, Price& price) {
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

inline void AccessPrices::use(std::uint32_t resource, std::int64_t units) {
    if (units == 0) return;
    if (units_[resource] == 0) used_.push_back(resource);
    units_[resource] += units;
}

inline void AccessPrices::use_path(const Paths& paths, std::size_t pair, std::int64_t bytes) {
    for (std::int64_t i = paths.first[pair]; i < paths.first[pair + 1]; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const std::int64_t per_line = paths.per_line[at];
        use(paths.resource[at], per_line == NS_MISS_BYTES ? bytes : ceil_ratio(bytes, per_line, NS_MISS_BYTES));
    }
}

}  // namespace numasim
