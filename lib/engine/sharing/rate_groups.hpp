// Classes of flows, and rate groups of classes (model 2.9).
//
// Flows that use the same resources are one class. Classes that the same resource holds back are one rate group: they
// have one level, which changes for all of them at once.
//
// Each computation of shares makes groups of sets of classes. The resource that holds a class back changes much less
// often than the level. A set therefore takes over the most similar existing group, and only the classes that differ
// cost time. The sum of the demands of all classes of a group stays with the group.
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

// The use of a resource by a flow that no resource holds back.
struct Demand {
    std::uint32_t resource;
    std::int64_t units_per_s;
};

// Faster than std::ranges::equal, since different sets mostly differ in the first word.
inline bool are_same(const std::vector<std::uint64_t>& one, const std::vector<std::uint64_t>& other) {
    for (std::size_t at = 0; at < one.size(); ++at) {
        if (one[at] != other[at]) return false;
    }
    return true;
}

// The demands of flows, and their classes: flows of the same resources are one class.
class FlowClasses {
public:
    FlowClasses(std::size_t workers, std::size_t resources)
        : resources_(resources),
          words_(ns_set_words(static_cast<std::uint32_t>(workers))),
          demands_(workers * resources),
          count_(workers, 0),
          class_(workers, NO_CLASS),
          classes_(workers),
          users_(resources * words_, 0),
          in_use_(words_, 0) {
        for (auto number = static_cast<std::uint32_t>(workers); number-- != 0;) free_.push_back(number);
    }

    // Add a demand to the worker's flow; take all its demands away. The flow is in no class then.
    void ask(std::uint32_t worker, const Demand& demand) { demands_[worker * resources_ + count_[worker]++] = demand; }

    void ask_nothing(std::uint32_t worker) { count_[worker] = 0; }
    std::span<const Demand> demands(std::size_t worker) const {
        return {demands_.data() + worker * resources_, count_[worker]};
    }

    // The class of a worker's flow. `join` puts the flow into a class and returns the class. `leave` takes it out and
    // returns whether the class still has flows.
    std::uint32_t of(std::size_t worker) const { return class_[worker]; }

    std::uint32_t join(std::uint32_t worker) {
        const std::uint32_t number = class_for(demands(worker));
        class_[worker] = number;
        ++classes_[number].flows;
        for (const auto& [resource, units_per_s] : demands(worker)) classes_[number].asked[resource] += units_per_s;
        return number;
    }

    bool leave(std::uint32_t worker) {
        const std::uint32_t number = class_[worker];
        class_[worker] = NO_CLASS;
        for (const auto& [resource, units_per_s] : demands(worker)) classes_[number].asked[resource] -= units_per_s;
        const bool are_left = --classes_[number].flows != 0;
        if (!are_left) {
            use(number, demands(worker), false);
            free_.push_back(number);
        }
        return are_left;
    }

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

    // Find or make the class of these resources: the class that uses all of them and no other resource.
    std::uint32_t class_for(std::span<const Demand> demands) {
        for (std::size_t at = 0; at < words_; ++at) {
            std::uint64_t users_of_all = in_use_[at];
            for (const Demand& demand : demands) users_of_all &= users(demand.resource)[at];
            for (; users_of_all != 0; users_of_all &= users_of_all - 1) {
                const auto number = static_cast<std::uint32_t>(64 * at) + ns_word_first(users_of_all);
                if (classes_[number].resources == demands.size()) return number;
            }
        }
        const std::uint32_t made = free_.back();
        free_.pop_back();
        classes_[made].resources = demands.size();
        classes_[made].asked.resize(resources_, 0);
        use(made, demands, true);
        return made;
    }

    void use(std::uint32_t number, std::span<const Demand> demands, bool in) {
        for (const Demand& demand : demands) ns_set_put(users_.data() + demand.resource * words_, number, in);
        ns_set_put(in_use_.data(), number, in);
    }

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
    RateGroups(const FlowClasses& classes, std::size_t workers, std::size_t resources)
        : classes_(classes), resources_(resources), group_(workers, FREE_GROUP) {
        groups_.reserve(most(resources));
        add_group();
    }

    // The largest number of groups.
    static std::size_t most(std::size_t resources) { return resources + 1; }

    std::uint32_t of(std::uint32_t number) const { return group_[number]; }  // a class
    std::int64_t level(std::uint32_t group) const { return groups_[group].level; }

    // [resources] the sum of the demands of a group, except for FREE_GROUP; the number of groups.
    std::span<const std::int64_t> asked(std::uint32_t group) const { return groups_[group].asked; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(groups_.size()); }

