// How flows (memory/flows.hpp) share resources: normalised max-min fairness in integers (model 2.5 and 2.9;
// engine/reference/memory/flows.py).
//
// The share of a flow (its speed relative to full speed) depends on which resources it uses, but not on how much of
// each. Flows that use the same resources are one class. The classes that a scarce resource slows down are a rate group
// (rate_groups.hpp). When a flow starts or ends, these groups and their levels are computed again. Flows are put into
// their classes only when a resource is scarce.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "checked.hpp"
#include "memory/access_prices.hpp"
#include "plan.hpp"
#include "sharing/rate_groups.hpp"

namespace numasim {

class Shares {
public:
    Shares(const Effects& effects, std::span<const std::int32_t> node_of_worker, std::uint32_t nodes)
        : effects_(effects),
          node_(node_of_worker),
          snapshot_(effects.contention == Contention::SNAPSHOT),
          resources_(effects.resources.capacity.size()),
          classes_(node_of_worker.size(), resources_),
          groups_(classes_, node_of_worker.size(), resources_),
          capacity_(effects.resources.capacity.begin(), effects.resources.capacity.end()),
          total_(resources_, 0),
          over_(ns_set_words(static_cast<std::uint32_t>(resources_)), 0),
          fault_users_(nodes, 0),
          loose_(classes_.words(), 0),
          open_(classes_.words(), 0),
          frozen_(classes_.words(), 0),
          held_share_(node_of_worker.size(), 0) {}

    // The worker's flow uses the resources of `uses` and takes `nominal_ps` at full speed.
    void set(std::uint32_t worker, const std::vector<Use>& uses, std::int64_t nominal_ps) {
        leave(worker);
        for (const auto& [resource, units] : uses) {
            if (nominal_ps == 0) break;
            const std::int64_t units_per_s = floor_ratio(units, PS_PER_S, nominal_ps);
            if (units_per_s == 0) continue;
            const Demand demand{resource, units_per_s};
            classes_.ask(worker, demand);
            change(worker, demand, 1);
        }
        if (!classes_.demands(worker).empty()) ns_set_put(loose_.data(), worker, true);
        changed_ = true;
        if (snapshot_ && held_share_[worker] == 0) fresh_.push_back(worker);
    }

    // The worker has no flow, or will start another flow.
    void clear(std::uint32_t worker) {
        held_share_[worker] = 0;
        leave(worker);
    }

    // Compute the levels for the present demands.
    void solve() {
        if (!changed_) return;
        changed_ = false;
        const bool relaxed = std::ranges::all_of(over_, [](std::uint64_t word) { return word == 0; });
        if (!relaxed || !relaxed_) fill();
        relaxed_ = relaxed;
        if (!snapshot_) return;  // else flows without a kept share get their present share and keep it
        for (const std::uint32_t worker : fresh_) held_share_[worker] = level(worker);
        held_.swap(fresh_);
        fresh_.clear();
    }

    std::uint32_t class_of(std::size_t worker) const { return classes_.of(worker); }
    const RateGroups& groups() const { return groups_; }
    std::int64_t share(std::size_t worker) const { return snapshot_ ? held_share_[worker] : level(worker); }

    // Since the last call of `forget_changes`: `moved`: workers whose flows have changed their class; `held`: with
    // contention `snapshot`, workers whose flows have got the share that they keep. Entries may occur more than once.
    // `groups` has further changes.
    const std::vector<std::uint32_t>& moved() const { return moved_; }
    const std::vector<std::uint32_t>& held() const { return held_; }

    void forget_changes() {
        moved_.clear();
        held_.clear();
        groups_.forget_changes();
    }

    // How many units per second of a resource all flows use, without the flows of the workers `left_out`.
    std::int64_t load(std::size_t resource, std::span<const std::uint32_t> left_out = {}) const {
        Wide used = 0;
        if (snapshot_) {
            for (std::size_t worker = 0; worker < node_.size(); ++worker) used += use_of(worker, resource);
        } else {
            used = Wide{total_[resource]} << SHARE_BITS;
            for (std::uint32_t group = 0; group < groups_.size(); ++group) {
                used -= Wide{groups_.asked(group)[resource]} * (ONE - groups_.level(group));
            }
        }
        for (const std::uint32_t worker : left_out) used -= use_of(worker, resource);
        return static_cast<std::int64_t>(used >> SHARE_BITS);
    }

private:
    // A resource whose demand exceeds its capacity: the demand `asked` of the flows without a level yet, and the
    // capacity `left` for these flows, in 2^-48 units.
    struct Scarce {
        std::uint32_t resource;
        std::int64_t asked;
        Wide left;
    };

    // Add a demand of the worker's flow to the sums (sign 1) or take it away (sign -1).
    void change(std::uint32_t worker, const Demand& demand, std::int64_t sign) {
        const std::size_t resource = demand.resource;
        total_[resource] = sum_ps(total_[resource], sign * demand.units_per_s);
        if (static_cast<std::int32_t>(resource) == effects_.resources.faults)
            count_fault_user(static_cast<std::size_t>(node_[worker]), sign);
        ns_set_put(over_.data(), demand.resource, total_[resource] > capacity_[resource]);
    }

