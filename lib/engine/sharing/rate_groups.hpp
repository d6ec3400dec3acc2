// Classes of flows, and rate groups of classes (model 2.9).
//
// Flows (memory/flows.hpp) that use the same set of resources are one class. Classes that are slowed down by the same
// scarce resource are one rate group. All classes of a group have the same share of full speed: the level of the group.
//
// Each computation of shares turns sets of classes into groups. The resource that slows a class down changes much less
// often than the level. A set therefore becomes a change of the most similar existing group, and only the classes in
// which set and group differ cost time. A group keeps the sum of the demands of its classes.
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

// How much of a resource a flow uses per second at full speed.
struct Demand {
    std::uint32_t resource;
    std::int64_t units_per_s;
};

// Whether two sets are equal. Faster than std::ranges::equal: most different sets differ in the first word.
inline bool are_same(const std::vector<std::uint64_t>& one, const std::vector<std::uint64_t>& other) {
    for (std::size_t at = 0; at < one.size(); ++at) {
        if (one[at] != other[at]) return false;
    }
    return true;
}

// The demands of flows, and the classes of flows: flows that use the same resources are one class.
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

    // `ask` adds a demand to the worker's flow. `ask_nothing` removes all its demands. The flow must be in no class.
    void ask(std::uint32_t worker, const Demand& demand) { demands_[worker * resources_ + count_[worker]++] = demand; }

    void ask_nothing(std::uint32_t worker) { count_[worker] = 0; }
    std::span<const Demand> demands(std::size_t worker) const {
        return {demands_.data() + worker * resources_, count_[worker]};
    }

    // The class of a worker's flow. `join` puts the flow into a class and returns the class. `leave` takes the flow out
    // and returns whether the class still has flows.
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

    // Find or make the class that uses the resources of `demands` and no other resource.
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
    std::vector<Demand> demands_;          // [workers][resources]; each worker has `count_` demands
    std::vector<std::uint32_t> count_;     // [workers]
    std::vector<std::uint32_t> class_;     // [workers]
    std::vector<Class> classes_;           // [workers]
    std::vector<std::uint32_t> free_;      // numbers of classes without flows
    std::vector<std::uint64_t> users_;     // [resources] the set of classes that use each resource
    std::vector<std::uint64_t> in_use_;    // a set of classes
};

constexpr int SHARE_BITS = 48;
constexpr std::int64_t ONE = std::int64_t{1} << SHARE_BITS;  // the share of a flow at full speed
constexpr std::uint32_t FREE_GROUP = 0;                      // the group of the classes at full speed; its level is ONE

class RateGroups {
public:
    RateGroups(const FlowClasses& classes, std::size_t workers, std::size_t resources)
        : classes_(classes), resources_(resources), group_(workers, FREE_GROUP) {
        groups_.reserve(most(resources));
        add_group();
    }

    // The largest number of groups.
    static std::size_t most(std::size_t resources) { return resources + 1; }

    std::uint32_t of(std::uint32_t number) const { return group_[number]; }  // the group of a class
    std::int64_t level(std::uint32_t group) const { return groups_[group].level; }

    // asked: [resources] the sum of the demands of a group (not of FREE_GROUP). size: the number of groups.
    std::span<const std::int64_t> asked(std::uint32_t group) const { return groups_[group].asked; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(groups_.size()); }

    // `change`: a flow with these demands joins a class (sign 1) or leaves the class (sign -1). `dissolve`: the class
    // has no flows left.
    void change(std::uint32_t number, std::span<const Demand> demands, std::int64_t sign) {
        const std::uint32_t group = group_[number];
        if (group == FREE_GROUP) return;
        for (const auto& [resource, units_per_s] : demands) groups_[group].asked[resource] += sign * units_per_s;
    }

    void dissolve(std::uint32_t number) { regroup(number, FREE_GROUP); }

    // Make all groups anew between `begin` and `end`. `make` makes a set of classes a group and returns the group.
    // Classes in none of these groups go to FREE_GROUP.
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

    // Since the last call of `forget_changes`: classes that have changed their group, and groups whose level has
    // changed. Entries may occur more than once.
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
        bool made = false;       // whether `make` has returned the group since `begin`
        std::vector<std::uint64_t> classes;
        std::vector<std::int64_t> asked;
    };

    // The group that consists of exactly these classes, or `size()` if there is none.
    std::uint32_t equal(const std::vector<std::uint64_t>& classes) const {
        std::uint32_t found = 0;
        while (found < size() && !are_same(groups_[found].classes, classes)) ++found;
        return found;
    }

    // Of the groups that are not made yet, return the group that differs from a set in the fewest classes. A group
    // without classes differs in every class of the set. With equally many differences, a group without classes is
    // preferred: classes that leave a group would have to join another group.
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

    // Put a class into a group (`in`) or take it out. The sum of the group's demands changes with it.
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
