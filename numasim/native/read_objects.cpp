#include "read_objects.hpp"

#include <algorithm>

#include "policy/similarity.h"

namespace numasim {

namespace {

constexpr std::int64_t ANY = Reader::ANY_SIZE, MOST_BYTES = std::int64_t{1} << 60, MOST_OBJECTS = std::int64_t{1} << 40;

template <typename T>
std::int64_t size_of(const T& values) {
    return static_cast<std::int64_t>(values.size());
}

void check_entry(const TaskObjects& objects, std::size_t at, const Plan& plan) {
    const std::int32_t home = objects.home[at];
    require(TaskObjects::OPEN <= home && home < static_cast<std::int32_t>(plan.nodes),
            "object_home has a value out of bounds");
    require(NS_COUNT_READS <= objects.mode[at] && objects.mode[at] <= NS_COUNT_BOTH,
            "object_mode has a value out of bounds");
    require(0 <= objects.count[at] && objects.count[at] <= MOST_OBJECTS && 0 <= objects.bytes[at] &&
                objects.bytes[at] <= MOST_BYTES,
            "object_count or object_bytes has a value out of bounds");
    if (home != TaskObjects::OPEN) return;
    const std::int64_t access = objects.access[at];
    require(0 <= access && access < size_of(plan.accesses.region), "object_access has a value out of bounds");
    const std::size_t region = plan.accesses.region[static_cast<std::size_t>(access)];
    require(plan.memory.dynamic[region] != 0, "object_access has an access whose home is known");
}

// What the objects of one task add up to must not exceed 63 bits.
void check_sums(const TaskObjects& objects) {
    for (std::size_t row = 0; row + 1 < objects.ptr.size(); ++row) {
        std::int64_t count = 0, bytes = 0;
        for (auto at = static_cast<std::size_t>(objects.ptr[row]); at < static_cast<std::size_t>(objects.ptr[row + 1]);
             ++at) {
            require(!__builtin_add_overflow(count, objects.count[at], &count) &&
                        !__builtin_add_overflow(bytes, objects.bytes[at], &bytes),
                    "the objects of a task are more than can be counted");
        }
    }
}

ItemObject read_item_object(Reader& reader, const Plan& plan, std::int64_t items) {
    ItemObject object{};
    object.divisor = reader.integer("divisor", 1, INT64_MAX);
    object.by_quotient = reader.flag("by_quotient");
    object.by_remainder = reader.flag("by_remainder");
    object.bytes = reader.integer("bytes", 0, std::int64_t{1} << 50);
    object.mode = static_cast<std::uint32_t>(reader.integer("mode", NS_COUNT_READS, NS_COUNT_BOTH));
    object.home = reader.array<std::int32_t>("home", ANY);
    const std::int64_t quotients = items / object.divisor + (items % object.divisor != 0);
    const std::int64_t needed = object.by_quotient    ? (object.by_remainder ? items : quotients)
                                : object.by_remainder ? std::min(object.divisor, items)
                                                      : 1;
    require(size_of(object.home) >= needed, "home has too few rows");
    const auto is_home = [&plan](std::int32_t home) {
        return NS_NOWHERE <= home && home < static_cast<std::int32_t>(plan.nodes);
    };
    require(std::all_of(object.home.begin(), object.home.end(), is_home), "home has a value out of bounds");
    return object;
}

std::vector<ItemObject> read_family(Reader& reader, const Plan& plan, std::int64_t items) {
    std::vector<ItemObject> objects;
    for (Reader& object : [&] { return reader.list("objects"); }()) {
        objects.push_back(read_item_object(object, plan, items));
        reader.keep(std::move(object));
    }
    require(objects.size() < 4096, "objects has too many entries");
    return objects;
}

}  // namespace

TaskObjects read_objects(Reader& reader, const Plan& plan) {
    TaskObjects objects{};
    objects.ptr = reader.array<std::int64_t>("object_ptr", plan.graph.rows + 1);
    objects.home = reader.array<std::int32_t>("object_home", ANY);
    objects.mode = reader.array<std::uint8_t>("object_mode", size_of(objects.home));
    objects.count = reader.array<std::int64_t>("object_count", size_of(objects.home));
    objects.bytes = reader.array<std::int64_t>("object_bytes", size_of(objects.home));
    objects.access = reader.array<std::int64_t>("object_access", size_of(objects.home));
    require(objects.ptr.front() == 0 && objects.ptr.back() == size_of(objects.home) &&
                std::is_sorted(objects.ptr.begin(), objects.ptr.end()),
            "object_ptr does not run from 0 to the number of objects");
    for (std::size_t at = 0; at < objects.home.size(); ++at) check_entry(objects, at, plan);
    check_sums(objects);
    for (Reader& family : [&] { return reader.list("item_objects"); }()) {
        const std::size_t number = objects.families.size();
        require(number < plan.families.size(), "item_objects has more entries than families");
        objects.families.push_back(read_family(family, plan, plan.families[number].count));
        reader.keep(std::move(family));
    }
    require(objects.families.size() == plan.families.size(), "item_objects does not have an entry for each family");
    return objects;
}

}  // namespace numasim
