#include "dispatcher.hpp"

namespace numasim {

std::int32_t Dispatcher::place(std::uint32_t position, Task task) {
    std::uint64_t index = 0, count = numbers_.count;
    if (run_.ranges.holds(task)) {
        const std::size_t family = run_.ranges.family_of(task);
        index = static_cast<std::uint64_t>(task) - run_.ranges.first(family);
        count = run_.ranges.count(family);
    } else if (ns_task_numbers_are_asked_for(&numbers_)) {
        index = ns_task_number(&numbers_, run_.frames.id_of(task));
    }
    ns_new_task described{index, count, nullptr, 0, true, false, nullptr, NS_TIER_LOCAL, NS_UNKNOWN, copy_.data(), 0};
    if (run_.plan.rules_ask_tasks) {
        described.tier = run_.controls.asked_tier(task);
        described.label = run_.controls.label(task);
    }
    if (run_.plan.steal.data_count != 0) describe(task, described);
    const ns_view seen = run_.queues.view();
    const std::int32_t q = ns_place(&run_.plan.steal, &run_.queues.actor(position), &seen, &described);
    looked_ = described.looked;
    copies_ = described.copies;
    return q;
}

// Describe the objects of the task, if dispatch asks where they are, and whether the task waits for no other task.
void Dispatcher::describe(Task task, ns_new_task& described) {
    const bool item = run_.ranges.holds(task);
    if (!item && run_.frames.have_dependences()) described.source = run_.frames.depends_on_none(task);
    if (!run_.plan.looks_at_data) return;
    if (item) {
        const std::size_t family = run_.ranges.family_of(task);
        ns_pages_describe_item(&pages_, family, task - static_cast<Task>(run_.ranges.first(family)), &described);
    } else {
        ns_pages_describe(&pages_, run_.frames[task].row, &described);
    }
}

}  // namespace numasim
