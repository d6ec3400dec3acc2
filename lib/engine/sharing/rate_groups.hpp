#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bitset.h"

namespace numasim {

// The members of a set of the core (base/bitset.h).

// Calls `visit(member)` for the members of word number `at` of a set, in ascending order.
template <typename Visit>
void each_member(std::size_t at, std::uint64_t word, Visit&& visit) {
    for (; word != 0; word &= word - 1) visit(static_cast<std::uint32_t>(64 * at) + ns_word_first(word));
}

// What flows ask for, and their classes: flows of the same resources are one, of which there is a sum of what they ask
// for.

constexpr std::uint32_t NO_CLASS = UINT32_MAX;

// What a flow uses of a resource when nothing holds it back.
struct Demand {
    std::uint32_t resource;
    std::int64_t units_per_s;
};

class FlowClasses {
public:
    FlowClasses(std::size_t workers, std::size_t resources);

    // The worker's flow asks for this as well, or for nothing any more. It is of no class then.
    void ask(std::uint32_t worker, const Demand& demand);
    void ask_nothing(std::uint32_t worker) { count_[worker] = 0; }
    std::span<const Demand> demands(std::size_t worker) const {
        return {demands_.data() + worker * resources_, count_[worker]};
    }

    // The class of a worker's flow. It joins one, which is told, or leaves its own; then whether flows are left in
    // that.
    std::uint32_t of(std::size_t worker) const { return class_[worker]; }
    std::uint32_t join(std::uint32_t worker);
    bool leave(std::uint32_t worker);

    // [resources] what the flows of a class ask for.
    std::span<const std::int64_t> asked(std::uint32_t number) const { return classes_[number].asked; }

    // Sets of classes, of `words` words: those that have flows; of these, the ones that use a resource.
    std::size_t words() const { return words_; }
    const std::uint64_t* in_use() const { return in_use_.data(); }
    const std::uint64_t* users(std::size_t resource) const { return users_.data() + resource * words_; }

private:
    // `name` is the sum of what `names_` has for its resources.
    struct Class {
        std::uint64_t name = 0;
        std::uint32_t flows = 0, resources = 0;
        std::uint32_t next = NO_CLASS;  // in the same place of the table
        std::vector<std::int64_t> asked;
    };

    std::uint32_t class_for(std::span<const Demand> demands);
    bool is_named(std::uint32_t number, std::uint64_t name, std::span<const Demand> demands) const;
    std::uint32_t found(std::uint64_t name, std::span<const Demand> demands);
    void dissolve(std::uint32_t number, std::span<const Demand> demands);
    void use(std::uint32_t number, std::span<const Demand> demands, bool in);
    std::uint32_t& place_of(std::uint64_t name) { return table_[name % table_.size()]; }

    const std::size_t resources_, words_;      // there are no more classes than workers
    std::vector<Demand> demands_;              // [workers][resources], the first `count_` of each
    std::vector<std::uint32_t> count_;         // [workers]
    std::vector<std::uint32_t> class_;         // [workers]
    std::vector<std::uint64_t> names_;         // [resources]
    std::vector<Class> classes_;               // [workers]
    std::vector<std::uint32_t> free_, table_;  // classes without flows; the first class of each place by name
    std::vector<std::uint64_t> users_;         // [resources] sets of classes
    std::vector<std::uint64_t> in_use_;        // a set of classes
};

// Rate groups: classes of flows that one resource holds back have the same level, which changes for all of them at once
// (model 2.9).
//
// Each time that shares are found anew, groups are made of sets of classes. Which resource holds a class back changes
// much less often than the level does. So a set takes over the group from which it differs least, and what it costs to
// make a group is the classes that come and go: the sum of what its classes ask for goes along.

constexpr int SHARE_BITS = 48;
constexpr std::int64_t ONE = std::int64_t{1} << SHARE_BITS;  // the share of a flow that nothing holds back
constexpr std::uint32_t FREE_GROUP = 0;  // that of classes which nothing holds back: its level is ONE

class RateGroups {
public:
    RateGroups(const FlowClasses& classes, std::size_t workers, std::size_t resources);

    // The most groups that there are for so many resources.
    static std::size_t most(std::size_t resources) { return resources + 1; }

    std::uint32_t of(std::uint32_t number) const { return group_[number]; }  // a class
    std::int64_t level(std::uint32_t group) const { return groups_[group].level; }

    // [resources] what the flows of a group ask for, but of those that nothing holds back; the number of groups.
    std::span<const std::int64_t> asked(std::uint32_t group) const { return groups_[group].asked; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(groups_.size()); }

    // A flow of a class asks for this, or (-1) does no more; a class has no flows left.
    void change(std::uint32_t number, std::span<const Demand> demands, std::int64_t sign);
    void dissolve(std::uint32_t number) { regroup(number, FREE_GROUP); }

    // Find all groups anew: those that are made between the two calls, whose classes are told; no other is held back.
    void begin();
    std::uint32_t make(const std::vector<std::uint64_t>& classes, std::int64_t level);
    void end();

    // Classes that are of another group, and groups of another level, since the last call of `forget_changes`; some
    // more than once.
    const std::vector<std::uint32_t>& regrouped() const { return regrouped_; }
    const std::vector<std::uint32_t>& relevelled() const { return relevelled_; }
    void forget_changes();

private:
    struct Group {
        std::int64_t level = ONE;
        std::uint32_t size = 0;  // of the set of its classes
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
    std::vector<std::uint32_t> group_;  // [workers] of each class, of which there are no more
    std::vector<Group> groups_;
    std::vector<std::uint32_t> regrouped_, relevelled_;
};

}  // namespace numasim
