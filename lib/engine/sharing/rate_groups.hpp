// Rate groups: classes of flows that one resource holds back have the same level, which changes for all of them at once
// (model 2.9).
//
// Each time that shares are found anew, groups are made of sets of classes. Which resource holds a class back changes
// much less often than the level does. So a set takes over the group from which it differs least, and what it costs to
// make a group is the classes that come and go: the sum of what its classes ask for goes along.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sharing/flow_classes.hpp"

namespace numasim {

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
