// What a new task is about, and where that is at home now (thesis 5.3 to 5.5; engine/reference/memory/object_map.py).
#pragma once

#include <cstdint>
#include <vector>

#include "memory/pages.hpp"
#include "plan.hpp"
#include "policy/similarity.h"

namespace numasim {

class ObjectMap {
public:
    ObjectMap(const Plan& plan, const PageMap& pages);

    // Let `task` be about the objects of a row of the graph, or of an item of a range. They live until the next call.
    void describe_row(std::size_t row, ns_new_task& task);
    void describe_item(std::size_t family, std::int64_t item, ns_new_task& task);

private:
    void hand_over(ns_new_task& task);
    std::int32_t home_of(std::int64_t access);

    const TaskObjects& table_;
    const PageMap& pages_;
    std::vector<ns_objects> objects_;
    std::vector<std::int64_t> similarity_, bytes_;  // [nodes]
};

}  // namespace numasim
