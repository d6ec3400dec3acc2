#include "engine/objects.hpp"

#include <algorithm>

#include "state/item_times.hpp"

namespace numasim {

ObjectMap::ObjectMap(const Plan& plan, const PageMap& pages)
    : table_(plan.objects), pages_(pages), similarity_(plan.nodes, 0), bytes_(plan.nodes, 0) {}

void ObjectMap::describe_row(std::size_t row, ns_new_task& task) {
    objects_.clear();
    for (auto at = static_cast<std::size_t>(table_.ptr[row]); at < static_cast<std::size_t>(table_.ptr[row + 1]);
         ++at) {
        const bool open = table_.home[at] == NS_OPEN_HOME;
        const std::int32_t home = open ? home_of(table_.access[at]) : table_.home[at];
        objects_.push_back({table_.bytes[at], table_.count[at], home, table_.mode[at]});
    }
    hand_over(task);
}

void ObjectMap::describe_item(std::size_t family, std::int64_t item, ns_new_task& task) {
    objects_.clear();
    for (const ItemObject& object : table_.families[family].objects) {
        const std::int32_t home = object.home[static_cast<std::size_t>(row_of(object, item))];
        objects_.push_back({object.bytes, 1, home, object.mode});
    }
    hand_over(task);
}

void ObjectMap::hand_over(ns_new_task& task) {
    task.objects = objects_.data();
    task.object_groups = static_cast<std::uint32_t>(objects_.size());
    task.similarity = similarity_.data();
}

// The node that most bytes of an access are on, of several the lower one.
std::int32_t ObjectMap::home_of(std::int64_t access) {
    pages_.bytes_at(access, bytes_.data());
    const auto most = std::max_element(bytes_.begin(), bytes_.end());
    return *most == 0 ? NS_NOWHERE : static_cast<std::int32_t>(most - bytes_.begin());
}

}  // namespace numasim
