#include "state/task_queues.hpp"

namespace numasim {

namespace {

bool never_full(const Plan& plan) {
    for (std::uint32_t q = 0; q < plan.steal.queue_count; ++q) {
        if (plan.steal.queues[q].capacity != 0) return false;
    }
    return plan.own_dispatch;
}

}  // namespace

TaskQueues::TaskQueues(const Plan& plan, Recorder& recorder)
    : recorder_(recorder),
      queues_(plan.steal, plan.thresholds),
      actors_(std::size_t{plan.workers} + 1),
      cursors_(actors_.size() * plan.steal.levels),
      chances_(actors_.size() * plan.steal.chances) {
    for (std::uint32_t i = 0; i < actors_.size(); ++i) {
        ns_actor_init(&actors_[i], &plan.steal, static_cast<std::int32_t>(i), plan.seed,
                      cursors_.data() + std::size_t{i} * plan.steal.levels,
                      chances_.data() + std::size_t{i} * plan.steal.chances);
    }
}

bool TaskQueues::none_below(Task task) const {
    for (std::uint32_t q = 0; q < queues_.count(); ++q) {
        const ns_ring& entries = queues_.entries(q);
        for (std::size_t i = 0; i < entries.size; ++i) {
            if (static_cast<Task>(ns_ring_at(&entries, i)->first) < task) return false;
        }
    }
    return true;
}

void TaskQueues::renumber(std::int64_t by) {
    for (std::uint32_t q = 0; q < queues_.count(); ++q) {
        const ns_ring& entries = queues_.entries(q);
        for (std::size_t i = 0; i < entries.size; ++i) ns_ring_at(&entries, i)->first += static_cast<std::uint64_t>(by);
    }
}

Team new_team(const Plan& plan, const TaskQueues& queues) {
    Team team(plan.workers);
    const bool boundless = never_full(plan);
    for (std::uint32_t i = 0; i < plan.workers; ++i) {
        Worker& w = team[i];
        w.id = i;
        w.node = plan.node[i];
        w.own = queues.actor(i).own;
        w.boundless_own = boundless ? w.own : NS_UNKNOWN;
        w.own_back = w.own != NS_UNKNOWN && plan.steal.queues[w.own].own_end != 0;
        w.total_ps = plan.times.total[static_cast<std::size_t>(w.node)].data();
        w.local_ps = plan.times.local[static_cast<std::size_t>(w.node)].data();
    }
    return team;
}

}  // namespace numasim
