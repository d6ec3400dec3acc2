#include "engine/dispatcher.hpp"

#include "policy/dispatch.h"

namespace numasim {

std::int32_t Dispatcher::place(std::uint32_t position, Task task) {
    auto index = static_cast<std::uint64_t>(run_.frames.id_of(task)),
         count = static_cast<std::uint64_t>(run_.plan.graph.tasks);
    if (run_.ranges.holds(task)) {
        const std::size_t family = run_.ranges.family_of(task);
        index -= run_.ranges.first(family);
        count = run_.ranges.count(family);
    }
    ns_new_task described{index, count, nullptr, 0, true, false, nullptr};
    if (run_.plan.steal.data_count != 0) describe(task, described);
    const ns_view seen = run_.queues.view();
    const std::int32_t q = ns_place(&run_.plan.steal, &run_.queues.actor(position), &seen, &described);
    looked_ = described.looked;
    return q;
}

// What the task is about, if dispatch asks where that is; whether it waits for no other task.
void Dispatcher::describe(Task task, ns_new_task& described) {
    const bool item = run_.ranges.holds(task);
    if (!item && run_.frames.have_dependences()) described.source = run_.frames.depends_on_none(task);
    if (!looks_at_data_) return;
    if (item) {
        const std::size_t family = run_.ranges.family_of(task);
        objects_.describe_item(family, task - static_cast<Task>(run_.ranges.first(family)), described);
    } else {
        objects_.describe_row(run_.frames[task].row, described);
    }
}

// What it took the worker to decide on a queue, and to move its cache line here where it is not its own.
std::int64_t Dispatcher::cost_ps(const Worker& w, std::int32_t q) const {
    std::int64_t cost = looked_ ? run_.plan.costs.locate_ps : 0;
    if (run_.plan.costs.line && q >= 0 && q != w.own) {
        const auto owner = static_cast<std::size_t>(run_.plan.steal.queues[q].owner);
        cost += run_.plan.line_ps[std::size_t{w.id} * run_.plan.workers + owner];
    }
    return cost;
}

}  // namespace numasim
