#include "memory/sharing.hpp"

#include <algorithm>
#include <bit>

#include "wide.hpp"

namespace numasim {

namespace {

// What a flow uses with a share of what it asks for.
std::int64_t part_of(std::int64_t asked, std::int64_t share) {
    return static_cast<std::int64_t>(Wide{asked} * share >> SHARE_BITS);
}

}  // namespace

Shares::Shares(const Effects& effects, std::span<const std::int32_t> node_of_worker, std::uint32_t nodes)
    : effects_(effects),
      node_(node_of_worker),
      snapshot_(effects.contention == Contention::SNAPSHOT),
      stride_(effects.resources.capacity.size()),
      demands_(node_of_worker.size() * stride_),
      count_(node_of_worker.size(), 0),
      masks_((stride_ / 64 + 1) * node_of_worker.size(), 0),
      share_(node_of_worker.size(), ONE),
      capacity_(effects.resources.capacity.begin(), effects.resources.capacity.end()),
      total_(stride_, 0),
      is_held_(node_of_worker.size(), 0),
      fault_users_(nodes, 0),
      accounts_(stride_),
      level_(node_of_worker.size(), ONE) {}

// ---- what flows ask for -------------------------------------------------------------------------------------------

void Shares::set(std::uint32_t worker, const std::vector<Use>& uses, std::int64_t nominal_ps) {
    for (const Demand& demand : demands(worker)) add(worker, demand, -1);
    count_[worker] = 0;
    for (const auto& [resource, units] : uses) {
        if (nominal_ps == 0) break;
        const std::int64_t units_per_s = floor_ratio(units, PS_PER_S, nominal_ps);
        if (units_per_s == 0) continue;
        const Demand demand{resource, units_per_s};
        demands_[worker * stride_ + count_[worker]++] = demand;
        add(worker, demand, 1);
    }
    changed_ = true;
    if (snapshot_ && !is_held_[worker]) fresh_.push_back(worker);
}

void Shares::clear(std::uint32_t worker) {
    for (const Demand& demand : demands(worker)) add(worker, demand, -1);
    changed_ |= count_[worker] != 0;
    count_[worker] = 0;
    is_held_[worker] = 0;
    limited_ -= share_[worker] != ONE;
    share_[worker] = ONE;
}

inline void Shares::add(std::uint32_t worker, const Demand& demand, std::int64_t sign) {
    const std::size_t resource = demand.resource;
    change_total(resource, sign * demand.units_per_s);
    mask(resource, worker) ^= std::uint64_t{1} << resource % 64;
    if (static_cast<std::int32_t>(resource) == effects_.resources.faults)
        count_fault_user(static_cast<std::size_t>(node_[worker]), sign);
}

inline void Shares::change_total(std::size_t resource, std::int64_t by) {
    std::int64_t& total = total_[resource];
    over_ -= total > capacity_[resource];
    total = sum_ps(total, by);
    over_ += total > capacity_[resource];
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
    over_ -= total_[faults] > capacity_[faults];
    capacity_[faults] = std::max<std::int64_t>(1, floor_ratio(effects_.resources.capacity[faults], MILLION, slower));
    over_ += total_[faults] > capacity_[faults];
}

void Shares::add_load(std::size_t worker, std::vector<std::int64_t>& load) const {
    for (const auto& [resource, units_per_s] : demands(worker)) {
        load[resource] = sum_ps(load[resource], part_of(units_per_s, share_[worker]));
    }
}

// ---- solving ------------------------------------------------------------------------------------------------------

const std::vector<NewShare>& Shares::solve() {
    found_.clear();
    if (!changed_) return found_;
    changed_ = false;
    if (snapshot_) {
        give_new();
    } else if (over_ != 0) {
        give_all();
    } else if (limited_ != 0) {
        for (std::uint32_t w = 0; w < share_.size(); ++w) give(w, ONE);
    }
    return found_;
}

void Shares::give(std::uint32_t worker, std::int64_t share) {
    if (share == share_[worker]) return;
    limited_ += (share != ONE) - (share_[worker] != ONE);
    share_[worker] = share;
    found_.push_back({worker, share});
}

void Shares::give_all() {
    fill_all();
    for (std::uint32_t w = 0; w < share_.size(); ++w) give(w, level_[w]);
}

void Shares::give_new() {
    if (over_ != 0 && !fresh_.empty()) fill_all();
    for (const std::uint32_t w : fresh_) {
        if (over_ != 0) give(w, level_[w]);
        is_held_[w] = 1;
    }
    fresh_.clear();
}

// ---- max-min fairness ---------------------------------------------------------------------------------------------

// Progressive filling: the resource that allows the smallest share gives it to all its flows, round by round.
void Shares::fill_all() {
    open_.clear();
    for (std::uint32_t w = 0; w < count_.size(); ++w) {
        if (count_[w] != 0) open_.push_back(w);
        level_[w] = ONE;
    }
    for (std::size_t r = 0; r < stride_; ++r) accounts_[r] = {total_[r], 0};
    for (;;) {
        std::size_t tight = 0;
        const std::int64_t level = tightest(tight);
        if (level >= ONE) return;
        const std::uint64_t* const uses = masks_.data() + tight / 64 * share_.size();
        std::size_t kept = 0;
        frozen_.clear();
        for (const std::uint32_t w : open_) {
            if (uses[w] >> tight % 64 & 1) {
                level_[w] = level;
                frozen_.push_back(w);
            } else {
                open_[kept++] = w;
            }
        }
        open_.resize(kept);
        if (kept == 0) return;  // what is left of resources interests nobody
        for (const std::uint32_t w : frozen_) settle_accounts(w, level);
    }
}

// The smallest share below ONE that a resource allows, and the first such resource.
std::int64_t Shares::tightest(std::size_t& resource) const {
    std::int64_t smallest = ONE;
    for (std::size_t r = 0; r < stride_; ++r) {
        const auto [asked, used] = accounts_[r];
        const std::int64_t left = std::max<std::int64_t>(0, capacity_[r] - used);
        if (Wide{left} << SHARE_BITS >= Wide{smallest} * asked) continue;  // its level is no smaller
        smallest = std::max<std::int64_t>(1, floor_ratio(left, ONE, asked));
        resource = r;
        if (smallest == 1) return smallest;
    }
    return smallest;
}

inline void Shares::settle_accounts(std::uint32_t worker, std::int64_t level) {
    for (const auto& [resource, units_per_s] : demands(worker)) {
        accounts_[resource].asked -= units_per_s;
        accounts_[resource].used += part_of(units_per_s, level);
    }
}

}  // namespace numasim
