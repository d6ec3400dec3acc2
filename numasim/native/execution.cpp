// Executing tasks: ops, segments, spawns, joins, dependences (model 3.1 to 3.3 and 4.1; numasim/engine/execution.py).
#include <algorithm>

#include "engine.hpp"
#include "policy/dispatch.h"

namespace numasim {

// ---- ops ---------------------------------------------------------------------------------------------------------------

// Execute ops until one takes time, or until the worker has nothing to do and looks for work.
void Engine::proceed(Worker& w) {
    for (;;) {
        if (!w.outbox.empty()) return schedule_overhead(w, PUT, plan_.costs.push_ps);
        if (w.stack.empty() && !seek(w)) return;
        const Task task = w.stack.back();
        if (is_item(task)) return start_item(w, task);
        if (task == PRODUCTION) {
            produce(w);
            continue;
        }
        Progress& progress = progress_[task];
        if (progress.at == plan_.graph.op_ptr[static_cast<std::size_t>(task) + 1]) {
            finish(w, task);
            continue;
        }
        const std::uint32_t operand = plan_.graph.op_arg[progress.at];
        switch (plan_.graph.op_code[progress.at]) {
            case RUN: return start_segment(w, task, operand);
            case SPAWN:
                ++progress.at;
                spawn(w, task, operand);
                break;
            case CALL:
                ++progress.at;
                progress_[operand].path_ps = progress.path_ps;
                w.stack.back() = operand;  // the caller is off the stack until the callee's end puts it back
                break;
            default:
                if (!wait(w, task)) return;
        }
    }
}

void Engine::start_segment(Worker& w, Task task, std::uint32_t segment) {
    std::int64_t total = w.total_ps[segment];
    const std::int64_t local = w.local_ps[segment];
    if (!plan_.open.ptr.empty() && plan_.open.ptr[segment] != plan_.open.ptr[segment + 1]) total = touch(w, segment);
    if (!plan_.times.traffic.empty()) {
        const std::int64_t* traffic = plan_.times.traffic.data() + std::size_t{segment} * plan_.nodes;
        std::int64_t* bytes = node_bytes_.data() + static_cast<std::size_t>(w.node) * plan_.nodes;
        for (std::uint32_t home = 0; home < plan_.nodes; ++home) bytes[home] += traffic[home];
    }
    progress_[task].path_ps += local;
    w.segment = segment;
    work(w, task, total, local);
}

void Engine::start_item(Worker& w, Task task) {
    const auto [total, local] = item_times(w, task);
    phase_span_ps_ = std::max(phase_span_ps_, local);
    w.segment = 0;
    work(w, task, total, local);
}

// The times of an item; those of the items that the worker will take next from its own queue are computed along with it.
std::pair<std::int64_t, std::int64_t> Engine::item_times(Worker& w, Task task) {
    const std::size_t family = family_of(task);
    const ItemTimes& times = families_[family];
    const std::uint64_t base = family_base_[family];
    const std::uint64_t item = static_cast<std::uint64_t>(task) - base;
    if (times.moves_bytes()) times.add_traffic(static_cast<std::int64_t>(item), node_bytes_.data() + static_cast<std::size_t>(w.node) * plan_.nodes);
    ItemsAhead& ahead = w.ahead;
    const std::uint64_t expected = ahead.first + ahead.at * static_cast<std::uint64_t>(ahead.step);
    if (ahead.at >= ahead.count || expected != static_cast<std::uint64_t>(task)) look_ahead(w, task, times, base);
    const std::uint32_t at = ahead.at++;
    return {ahead.total_ps[at], ahead.local_ps[at]};
}

void Engine::look_ahead(Worker& w, Task task, const ItemTimes& times, std::uint64_t base) {
    ItemsAhead& ahead = w.ahead;
    ahead.first = static_cast<std::uint64_t>(task);
    ahead.at = 0;
    ahead.count = 1;
    ahead.step = 1;
    if (w.own != NS_UNKNOWN && !queues_.entries(static_cast<std::uint32_t>(w.own)).empty()) {
        const auto q = static_cast<std::uint32_t>(w.own);
        const ns_items& entry = w.own_back ? queues_.entries(q).back() : queues_.entries(q).front();
        const std::int64_t step = w.own_back ? -std::int64_t{entry.step} : std::int64_t{entry.step};
        if (entry.count > 1 && queues_.peek(q, w.own_back) == ahead.first + static_cast<std::uint64_t>(step)) {
            ahead.step = step;
            ahead.count = std::min(ItemsAhead::MOST, entry.count + 1);
        }
    }
    times.block(static_cast<std::size_t>(w.node), static_cast<std::int64_t>(ahead.first - base), ahead.step, ahead.count, ahead.total_ps, ahead.local_ps);
}

std::size_t Engine::family_of(Task task) const {
    const auto id = static_cast<std::uint64_t>(task);
    std::size_t family = 0;
    while (id >= family_base_[family + 1]) ++family;
    return family;
}

// Start a stretch of work, with the overhead that is owed in front of it.
void Engine::work(Worker& w, Task task, std::int64_t total_ps, std::int64_t local_ps) {
    const std::int64_t owed = w.owed_ps;
    w.owed_ps = 0;
    w.counters.overhead_ps += owed;
    w.counters.work_local_ps += local_ps;
    w.counters.inflation_numa_ps += total_ps - local_ps;
    schedule(w, SEG_END, owed + total_ps);
    if (keep_log_) log_.push_back({task, w.segment, w.id, now_ + owed, w.due_ps});
}

// Time of a segment that places pages; their faults are owed overhead.
std::int64_t Engine::touch(Worker& w, std::uint32_t segment) {
    const OpenAccesses& open = plan_.open;
    std::int64_t* bytes = node_bytes_.data() + static_cast<std::size_t>(w.node) * plan_.nodes;
    std::int64_t wait = open.settled[static_cast<std::size_t>(w.node) * static_cast<std::size_t>(plan_.times.segments) + segment];
    for (std::int64_t i = open.ptr[segment]; i < open.ptr[segment + 1]; ++i) {
        const Touch touch = pages_.touch(open.access[static_cast<std::size_t>(i)], w.node, bytes);
        wait += touch.wait_ps;
        w.owed_ps += touch.pages_placed * plan_.costs.fault_ps;
        page_faults_ += touch.pages_placed;
    }
    return std::max(open.compute[segment], wait);
}

void Engine::on_segment_end(Worker& w) {
    const Task task = w.stack.back();
    record_detail(SEG_END, w.id, task, w.segment);
    if (is_item(task)) {
        w.stack.pop_back();
        ++w.counters.tasks;
        task_done();
    } else {
        ++progress_[task].at;
    }
    proceed(w);
}

void Engine::task_done() {
    if (--outstanding_ == 0) end_phase_after_instant();
}

// ---- the end of a task -------------------------------------------------------------------------------------------------

// Bookkeeping of a finished task: its parent's join, the tasks that depend on it.
void Engine::finish(Worker& w, Task task) {
    w.stack.pop_back();
    const Progress& progress = progress_[task];
    const Task parent = plan_.graph.parent[static_cast<std::size_t>(task)];
    const std::uint8_t kind = plan_.graph.kind[static_cast<std::size_t>(task)];
    if (kind == TASK) {
        ++w.counters.tasks;
    } else if (kind == CALLED) {
        progress_[parent].path_ps = progress.path_ps;
        w.stack.push_back(parent);
        return;
    }
    phase_span_ps_ = std::max(phase_span_ps_, progress.path_ps);
    if (parent >= 0) {
        if (joins_cost_) {
            w.owed_ps += plan_.costs.join_ps;
            if (plan_.costs.line) w.owed_ps += plan_.line_ps[std::size_t{w.id} * plan_.workers + progress.spawner];
        }
        Progress& join = progress_[parent];
        join.joined_ps = std::max(join.joined_ps, progress.path_ps);
        if (--join.pending == 0 && join.waiting) {
            join.waiting = 0;
            resume(w, parent);
        }
    }
    if (has_successors_) release(w, task, progress.path_ps);
    task_done();
}

// The last child has finished: go on with the parent here, or wake the worker that is blocked in it.
void Engine::resume(Worker& w, Task parent) {
    if (plan_.join == Join::BLOCK) {
        const auto found = sleeper_.find(parent);
        Worker& sleeper = workers_[found->second];
        sleeper_.erase(found);
        sleeper.blocked = false;
        schedule(sleeper, WAKE, sleeper.node != w.node ? plan_.costs.wake_remote_ps : plan_.costs.wake_ps);
        return;
    }
    Progress& progress = progress_[parent];
    progress.path_ps = std::max(progress.path_ps, progress.joined_ps);
    w.owed_ps += plan_.costs.resume_ps;
    w.stack.push_back(parent);
}

// Put the spawned successors whose last predecessor this was.
void Engine::release(Worker& w, Task task, std::int64_t path_ps) {
    const auto t = static_cast<std::size_t>(task);
    for (std::int64_t i = plan_.graph.successor_ptr[t]; i < plan_.graph.successor_ptr[t + 1]; ++i) {
        const Task successor = plan_.graph.successor[static_cast<std::size_t>(i)];
        Progress& progress = progress_[successor];
        progress.path_ps = std::max(progress.path_ps, path_ps);
        --progress.held;
        if (progress.spawned && progress.held == 0) offer(w, successor);
    }
}

// ---- spawning and placing ----------------------------------------------------------------------------------------------

void Engine::spawn(Worker& w, Task task, Task child) {
    Progress& parent = progress_[task];
    Progress& spawned = progress_[child];
    ++parent.pending;
    ++outstanding_;
    spawned.spawner = w.id & 0x3FFFFFFFU;
    spawned.path_ps = std::max(spawned.path_ps, parent.path_ps);
    if (has_successors_) {
        spawned.spawned = 1;
        if (spawned.held != 0) return;
    }
    if (inlines_ && must_inline(w)) {
        w.stack.push_back(child);
    } else if (plan_.work_first) {
        w.stack.back() = child;
        offer(w, task);
    } else {
        offer(w, child);
    }
}

// Whether spawns are executed at once: from a full own queue on, until it has fallen below the resume fill.
bool Engine::must_inline(Worker& w) {
    if (w.own == NS_UNKNOWN) return false;
    const auto q = static_cast<std::uint32_t>(w.own);
    if (plan_.steal.queues[q].full != NS_FULL_INLINE) return false;
    overflowed_[q] = ns_overflows(overflowed_[q] != 0, queues_.length(q), queues_.capacity(q), plan_.inline_resume_ppm);
    return overflowed_[q] != 0;
}

// Put a task into a queue: at once, or where that takes time, as the worker's next step.
void Engine::offer(Worker& w, Task task) {
    if (plan_.costs.push_ps != 0) {
        w.outbox.push_back(task);
    } else {
        put(w, task);
    }
}

void Engine::on_put(Worker& w) {
    const Task task = w.outbox.front();
    w.outbox.pop_front();
    put(w, task);
    proceed(w);
}

void Engine::put(Worker& w, Task task) {
    std::int32_t q = w.boundless_own;
    if (q == NS_UNKNOWN) {
        q = place(w.id, task);
    } else {
        queues_.push(static_cast<std::uint32_t>(q), static_cast<std::uint64_t>(task));
    }
    if (q < 0) {
        w.stack.push_back(task);
    } else {
        record_detail(PUT, w.id, task, q);
    }
}

// Push a task where the dispatch rules say; negative where every queue that they name is full.
std::int32_t Engine::place(std::uint32_t position, Task task) {
    std::uint64_t index = static_cast<std::uint64_t>(task), count = static_cast<std::uint64_t>(rows_);
    if (is_item(task)) {
        const std::size_t family = family_of(task);
        index -= family_base_[family];
        count = family_base_[family + 1] - family_base_[family];
    }
    const ns_view seen = view();
    const std::int32_t q = ns_place(&plan_.steal, &actors_[position], &seen, index, count);
    if (q >= 0) queues_.push(static_cast<std::uint32_t>(q), static_cast<std::uint64_t>(task));
    return q;
}

// ---- joins -------------------------------------------------------------------------------------------------------------

// WAIT: go on where every child has finished, else what the runtime's join does. False: nothing to run now.
bool Engine::wait(Worker& w, Task task) {
    Progress& progress = progress_[task];
    if (progress.pending == 0) {
        if (w.idle) end_idle(w);
        ++progress.at;
        progress.path_ps = std::max(progress.path_ps, progress.joined_ps);
        w.owed_ps += plan_.costs.wait_ps;
        return true;
    }
    switch (plan_.join) {
        case Join::CONTINUATION:  // the task leaves the worker; its last child's worker goes on with it
            ++progress.at;
            progress.waiting = 1;
            w.stack.pop_back();
            return true;
        case Join::BLOCK: return block(w, task);
        default: return seek(w);  // other tasks run nested on the stack until the children have finished
    }
}

// Join `block`: the worker sleeps until the last child has finished.
bool Engine::block(Worker& w, Task task) {
    progress_[task].waiting = 1;
    sleeper_[task] = w.id;
    w.blocked = true;
    w.counters.overhead_ps += w.owed_ps;
    w.counters.parked_ps -= now_ + w.owed_ps;
    w.owed_ps = 0;
    busy_until_[w.id] = INT64_MAX;
    clock_.clear(w.id);
    return false;
}

void Engine::on_wake(Worker& w) {
    w.counters.parked_ps += now_;
    record_step(WAKE, w.id, w.stack.back(), 0);
    proceed(w);
}

}  // namespace numasim
