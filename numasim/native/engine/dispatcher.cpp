#include "engine/dispatcher.hpp"

#include "policy/dispatch.h"

namespace numasim {

std::int32_t Dispatcher::place(std::uint32_t position, Task task) {
    auto index = static_cast<std::uint64_t>(frames_.id_of(task)), count = static_cast<std::uint64_t>(plan_.graph.tasks);
    if (ranges_.holds(task)) {
        const std::size_t family = ranges_.family_of(task);
        index -= ranges_.first(family);
        count = ranges_.count(family);
    }
    ns_new_task described{index, count, nullptr, 0, true, false, nullptr};
    if (plan_.steal.data_count != 0) describe(task, described);
    const ns_view seen = queues_.view();
    const std::int32_t q = ns_place(&plan_.steal, &queues_.actor(position), &seen, &described);
    looked_ = described.looked;
    return q;
}

// What the task is about, if dispatch asks where that is; whether it waits for no other task.
void Dispatcher::describe(Task task, ns_new_task& described) {
    const bool item = ranges_.holds(task);
    if (!item && frames_.have_dependences()) described.source = frames_.depends_on_none(task);
    if (!looks_at_data_) return;
    if (item) {
        const std::size_t family = ranges_.family_of(task);
        objects_.describe_item(family, task - static_cast<Task>(ranges_.first(family)), described);
    } else {
        objects_.describe_row(frames_[task].row, described);
    }
}

// What it took the worker to decide on a queue, and to move its cache line here where it is not its own.
std::int64_t Dispatcher::cost_ps(const Worker& w, std::int32_t q) const {
    std::int64_t cost = looked_ ? plan_.costs.locate_ps : 0;
    if (plan_.costs.line && q >= 0 && q != w.own) {
        const auto owner = static_cast<std::size_t>(plan_.steal.queues[q].owner);
        cost += plan_.line_ps[std::size_t{w.id} * plan_.workers + owner];
    }
    return cost;
}

}  // namespace numasim
