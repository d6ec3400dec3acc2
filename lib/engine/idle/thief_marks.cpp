#include "idle/thief_marks.hpp"

#include <algorithm>

#include "base/bitset.h"

namespace numasim {

namespace {

std::vector<std::uint32_t> watches_of_thieves(const ns_plan& steal) {
    std::vector<std::uint32_t> watches;
    for (std::uint32_t index = 0; index < steal.steal_levels; ++index) {
        if (steal.level[index].watch != NS_NONE8) watches.push_back(steal.level[index].watch);
    }
    return watches;
}

}  // namespace

ThiefMarks::ThiefMarks(const Run& run)
    : run_(run),
      words_(ns_set_words(run.plan.steal.queue_count)),
      watches_(watches_of_thieves(run.plan.steal)),
      no_marks_(std::size_t{run.plan.steal.watches} * words_, 0) {}

bool ThiefMarks::any() const {
    const ns_queues& queues = run_.queues.contents();
    if (queues.marked == 0) return false;
    return std::ranges::any_of(watches_, [&](std::size_t watch) {
        const std::uint64_t* const marks = queues.watch + watch * words_;
        return std::any_of(marks, marks + words_, [](std::uint64_t word) { return word != 0; });
    });
}

}  // namespace numasim
