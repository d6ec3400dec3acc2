#include "state/task_queues.hpp"

namespace numasim {

TaskQueues::TaskQueues(const Plan& plan, std::uint64_t seed, Recorder& recorder)
    : recorder_(recorder), actors_(ns_actors_create(&plan.steal, plan.workers + 1, seed)) {
    if (!actors_ || !ns_queues_create(&queues_, &plan.steal, &plan.thresholds)) throw std::bad_alloc();
}

bool TaskQueues::none_below(Task task) const {
    for (std::uint32_t q = 0; q < queues_.plan->queue_count; ++q) {
        const ns_ring& entries = queues_.ring[q];
        for (std::size_t i = 0; i < entries.size; ++i) {
            if (static_cast<Task>(ns_ring_at(&entries, i)->first) < task) return false;
        }
    }
    return true;
}

void TaskQueues::renumber(std::int64_t by) {
    for (std::uint32_t q = 0; q < queues_.plan->queue_count; ++q) {
        const ns_ring& entries = queues_.ring[q];
        for (std::size_t i = 0; i < entries.size; ++i) ns_ring_at(&entries, i)->first += static_cast<std::uint64_t>(by);
    }
}

Team new_team(const Plan& plan) {
    Team team(plan.workers);
    for (std::uint32_t i = 0; i < plan.workers; ++i) {
        Worker& w = team[i];
        ns_worker_start(&w, &plan, i);
        w.boundless_own = plan.own_never_full ? w.own : NS_UNKNOWN;
        w.total_ps = plan.times.total[static_cast<std::size_t>(w.node)].data();
        w.local_ps = plan.times.local[static_cast<std::size_t>(w.node)].data();
    }
    return team;
}

}  // namespace numasim
