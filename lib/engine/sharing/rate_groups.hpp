// Classes of flows, and rate groups of classes (model 2.9).
//
// Flows that use the same resources are one class. Classes that the same resource holds back are one rate group: they
// have one level, which changes for all of them at once.
//
// Each time that shares are computed, groups are made of sets of classes. Which resource holds a class back changes
// much less often than the level. A set therefore takes over the most similar existing group, and only the classes that
// differ cost time. The sums of what the classes of a group ask for stay with the group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan.hpp"

namespace numasim {

// Calls `visit(member)` for the members in word number `at` of a set (base/bitset.h), in ascending order.
template <typename Visit>
void each_member(std::size_t at, std::uint64_t word, Visit&& visit) {
    for (; word != 0; word &= word - 1) visit(static_cast<std::uint32_t>(64 * at) + ns_word_first(word));
}

constexpr std::uint32_t NO_CLASS = UINT32_MAX;

// What a flow uses of a resource if no resource holds the flow back.
struct Demand {
    std::uint32_t resource;
    std::int64_t units_per_s;
};

// The demands of flows, and their classes: flows of the same resources are one class.
class FlowClasses {
public:
    FlowClasses(std::size_t workers, std::size_t resources);

    // Add a demand to the worker's flow; take all its demands away. The flow is in no class then.
    void ask(std::uint32_t worker, const Demand& demand);
    void ask_nothing(std::uint32_t worker) { count_[worker] = 0; }
    std::span<const Demand> demands(std::size_t worker) const {
        return {demands_.data() + worker * resources_, count_[worker]};
    }

    // The class of a worker's flow. `join` puts the flow into a class and returns the class. `leave` takes it out and
    // returns whether the class still has flows.
    std::uint32_t of(std::size_t worker) const { return class_[worker]; }
    std::uint32_t join(std::uint32_t worker);
    bool leave(std::uint32_t worker);

    // [resources] the sum of the demands of a class.
    std::span<const std::int64_t> asked(std::uint32_t number) const { return classes_[number].asked; }

    // Sets of classes, of `words` words each: all classes with flows; the classes that use a resource.
    std::size_t words() const { return words_; }
    const std::uint64_t* in_use() const { return in_use_.data(); }
    const std::uint64_t* users(std::size_t resource) const { return users_.data() + resource * words_; }

private:
    struct Class {
        std::size_t flows = 0, resources = 0;
        std::vector<std::int64_t> asked;
    };

    std::uint32_t class_for(std::span<const Demand> demands);
    void use(std::uint32_t number, std::span<const Demand> demands, bool in);

    const std::size_t resources_, words_;  // there are at most as many classes as workers
    std::vector<Demand> demands_;          // [workers][resources], the first `count_` of each
    std::vector<std::uint32_t> count_;     // [workers]
    std::vector<std::uint32_t> class_;     // [workers]
    std::vector<Class> classes_;           // [workers]
    std::vector<std::uint32_t> free_;      // classes without flows
    std::vector<std::uint64_t> users_;     // [resources] sets of classes
    std::vector<std::uint64_t> in_use_;    // a set of classes
};

constexpr int SHARE_BITS = 48;
constexpr std::int64_t ONE = std::int64_t{1} << SHARE_BITS;  // the share of a flow that no resource holds back
constexpr std::uint32_t FREE_GROUP = 0;  // the group of classes that no resource holds back; its level is ONE

class RateGroups {
public:
    RateGroups(const FlowClasses& classes, std::size_t workers, std::size_t resources);

    // The largest number of groups.
    static std::size_t most(std::size_t resources) { return resources + 1; }

    std::uint32_t of(std::uint32_t number) const { return group_[number]; }  // a class
    std::int64_t level(std::uint32_t group) const { return groups_[group].level; }

    // [resources] the sum of the demands of a group, except for FREE_GROUP; the number of groups.
    std::span<const std::int64_t> asked(std::uint32_t group) const { return groups_[group].asked; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(groups_.size()); }

    // A flow with these demands joins a class (sign 1) or leaves it (sign -1); a class has no flows left.
    void change(std::uint32_t number, std::span<const Demand> demands, std::int64_t sign);
    void dissolve(std::uint32_t number) { regroup(number, FREE_GROUP); }

    // Make all groups anew between `begin` and `end`. `make` makes a group of a set of classes and returns it. Classes
    // in no made group are not held back.
    void begin();
    std::uint32_t make(const std::vector<std::uint64_t>& classes, std::int64_t level);
    void end();

    // Since the last call of `forget_changes`: classes with another group, and groups with another level. Some come
    // more than once.
    const std::vector<std::uint32_t>& regrouped() const { return regrouped_; }
    const std::vector<std::uint32_t>& relevelled() const { return relevelled_; }
    void forget_changes();

private:
    struct Group {
        std::int64_t level = ONE;
        std::uint32_t size = 0;  // number of its classes
        bool made = false;       // since `begin`
        std::vector<std::uint64_t> classes;
        std::vector<std::int64_t> asked;
    };

    std::uint32_t equal(const std::vector<std::uint64_t>& classes) const;
    std::uint32_t closest(const std::vector<std::uint64_t>& classes);
    std::uint32_t add_group();
    void become(std::uint32_t group, const std::vector<std::uint64_t>& classes);
    void regroup(std::uint32_t number, std::uint32_t group);
    void put(std::uint32_t number, Group& group, bool in);
    void set_level(std::uint32_t group, std::int64_t level);

    const FlowClasses& classes_;
    const std::size_t resources_;
    std::vector<std::uint32_t> group_;  // [classes] the group of each class
    std::vector<Group> groups_;
    std::vector<std::uint32_t> regrouped_, relevelled_;
};

}  // namespace numasim
