// How flows share what they use together: normalised max-min fairness in integers (model 2.5 and 2.9;
// engine/reference/memory/flows.py).
//
// The share of a flow depends only on which resources the flow uses, not on how much of each, so that flows of the same
// resources are one class. When a flow starts or ends, the classes that each scarce resource holds back are computed
// again, and their level: they are a rate group (rate_groups.hpp). Flows join their classes only when a resource is
// scarce.
#pragma once

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
    Shares(const Effects& effects, std::span<const std::int32_t> node_of_worker, std::uint32_t nodes);

    // The worker's flow uses `uses` in `nominal_ps`.
    void set(std::uint32_t worker, const std::vector<Use>& uses, std::int64_t nominal_ps);

    // The worker has no flow, or will start another flow.
    void clear(std::uint32_t worker);

    // Compute the levels for the present demands.
    void solve();

    std::uint32_t class_of(std::size_t worker) const { return classes_.of(worker); }
    const RateGroups& groups() const { return groups_; }
    std::int64_t share(std::size_t worker) const;

    // Since the last call of `forget_changes`: workers whose flows have another class; under contention `snapshot`,
    // workers that have got a share to keep. Some come more than once. `groups` has further changes.
    const std::vector<std::uint32_t>& moved() const { return moved_; }
    const std::vector<std::uint32_t>& held() const { return held_; }
    void forget_changes();

    // The units per second of a resource that flows use, without the flows of the workers `left_out`.
    std::int64_t load(std::size_t resource, std::span<const std::uint32_t> left_out = {}) const;

private:
    // A resource of which flows ask more than there is: what open flows ask, and what is left for them in 2^-48.
    struct Scarce {
        std::uint32_t resource;
        std::int64_t asked;
        Wide left;
    };

    void change(std::uint32_t worker, const Demand& demand, std::int64_t sign);
    void count_fault_user(std::size_t node, std::int64_t sign);
    void join(std::uint32_t worker);
    void leave(std::uint32_t worker);
    void fill();
    void find_scarce();
    const Scarce* tightest(std::int64_t& level) const;
    void freeze(std::size_t tight, std::int64_t level);
    void take_off(std::span<const std::int64_t> asked, std::int64_t level);
    std::int64_t level(std::size_t worker) const;
    void hold_fresh();
    Wide use_of(std::size_t worker, std::size_t resource) const;

    const Effects& effects_;
    const std::span<const std::int32_t> node_;
    const bool snapshot_;
    const std::size_t resources_;
    FlowClasses classes_;
    RateGroups groups_;
    std::vector<std::int64_t> capacity_;     // [resources] for the present flows
    std::vector<std::int64_t> total_;        // [resources] the sum of all demands
    std::vector<std::uint64_t> over_;        // the set of resources with more demand than capacity
    std::vector<std::int64_t> fault_users_;  // [nodes] number of flows that place pages
    std::int64_t fault_nodes_ = 0;

    std::vector<std::uint64_t> loose_;  // the set of workers whose flows have not joined a class
    bool relaxed_ = true;               // no flow is held back
    bool changed_ = false;
    std::vector<Scarce> scarce_;         // by ascending resource
    std::vector<std::uint64_t> open_;    // the set of classes without a level yet
    std::vector<std::uint64_t> frozen_;  // the set of classes that have just got a level

    std::vector<std::int64_t> held_share_;  // [workers] the share that its flow keeps; 0: none yet
    std::vector<std::uint32_t> moved_, fresh_, held_;
};

}  // namespace numasim