    // Count a flow of a worker of `node` that places pages (sign 1), or discount the flow (sign -1), and update the
    // capacity for page faults, which falls with the number of nodes that have such flows.
    void count_fault_user(std::size_t node, std::int64_t sign) {
        const bool did = fault_users_[node] != 0;
        fault_users_[node] += sign;
        if (did == (fault_users_[node] != 0)) return;
        fault_nodes_ += sign;
        const auto faults = static_cast<std::size_t>(effects_.resources.faults);
        const std::int64_t slower =
            MILLION + effects_.resources.fault_alpha_ppm * std::max<std::int64_t>(0, fault_nodes_ - 1);
        capacity_[faults] =
            std::max<std::int64_t>(1, floor_ratio(effects_.resources.capacity[faults], MILLION, slower));
    }

    void join(std::uint32_t worker) {
        groups_.change(classes_.join(worker), classes_.demands(worker), 1);
        moved_.push_back(worker);
    }

    void leave(std::uint32_t worker) {
        if (classes_.demands(worker).empty()) return;
        for (const Demand& demand : classes_.demands(worker)) change(worker, demand, -1);
        const std::uint32_t number = class_of(worker);
        if (number == NO_CLASS) {
            ns_set_put(loose_.data(), worker, false);
        } else {
            groups_.change(number, classes_.demands(worker), -1);
            if (!classes_.leave(worker)) groups_.dissolve(number);
            moved_.push_back(worker);
        }
        classes_.ask_nothing(worker);
        changed_ = true;
    }

    // Progressive filling: in each round, find the resource that allows the smallest share, and give this share to all
    // classes that use it.
    void fill() {
        for (std::size_t at = 0; at < loose_.size(); ++at) {
            each_member(at, loose_[at], [this](std::uint32_t worker) { join(worker); });
            loose_[at] = 0;
        }
        scarce_.clear();
        for (std::size_t at = 0; at < over_.size(); ++at) {
            each_member(at, over_[at], [this](std::uint32_t resource) {
                scarce_.push_back({resource, total_[resource], Wide{capacity_[resource]} << SHARE_BITS});
            });
        }
        std::copy_n(classes_.in_use(), open_.size(), open_.begin());
        groups_.begin();
        std::int64_t level = ONE;
        while (const Scarce* const found = tightest(level)) freeze(found->resource, level);
        groups_.end();
    }

    // Return the first resource that allows the smallest share below ONE, or nullptr. Set `level` to this share, or
    // ONE.
    const Scarce* tightest(std::int64_t& level) const {
        const Scarce* found = nullptr;
        level = ONE;
        for (const Scarce& each : scarce_) {
            if (each.left >= Wide{level} * each.asked) continue;  // this resource allows no smaller share
            const Wide share = each.left / each.asked;
            level = share < 1 ? 1 : static_cast<std::int64_t>(share);
            found = &each;
            if (level == 1) break;
        }
        return found;
    }

    // Give the level to all open classes (classes without a level yet) that use the resource.
    void freeze(std::size_t tight, std::int64_t level) {
        const std::uint64_t* const users = classes_.users(tight);
        for (std::size_t at = 0; at < open_.size(); ++at) {
            frozen_[at] = open_[at] & users[at];
            open_[at] &= ~users[at];
        }
        take_off(groups_.asked(groups_.make(frozen_, level)), level);
    }

    // Take the demands of the classes that have just got a level (`frozen_`) off all scarce resources. Resources with
    // enough capacity for the open classes are no longer scarce.
    void take_off(std::span<const std::int64_t> asked, std::int64_t level) {
        std::size_t kept = 0;
        for (const Scarce& each : scarce_) {
            const std::int64_t frozen = asked[each.resource], open = each.asked - frozen;
            const Wide left = each.left - Wide{frozen} * level;
            if (open != 0 && left < Wide{open} << SHARE_BITS) scarce_[kept++] = {each.resource, open, left};
        }
        scarce_.resize(kept);
    }

    std::int64_t level(std::size_t worker) const {
        const std::uint32_t number = class_of(worker);
        return number == NO_CLASS ? ONE : groups_.level(groups_.of(number));
    }

    Wide use_of(std::size_t worker, std::size_t resource) const {
        for (const Demand& demand : classes_.demands(worker)) {
            if (demand.resource == resource) return Wide{demand.units_per_s} * share(worker);
        }
        return 0;
    }

    const Effects& effects_;
    const std::span<const std::int32_t> node_;
    const bool snapshot_;
    const std::size_t resources_;
    FlowClasses classes_;
    RateGroups groups_;
    std::vector<std::int64_t> capacity_;     // [resources] for the present number of nodes with page faults
    std::vector<std::int64_t> total_;        // [resources] the sum of all demands
    std::vector<std::uint64_t> over_;        // the set of resources with more demand than capacity
    std::vector<std::int64_t> fault_users_;  // [nodes] number of flows that place pages
    std::int64_t fault_nodes_ = 0;

    std::vector<std::uint64_t> loose_;  // the set of workers whose flows have not joined a class
    bool relaxed_ = true;               // whether all flows run at full speed
    bool changed_ = false;
    std::vector<Scarce> scarce_;         // by ascending resource
    std::vector<std::uint64_t> open_;    // the set of classes without a level yet
    std::vector<std::uint64_t> frozen_;  // the set of classes that have just got a level

    std::vector<std::int64_t> held_share_;  // [workers] the share that its flow keeps; 0: none yet
    std::vector<std::uint32_t> moved_, fresh_, held_;
};

}  // namespace numasim
