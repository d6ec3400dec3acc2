// How flows share what they use together: normalised max-min fairness in integers (model 2.5 and 2.9;
// engine/reference/memory/flows.py).
//
// What share a flow gets depends only on which resources it uses, not on how much of each: flows of the same resources
// are a class (sharing/flow_classes.hpp). What has to be found anew when a flow starts or ends is which classes each
// scarce resource holds back, and their level: they are a rate group (sharing/rate_groups.hpp). While nothing is
// scarce, flows are only counted: they join their classes when something is.
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

    // The worker's flow uses this while it takes `nominal_ps`.
    void set(std::uint32_t worker, const std::vector<Use>& uses, std::int64_t nominal_ps);

    // The worker has no flow, or another one is about to start.
    void clear(std::uint32_t worker);

    // Find the levels for what is asked now.
    void solve();

    std::uint32_t class_of(std::size_t worker) const { return classes_.of(worker); }
    const RateGroups& groups() const { return groups_; }
    std::int64_t share(std::size_t worker) const;

    // What has changed since the last call of `forget_changes`, beside what groups tell: workers whose flows are of
    // another class; under contention `snapshot`, workers that have got a share to keep. Some more than once.
    const std::vector<std::uint32_t>& moved() const { return moved_; }
    const std::vector<std::uint32_t>& held() const { return held_; }
    void forget_changes();

    // Units per second of a resource that flows use, without those of the workers `left_out`.
    std::int64_t load(std::size_t resource, std::span<const std::uint32_t> left_out = {}) const;

private:
    // A resource of which more is asked than there is: what open flows ask, and what is left for them, in 2^-48.
    struct Scarce {
        std::uint32_t resource;
        std::int64_t asked;
        Wide left;
    };

    void change(std::uint32_t worker, const Demand& demand, std::int64_t sign);
    void count_fault_user(std::size_t node, std::int64_t sign);
    void join(std::uint32_t worker);
    void leave(std::uint32_t worker);
    void leave_class(std::uint32_t worker);
    void fill();
    void join_loose();
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
    std::vector<std::int64_t> capacity_;     // [resources] for the flows at hand
    std::vector<std::int64_t> total_;        // [resources] that all flows ask for
    std::vector<std::uint64_t> over_;        // the set of resources of which more is asked than there is
    std::vector<std::int64_t> fault_users_;  // [nodes] flows that place pages
    std::int64_t fault_nodes_ = 0;

    std::vector<std::uint64_t> loose_;  // the set of workers whose flows have yet to join a class
    bool relaxed_ = true;               // nobody is held back
    bool changed_ = false;
    std::vector<Scarce> scarce_;         // in ascending order
    std::vector<std::uint64_t> open_;    // the set of classes whose level is not found yet
    std::vector<std::uint64_t> frozen_;  // of those whose level has just been found

    std::vector<std::int64_t> held_share_;  // [workers] that its flow keeps; 0: none yet
    std::vector<std::uint32_t> moved_, fresh_, held_;
};

}  // namespace numasim
