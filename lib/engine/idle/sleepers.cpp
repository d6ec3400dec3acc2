#include "idle/sleepers.hpp"

#include <algorithm>

#include "base/bitset.h"
#include "idle/foreseen_probes.hpp"
#include "idle/locked_rounds.hpp"

namespace numasim {

namespace {

std::vector<std::size_t> watches_of_thieves(const ns_plan& steal) {
    std::vector<std::size_t> watches;
    for (std::uint32_t index = 0; index < steal.steal_levels; ++index) {
        if (steal.level[index].watch != NS_NONE8) watches.push_back(steal.level[index].watch);
    }
    return watches;
}

// nullptr where rounds are more than a poll and its probes, or queues may hold copies of tasks.
std::unique_ptr<Sleeping> kind_of(Run& run, SyncObjects& sync, Polling& polling, std::ptrdiff_t& sleeping) {
    const Plan& plan = run.plan;
    const bool may_sleep = plan.skip && plan.one_queue_each && !plan.backoff_after_probe && !run.queues.has_copies();
    if (!may_sleep) return nullptr;
    if (plan.locks_probes) return std::make_unique<LockedRounds>(run, sync, polling, sleeping);
    return std::make_unique<ForeseenProbes>(run, polling, sleeping);
}

}  // namespace

Sleeping::Sleeping(Run& run, Polling& polling, std::ptrdiff_t& sleeping)
    : run_(run),
      polling_(polling),
      sleeping_(sleeping),
      words_(ns_set_words(run.plan.steal.queue_count)),
      watches_(watches_of_thieves(run.plan.steal)),
      no_marks_(std::size_t{run.plan.steal.watches} * words_, 0) {}

bool Sleeping::is_marked() const {
    if (run_.queues.marked() == 0) return false;
    const std::uint64_t* const bits = run_.queues.view().watch;
    return std::ranges::any_of(watches_, [&](std::size_t watch) {
        const std::uint64_t* const marks = bits + watch * words_;
        return std::any_of(marks, marks + words_, [](std::uint64_t word) { return word != 0; });
    });
}

Sleepers::Sleepers(Run& run, SyncObjects& sync, Polling& polling)
    : clock_(run.clock), locks_(run.plan.locks_probes), kind_(kind_of(run, sync, polling, sleeping_)) {}

}  // namespace numasim
