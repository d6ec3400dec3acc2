#include "sharing/flow_classes.hpp"

#include <algorithm>
#include <bit>

#include "base/bitset.h"
#include "policy/draws.h"

namespace numasim {

FlowClasses::FlowClasses(std::size_t workers, std::size_t resources)
    : resources_(resources),
      words_(ns_set_words(static_cast<std::uint32_t>(workers))),
      demands_(workers * resources),
      count_(workers, 0),
      class_(workers, NO_CLASS),
      classes_(workers),
      table_(std::bit_ceil(2 * workers), NO_CLASS),
      users_(resources * words_, 0),
      in_use_(words_, 0) {
    for (std::uint64_t resource = 0; resource < resources; ++resource) names_.push_back(ns_mix(resource + 1));
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
    if (!are_left) dissolve(number, demands(worker));
    return are_left;
}

// The class of these resources.
std::uint32_t FlowClasses::class_for(std::span<const Demand> demands) {
    std::uint64_t name = 0;
    for (const Demand& demand : demands) name += names_[demand.resource];
    std::uint32_t number = place_of(name);
    while (number != NO_CLASS && !is_named(number, name, demands)) number = classes_[number].next;
    return number == NO_CLASS ? found(name, demands) : number;
}

bool FlowClasses::is_named(std::uint32_t number, std::uint64_t name, std::span<const Demand> demands) const {
    if (classes_[number].name != name || classes_[number].resources != demands.size()) return false;
    return std::ranges::all_of(demands, [&](const Demand& each) { return ns_set_has(users(each.resource), number); });
}

std::uint32_t FlowClasses::found(std::uint64_t name, std::span<const Demand> demands) {
    const std::uint32_t number = free_.back();
    free_.pop_back();
    Class& founded = classes_[number];
    founded.name = name;
    founded.resources = static_cast<std::uint32_t>(demands.size());
    founded.next = place_of(name);
    founded.asked.resize(resources_, 0);
    place_of(name) = number;
    use(number, demands, true);
    return number;
}

void FlowClasses::dissolve(std::uint32_t number, std::span<const Demand> demands) {
    std::uint32_t* place = &place_of(classes_[number].name);
    while (*place != number) place = &classes_[*place].next;
    *place = classes_[number].next;
    use(number, demands, false);
    free_.push_back(number);
}

void FlowClasses::use(std::uint32_t number, std::span<const Demand> demands, bool in) {
    for (const Demand& demand : demands) ns_set_put(users_.data() + demand.resource * words_, number, in);
    ns_set_put(in_use_.data(), number, in);
}

}  // namespace numasim