    // A flow with these demands joins a class (sign 1) or leaves it (sign -1); a class has no flows left.
    void change(std::uint32_t number, std::span<const Demand> demands, std::int64_t sign) {
        const std::uint32_t group = group_[number];
        if (group == FREE_GROUP) return;
        for (const auto& [resource, units_per_s] : demands) groups_[group].asked[resource] += sign * units_per_s;
    }

    void dissolve(std::uint32_t number) { regroup(number, FREE_GROUP); }

    // Make all groups anew between `begin` and `end`. `make` makes a group of a set of classes and returns it. Classes
    // in no made group are not held back.
    void begin() {
        for (Group& group : groups_) group.made = false;
        groups_[FREE_GROUP].made = true;
    }

    std::uint32_t make(const std::vector<std::uint64_t>& classes, std::int64_t level) {
        std::uint32_t made = equal(classes);
        if (made == size()) {
            made = closest(classes);
            become(made, classes);
        }
        groups_[made].made = true;
        set_level(made, level);
        return made;
    }

    void end() {
        for (std::uint32_t group = 0; group < size(); ++group) {
            if (!groups_[group].made && groups_[group].size != 0) set_level(group, ONE);
        }
    }

    // Since the last call of `forget_changes`: classes with another group, and groups with another level. Some come
    // more than once.
    const std::vector<std::uint32_t>& regrouped() const { return regrouped_; }
    const std::vector<std::uint32_t>& relevelled() const { return relevelled_; }

    void forget_changes() {
        regrouped_.clear();
        relevelled_.clear();
    }

private:
    struct Group {
        std::int64_t level = ONE;
        std::uint32_t size = 0;  // number of its classes
        bool made = false;       // since `begin`
        std::vector<std::uint64_t> classes;
        std::vector<std::int64_t> asked;
    };

    // The group of exactly these classes, or `size()`.
    std::uint32_t equal(const std::vector<std::uint64_t>& classes) const {
        std::uint32_t found = 0;
        while (found < size() && !are_same(groups_[found].classes, classes)) ++found;
        return found;
    }

    // Of the groups that are not made yet, return the group with the fewest differences from a set of classes. A group
    // without classes differs in every class of the set. At equal differences a group without classes comes first,
    // since classes that leave a group would have to join another group.
    std::uint32_t closest(const std::vector<std::uint64_t>& classes) {
        std::uint32_t count = 0;
        for (const std::uint64_t word : classes) count += ns_word_count(word);
        std::uint32_t found = size(), fewest = size() < most(resources_) ? count : UINT32_MAX;
        for (std::uint32_t each = 0; each < size(); ++each) {
            const Group& group = groups_[each];
            if (group.made) continue;
            std::uint32_t differences = group.size + count;
            for (std::size_t at = 0; at < classes.size() && group.size != 0; ++at) {
                differences -= 2 * ns_word_count(classes[at] & group.classes[at]);
            }
            if (differences > fewest || (differences == fewest && group.size != 0)) continue;
            found = each;
            fewest = differences;
        }
        return found == size() ? add_group() : found;
    }

    std::uint32_t add_group() {
        Group group;
        group.classes.resize(classes_.words(), 0);
        group.asked.resize(resources_, 0);
        groups_.push_back(group);
        return size() - 1;
    }

    void become(std::uint32_t group, const std::vector<std::uint64_t>& classes) {
        for (std::size_t at = 0; at < classes.size(); ++at) {
            const std::uint64_t before = groups_[group].classes[at];
            each_member(at, before & ~classes[at], [this](std::uint32_t number) { regroup(number, FREE_GROUP); });
            each_member(at, classes[at] & ~before, [this, group](std::uint32_t number) { regroup(number, group); });
        }
    }

    void regroup(std::uint32_t number, std::uint32_t group) {
        const std::uint32_t before = group_[number];
        if (before == group) return;
        if (before != FREE_GROUP) put(number, groups_[before], false);
        if (group != FREE_GROUP) put(number, groups_[group], true);
        group_[number] = group;
        regrouped_.push_back(number);
    }

    // Put a class into a group or take it out, with its demands.
    void put(std::uint32_t number, Group& group, bool in) {
        const std::int64_t sign = in ? 1 : -1;
        ns_set_put(group.classes.data(), number, in);
        in ? ++group.size : --group.size;
        const std::span<const std::int64_t> asked = classes_.asked(number);
        for (std::size_t resource = 0; resource < resources_; ++resource)
            group.asked[resource] += sign * asked[resource];
    }

    void set_level(std::uint32_t group, std::int64_t level) {
        if (groups_[group].level == level) return;
        groups_[group].level = level;
        relevelled_.push_back(group);
    }

    const FlowClasses& classes_;
    const std::size_t resources_;
    std::vector<std::uint32_t> group_;  // [classes] the group of each class
    std::vector<Group> groups_;
    std::vector<std::uint32_t> regrouped_, relevelled_;
};

}  // namespace numasim
