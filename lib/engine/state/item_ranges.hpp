// The implicit ranges of a plan: which ids their items have, and what the items take. Nothing of it changes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan.hpp"
#include "state/item_times.hpp"
#include "state/worker.hpp"

namespace numasim {

class ItemRanges {
public:
    ItemRanges(const Plan& plan, std::uint64_t seed)
        : tasks_(plan.graph.tasks), first_{static_cast<std::uint64_t>(plan.graph.tasks)} {
        for (const Family& family : plan.families) {
            first_.push_back(first_.back() + static_cast<std::uint64_t>(family.count));
            times_.emplace_back(family, seed, plan.nodes);
        }
    }

    // Whether the task is an item: the ids of the graph's tasks are lower.
    bool holds(Task task) const { return task >= tasks_; }

    std::size_t family_of(Task item) const {
        std::size_t family = 0;
        while (static_cast<std::uint64_t>(item) >= first_[family + 1]) ++family;
        return family;
    }

    std::uint64_t first(std::size_t family) const { return first_[family]; }
    std::uint64_t count(std::size_t family) const { return first_[family + 1] - first_[family]; }

    const std::vector<ItemTimes>& times() const { return times_; }
    const ItemTimes& times(std::size_t family) const { return times_[family]; }
    bool all_uniform() const {
        return std::all_of(times_.begin(), times_.end(), [](const ItemTimes& times) { return times.uniform(); });
    }

private:
    const Task tasks_;                  // ids of the graph's tasks are below
    std::vector<std::uint64_t> first_;  // [families + 1] id of the first item
    std::vector<ItemTimes> times_;      // [families]
};

}  // namespace numasim
