#include "memory/sharing.hpp"

#include <algorithm>
#include <bit>

#include "base/bitset.h"
#include "policy/draws.h"

namespace numasim {

namespace {

// Calls `visit(member)` for the members of word number `at` of a set, in ascending order.
template <typename Visit>
void each_member(std::size_t at, std::uint64_t word, Visit&& visit) {
    for (; word != 0; word &= word - 1) visit(static_cast<std::uint32_t>(64 * at) + ns_word_first(word));
}

}  // namespace

Shares::Shares(const Effects& effects, std::span<const std::int32_t> node_of_worker, std::uint32_t nodes)
    : effects_(effects),
      node_(node_of_worker),
      snapshot_(effects.contention == Contention::SNAPSHOT),
      resources_(effects.resources.capacity.size()),
      words_(ns_set_words(static_cast<std::uint32_t>(node_of_worker.size()))),
      demands_(node_of_worker.size() * resources_),
      count_(node_of_worker.size(), 0),
      capacity_(effects.resources.capacity.begin(), effects.resources.capacity.end()),
      total_(resources_, 0),
      over_(ns_set_words(static_cast<std::uint32_t>(resources_)), 0),
      fault_users_(nodes, 0),
      class_(node_of_worker.size(), NO_CLASS),
      classes_(node_of_worker.size()),
      table_(std::bit_ceil(2 * node_of_worker.size()), NO_CLASS),
      users_(resources_ * words_, 0),
      in_use_(words_, 0),
      loose_(words_, 0),
      level_(node_of_worker.size(), ONE),
      open_(words_, 0),
      held_share_(node_of_worker.size(), 0) {
    for (std::uint64_t resource = 0; resource < resources_; ++resource) names_.push_back(ns_mix(resource + 1));
    for (std::uint32_t number = static_cast<std::uint32_t>(classes_.size()); number-- != 0;) free_.push_back(number);
}

// ---- what flows ask for -------------------------------------------------------------------------------------------

void Shares::set(std::uint32_t worker, const std::vector<Use>& uses, std::int64_t nominal_ps) {
    leave(worker);
    for (const auto& [resource, units] : uses) {
        if (nominal_ps == 0) break;
        const std::int64_t units_per_s = floor_ratio(units, PS_PER_S, nominal_ps);
        if (units_per_s == 0) continue;
        const Demand demand{resource, units_per_s};
        demands_[worker * resources_ + count_[worker]++] = demand;
        change(worker, demand, 1);
    }
    if (count_[worker] != 0) ns_set_put(loose_.data(), worker, true);
    changed_ = true;
    if (snapshot_ && held_share_[worker] == 0) fresh_.push_back(worker);
}

void Shares::clear(std::uint32_t worker) {
    held_share_[worker] = 0;
    leave(worker);
}

void Shares::leave(std::uint32_t worker) {
    if (count_[worker] == 0) return;
    for (const Demand& demand : demands(worker)) change(worker, demand, -1);
    const std::uint32_t number = class_[worker];
    if (number == NO_CLASS) {
        ns_set_put(loose_.data(), worker, false);
    } else {
        for (const auto& [resource, units_per_s] : demands(worker)) classes_[number].asked[resource] -= units_per_s;
        if (--classes_[number].flows == 0) dissolve(number, demands(worker));
        class_[worker] = NO_CLASS;
        moved_.push_back(worker);
    }
    count_[worker] = 0;
    changed_ = true;
}

// The worker's flow asks for this, or (-1) does no more.
inline void Shares::change(std::uint32_t worker, const Demand& demand, std::int64_t sign) {
    const std::size_t resource = demand.resource;
    total_[resource] = sum_ps(total_[resource], sign * demand.units_per_s);
    if (static_cast<std::int32_t>(resource) == effects_.resources.faults)
        count_fault_user(static_cast<std::size_t>(node_[worker]), sign);
    ns_set_put(over_.data(), demand.resource, total_[resource] > capacity_[resource]);
}

// The address space manages less the more nodes use it.
void Shares::count_fault_user(std::size_t node, std::int64_t sign) {
    const bool did = fault_users_[node] != 0;
    fault_users_[node] += sign;
    if (did == (fault_users_[node] != 0)) return;
    fault_nodes_ += sign;
    const auto faults = static_cast<std::size_t>(effects_.resources.faults);
    const std::int64_t slower =
        MILLION + effects_.resources.fault_alpha_ppm * std::max<std::int64_t>(0, fault_nodes_ - 1);
    capacity_[faults] = std::max<std::int64_t>(1, floor_ratio(effects_.resources.capacity[faults], MILLION, slower));
}

// ---- classes ------------------------------------------------------------------------------------------------------

void Shares::join(std::uint32_t worker) {
    const std::uint32_t number = class_for(demands(worker));
    class_[worker] = number;
    ++classes_[number].flows;
    for (const auto& [resource, units_per_s] : demands(worker)) classes_[number].asked[resource] += units_per_s;
    moved_.push_back(worker);
}

// The class of these resources.
std::uint32_t Shares::class_for(std::span<const Demand> demands) {
    std::uint64_t name = 0;
    for (const Demand& demand : demands) name += names_[demand.resource];
    std::uint32_t number = place_of(name);
    while (number != NO_CLASS && !is_named(number, name, demands)) number = classes_[number].next;
    return number == NO_CLASS ? found(name, demands) : number;
}

bool Shares::is_named(std::uint32_t number, std::uint64_t name, std::span<const Demand> demands) const {
    if (classes_[number].name != name || classes_[number].resources != demands.size()) return false;
    return std::ranges::all_of(demands, [&](const Demand& demand) { return uses(number, demand.resource); });
}

bool Shares::uses(std::uint32_t number, std::size_t resource) const { return ns_set_has(users(resource), number); }

std::uint32_t Shares::found(std::uint64_t name, std::span<const Demand> demands) {
    const std::uint32_t number = free_.back();
    free_.pop_back();
    Class& founded = classes_[number];
    founded.name = name;
    founded.resources = static_cast<std::uint32_t>(demands.size());
    founded.next = place_of(name);
    founded.asked.resize(resources_, 0);
    place_of(name) = number;
    for (const Demand& demand : demands) ns_set_put(users(demand.resource), number, true);
    ns_set_put(in_use_.data(), number, true);
    return number;
}

void Shares::dissolve(std::uint32_t number, std::span<const Demand> demands) {
    Class& dissolved = classes_[number];
    std::uint32_t* place = &place_of(dissolved.name);
    while (*place != number) place = &classes_[*place].next;
    *place = dissolved.next;
    for (const Demand& demand : demands) ns_set_put(users(demand.resource), number, false);
    ns_set_put(in_use_.data(), number, false);
    free_.push_back(number);
    set_level(number, ONE);
}

void Shares::set_level(std::uint32_t number, std::int64_t level) {
    if (level_[number] == level) return;
    level_[number] = level;
    relevelled_.push_back(number);
}

void Shares::forget_changes() {
    moved_.clear();
    relevelled_.clear();
    held_.clear();
}

// ---- max-min fairness ---------------------------------------------------------------------------------------------

void Shares::solve() {
    if (!changed_) return;
    changed_ = false;
    const bool relaxed = std::ranges::all_of(over_, [](std::uint64_t word) { return word == 0; });
    if (!relaxed || !relaxed_) fill();
    relaxed_ = relaxed;
    if (snapshot_) hold_fresh();
}

// Progressive filling: the resource that allows the smallest share gives it to all its classes, round by round.
void Shares::fill() {
    for (std::size_t at = 0; at < words_; ++at) {
        each_member(at, loose_[at], [this](std::uint32_t worker) { join(worker); });
        loose_[at] = 0;
    }
    scarce_.clear();
    for (std::size_t at = 0; at < over_.size(); ++at) {
        each_member(at, over_[at], [this](std::uint32_t resource) {
            scarce_.push_back({resource, total_[resource], Wide{capacity_[resource]} << SHARE_BITS});
        });
    }
    std::copy(in_use_.begin(), in_use_.end(), open_.begin());
    std::int64_t level = ONE;
    while (const Scarce* const found = tightest(level)) freeze(found->resource, level);
    for (std::size_t at = 0; at < words_; ++at) {
        each_member(at, open_[at], [this](std::uint32_t number) { set_level(number, ONE); });
    }
}

// The first resource that allows the smallest share, if that is below ONE.
const Shares::Scarce* Shares::tightest(std::int64_t& level) const {
    const Scarce* found = nullptr;
    level = ONE;
    for (const Scarce& each : scarce_) {
        if (each.asked == 0 || each.left >= Wide{level} * each.asked) continue;  // its level is no smaller
        const Wide share = each.left / each.asked;
        level = share < 1 ? 1 : static_cast<std::int64_t>(share);
        found = &each;
        if (level == 1) break;
    }
    return found;
}

// All open classes that use the resource get its level.
void Shares::freeze(std::size_t tight, std::int64_t level) {
    const std::uint64_t* const users = this->users(tight);
    for (std::size_t at = 0; at < words_; ++at) {
        const std::uint64_t frozen = open_[at] & users[at];
        open_[at] &= ~frozen;
        each_member(at, frozen, [&](std::uint32_t number) {
            set_level(number, level);
            for (Scarce& each : scarce_) {
                const std::int64_t asked = classes_[number].asked[each.resource];
                each.asked -= asked;
                each.left -= Wide{asked} * level;
            }
        });
    }
}

// Under contention `snapshot`, flows that have no share yet keep what they would get now.
void Shares::hold_fresh() {
    for (const std::uint32_t worker : fresh_) {
        held_share_[worker] = class_[worker] == NO_CLASS ? ONE : level_[class_[worker]];
    }
    held_.swap(fresh_);
    fresh_.clear();
}

// ---- what is in use -----------------------------------------------------------------------------------------------

std::int64_t Shares::share(std::size_t worker) const {
    if (snapshot_) return held_share_[worker];
    return class_[worker] == NO_CLASS ? ONE : level_[class_[worker]];
}

std::int64_t Shares::load(std::size_t resource, std::span<const std::uint32_t> left_out) const {
    Wide used = 0;
    if (snapshot_) {
        for (std::size_t worker = 0; worker < count_.size(); ++worker) used += use_of(worker, resource);
    } else {
        used = Wide{total_[resource]} << SHARE_BITS;
        for (std::size_t at = 0; at < words_; ++at) {
            each_member(at, in_use_[at], [&](std::uint32_t number) {
                used -= Wide{classes_[number].asked[resource]} * (ONE - level_[number]);
            });
        }
    }
    for (const std::uint32_t worker : left_out) used -= use_of(worker, resource);
    return static_cast<std::int64_t>(used >> SHARE_BITS);
}

Wide Shares::use_of(std::size_t worker, std::size_t resource) const {
    for (const Demand& demand : demands(worker)) {
        if (demand.resource == resource) return Wide{demand.units_per_s} * share(worker);
    }
    return 0;
}

}  // namespace numasim
