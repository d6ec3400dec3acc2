#include "sharing/rate_groups.hpp"

namespace numasim {

FlowClasses::FlowClasses(std::size_t workers, std::size_t resources)
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

void FlowClasses::ask(std::uint32_t worker, const Demand& demand) {
    demands_[worker * resources_ + count_[worker]++] = demand;
}

std::uint32_t FlowClasses::join(std::uint32_t worker) {
    const std::uint32_t number = class_for(demands(worker));
    class_[worker] = number;
    ++classes_[number].flows;
    for (const auto& [resource, units_per_s] : demands(worker)) classes_[number].asked[resource] += units_per_s;
    return number;
}

bool FlowClasses::leave(std::uint32_t worker) {
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

// Find or make the class of these resources: the class that uses all of them and no other resource.
std::uint32_t FlowClasses::class_for(std::span<const Demand> demands) {
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

void FlowClasses::use(std::uint32_t number, std::span<const Demand> demands, bool in) {
    for (const Demand& demand : demands) ns_set_put(users_.data() + demand.resource * words_, number, in);
    ns_set_put(in_use_.data(), number, in);
}

namespace {

// Faster than std::ranges::equal, since different sets mostly differ in the first word.
bool are_same(const std::vector<std::uint64_t>& one, const std::vector<std::uint64_t>& other) {
    for (std::size_t at = 0; at < one.size(); ++at) {
        if (one[at] != other[at]) return false;
    }
    return true;
}

}  // namespace

RateGroups::RateGroups(const FlowClasses& classes, std::size_t workers, std::size_t resources)
    : classes_(classes), resources_(resources), group_(workers, FREE_GROUP) {
    groups_.reserve(most(resources));
    add_group();
}

std::uint32_t RateGroups::add_group() {
    Group group;
    group.classes.resize(classes_.words(), 0);
    group.asked.resize(resources_, 0);
    groups_.push_back(group);
    return size() - 1;
}

void RateGroups::change(std::uint32_t number, std::span<const Demand> demands, std::int64_t sign) {
    const std::uint32_t group = group_[number];
    if (group == FREE_GROUP) return;
    for (const auto& [resource, units_per_s] : demands) groups_[group].asked[resource] += sign * units_per_s;
}

// ---- groups that are made -----------------------------------------------------------------------------------------

void RateGroups::begin() {
    for (Group& group : groups_) group.made = false;
    groups_[FREE_GROUP].made = true;
}

std::uint32_t RateGroups::make(const std::vector<std::uint64_t>& classes, std::int64_t level) {
    std::uint32_t made = equal(classes);
    if (made == size()) {
        made = closest(classes);
        become(made, classes);
    }
    groups_[made].made = true;
    set_level(made, level);
    return made;
}

void RateGroups::become(std::uint32_t group, const std::vector<std::uint64_t>& classes) {
    for (std::size_t at = 0; at < classes.size(); ++at) {
        const std::uint64_t before = groups_[group].classes[at];
        each_member(at, before & ~classes[at], [this](std::uint32_t number) { regroup(number, FREE_GROUP); });
        each_member(at, classes[at] & ~before, [this, group](std::uint32_t number) { regroup(number, group); });
    }
}

void RateGroups::end() {
    for (std::uint32_t group = 0; group < size(); ++group) {
        if (!groups_[group].made && groups_[group].size != 0) set_level(group, ONE);
    }
}

// The group of exactly these classes, or `size()`.
std::uint32_t RateGroups::equal(const std::vector<std::uint64_t>& classes) const {
    std::uint32_t found = 0;
    while (found < size() && !are_same(groups_[found].classes, classes)) ++found;
    return found;
}

// Of the groups that are not made yet, the group with the fewest differences from a set of classes. A group without
// classes differs in all of them. It is preferred to others with as many differences, since classes that leave a group
// would have to join another group.
std::uint32_t RateGroups::closest(const std::vector<std::uint64_t>& classes) {
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

void RateGroups::regroup(std::uint32_t number, std::uint32_t group) {
    const std::uint32_t before = group_[number];
    if (before == group) return;
    if (before != FREE_GROUP) put(number, groups_[before], false);
    if (group != FREE_GROUP) put(number, groups_[group], true);
    group_[number] = group;
    regrouped_.push_back(number);
}

// Put a class into a group or take it out, with its demands.
void RateGroups::put(std::uint32_t number, Group& group, bool in) {
    const std::int64_t sign = in ? 1 : -1;
    ns_set_put(group.classes.data(), number, in);
    in ? ++group.size : --group.size;
    const std::span<const std::int64_t> asked = classes_.asked(number);
    for (std::size_t resource = 0; resource < resources_; ++resource) group.asked[resource] += sign * asked[resource];
}

void RateGroups::set_level(std::uint32_t group, std::int64_t level) {
    if (groups_[group].level == level) return;
    groups_[group].level = level;
    relevelled_.push_back(group);
}

void RateGroups::forget_changes() {
    regrouped_.clear();
    relevelled_.clear();
}

}  // namespace numasim
