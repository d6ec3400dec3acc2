// How flows share what they use together: normalised max-min fairness in integers (model 2.5 and 2.9;
// engine/reference/memory/max_min_shares.py).
//
// What share a flow gets depends only on which resources it uses, not on how much of each. So flows of the same
// resources are a *class*, which has one level and one sum of demands, and what has to be found anew when a flow starts
// or ends are the levels of the classes. While nothing is scarce, flows are only counted: they join their classes when
// something is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "memory/access_prices.hpp"
#include "plan.hpp"
#include "wide.hpp"

namespace numasim {

constexpr int SHARE_BITS = 48;
constexpr std::int64_t ONE = std::int64_t{1} << SHARE_BITS;  // the share of a flow that nothing holds back
constexpr std::uint32_t NO_CLASS = UINT32_MAX;  // of a flow that asks for nothing, or that was never held back

class Shares {
public:
    Shares(const Effects& effects, std::span<const std::int32_t> node_of_worker, std::uint32_t nodes);

    // The worker's flow uses this while it takes `nominal_ps`.
    void set(std::uint32_t worker, const std::vector<Use>& uses, std::int64_t nominal_ps);

    // The worker has no flow, or another one is about to start.
    void clear(std::uint32_t worker);

    // Find the levels for what is asked now.
    void solve();

    std::uint32_t class_of(std::size_t worker) const { return class_[worker]; }
    std::int64_t level(std::size_t number) const { return level_[number]; }
    std::int64_t share(std::size_t worker) const;

    // What has changed since the last call of `forget_changes`: workers whose flows are of another class, classes of
    // another level; under contention `snapshot`, workers that have got a share to keep. Some more than once.
    const std::vector<std::uint32_t>& moved() const { return moved_; }
    const std::vector<std::uint32_t>& relevelled() const { return relevelled_; }
    const std::vector<std::uint32_t>& held() const { return held_; }
    void forget_changes();

    // Units per second of a resource that flows use, without those of the workers `left_out`.
    std::int64_t load(std::size_t resource, std::span<const std::uint32_t> left_out = {}) const;

private:
    // What a flow uses of a resource when nothing holds it back.
    struct Demand {
        std::uint32_t resource;
        std::int64_t units_per_s;
    };

    // The flows of the same resources; `name` is the sum of what `names_` has for them.
    struct Class {
        std::uint64_t name = 0;
        std::uint32_t flows = 0, resources = 0;
        std::uint32_t next = NO_CLASS;    // in the same place of the table
        std::vector<std::int64_t> asked;  // [resources] by all its flows
    };

    // A resource of which more is asked than there is: what open flows ask, and what is left for them, in 2^-48.
    struct Scarce {
        std::uint32_t resource;
        std::int64_t asked;
        Wide left;
    };

    std::span<const Demand> demands(std::size_t worker) const {
        return {demands_.data() + worker * resources_, count_[worker]};
    }
    std::uint64_t* users(std::size_t resource) { return users_.data() + resource * words_; }
    const std::uint64_t* users(std::size_t resource) const { return users_.data() + resource * words_; }
    bool uses(std::uint32_t number, std::size_t resource) const;
    void change(std::uint32_t worker, const Demand& demand, std::int64_t sign);
    void count_fault_user(std::size_t node, std::int64_t sign);
    void join(std::uint32_t worker);
    void leave(std::uint32_t worker);
    std::uint32_t class_for(std::span<const Demand> demands);
    bool is_named(std::uint32_t number, std::uint64_t name, std::span<const Demand> demands) const;
    std::uint32_t found(std::uint64_t name, std::span<const Demand> demands);
    void dissolve(std::uint32_t number, std::span<const Demand> demands);
    std::uint32_t& place_of(std::uint64_t name) { return table_[name % table_.size()]; }
    void fill();
    const Scarce* tightest(std::int64_t& level) const;
    void freeze(std::size_t tight, std::int64_t level);
    void set_level(std::uint32_t number, std::int64_t level);
    void hold_fresh();
    Wide use_of(std::size_t worker, std::size_t resource) const;

    const Effects& effects_;
    const std::span<const std::int32_t> node_;
    const bool snapshot_;
    const std::size_t resources_, words_;    // words: of a set of classes, of which there are no more than workers
    std::vector<Demand> demands_;            // [workers][resources], the first `count_` of each
    std::vector<std::uint32_t> count_;       // [workers]
    std::vector<std::int64_t> capacity_;     // [resources] for the flows at hand
    std::vector<std::int64_t> total_;        // [resources] that all flows ask for
    std::vector<std::uint64_t> over_;        // the set of resources of which more is asked than there is
    std::vector<std::int64_t> fault_users_;  // [nodes] flows that place pages
    std::int64_t fault_nodes_ = 0;

    std::vector<std::uint64_t> names_;         // [resources]
    std::vector<std::uint32_t> class_;         // [workers] of its flow
    std::vector<Class> classes_;               // [workers]
    std::vector<std::uint32_t> free_, table_;  // classes without flows; the first class of each place by name
    std::vector<std::uint64_t> users_;         // [resources] sets of classes that use it
    std::vector<std::uint64_t> in_use_;        // the set of classes that have flows
    std::vector<std::uint64_t> loose_;         // the set of workers whose flows have yet to join a class
    bool relaxed_ = true;                      // no class is held back
    std::vector<std::int64_t> level_;          // [classes]
    std::vector<Scarce> scarce_;               // in ascending order
    std::vector<std::uint64_t> open_;          // the set of classes whose level is not found yet
    bool changed_ = false;

    std::vector<std::int64_t> held_share_;  // [workers] that its flow keeps; 0: none yet
    std::vector<std::uint32_t> moved_, relevelled_, fresh_, held_;
};

}  // namespace numasim
