// Executing tasks: ops, segments, spawns, joins, dependences (model 3.1 to 3.3 and 4.1; numasim/engine/execution.py).
#include <algorithm>

#include "engine.hpp"
#include "policy/dispatch.h"

namespace numasim {

// ---- ops ----------------------------------------------------------------------------------------------------------

// Execute ops until one takes time, or until the worker has nothing to do and looks for work.
[[gnu::flatten]] void Engine::proceed(Worker& w) {
    for (;;) {
        if (!w.outbox.empty()) return schedule_overhead(w, PUT, plan_.costs.push_ps);
        if (w.stack.empty() && !seek(w)) return;
        const Task task = w.stack.back();
        if (is_item(task)) return start_item(w, task);
        if (task == PRODUCTION) {
            produce(w);
            continue;
        }
        const auto at = static_cast<std::uint32_t>(task);
        Frame& frame = frames_[at];
        if (frame.at == plan_.graph.op_ptr[std::size_t{frame.row} + 1]) {
            finish(w, at);
            continue;
        }
        switch (plan_.graph.op_code[frame.at]) {
            case RUN: return start_segment(w, frame, plan_.graph.op_arg[frame.at]);
            case SPAWN: spawn(w, at); break;
            case CALL: call(w, at); break;
            case WAIT:
                if (!wait(w, frame)) return;
                break;
            default:
                if (!use_word(w, frame)) return;
        }
    }
}

void Engine::start_segment(Worker& w, Frame& frame, std::uint32_t segment) {
    if (flows_) return start_flow(w, frame, segment);
    std::int64_t total = w.total_ps[segment];
    const std::int64_t local = w.local_ps[segment];
    if (!plan_.open.ptr.empty() && plan_.open.ptr[segment] != plan_.open.ptr[segment + 1]) total = touch(w, segment);
    if (!plan_.times.traffic.empty()) {
        const std::int64_t* traffic = plan_.times.traffic.data() + std::size_t{segment} * plan_.nodes;
        std::int64_t* bytes = node_bytes_.data() + static_cast<std::size_t>(w.node) * plan_.nodes;
        for (std::uint32_t home = 0; home < plan_.nodes; ++home) bytes[home] += traffic[home];
    }
    frame.path_ps += local;
    w.segment = plan_.graph.folded ? frame.segments + plan_.graph.segment[frame.at] : segment;
    work(w, frame.id, total, local);
}

// Compute the times of an item along with those of the items that the worker will take next from its own queue.
void Engine::look_ahead(Worker& w, Task task) {
    const std::size_t family = family_of(task);
    ItemsAhead& ahead = w.ahead;
    ahead.times = &families_[family];
    ahead.base = static_cast<std::int64_t>(family_base_[family]);
    ahead.next = task;
    ahead.at = 0;
    ahead.count = 1;
    ahead.step = 1;
    if (w.own != NS_UNKNOWN && !queues_.entries(static_cast<std::uint32_t>(w.own)).empty()) {
        const auto q = static_cast<std::uint32_t>(w.own);
        const ns_items& entry = w.own_back ? queues_.entries(q).back() : queues_.entries(q).front();
        const std::int64_t step = w.own_back ? -std::int64_t{entry.step} : std::int64_t{entry.step};
        if (entry.count > 1 && static_cast<Task>(queues_.peek(q, w.own_back)) == task + step) {
            ahead.step = step;
            ahead.count = std::min(ItemsAhead::MOST, entry.count + 1);
        }
    }
    ahead.times->block(static_cast<std::size_t>(w.node), task - ahead.base, ahead.step, ahead.count, ahead.total_ps,
                       ahead.local_ps);
}

// Time of a segment that places or moves pages; their faults and migrations are owed overhead.
std::int64_t Engine::touch(Worker& w, std::uint32_t segment) {
    const OpenAccesses& open = plan_.open;
    std::int64_t wait =
        open.settled[static_cast<std::size_t>(w.node) * static_cast<std::size_t>(plan_.times.segments) + segment];
    for (std::int64_t i = open.ptr[segment]; i < open.ptr[segment + 1]; ++i) {
        const std::int64_t access = open.access[static_cast<std::size_t>(i)];
        const Touch touch = pages_.touch(access, w.node, touched_.data());
        w.owed_ps = sum_ps(w.owed_ps, product_ps(touch.placed, plan_.costs.fault_ps));
        page_faults_ += touch.placed;
        if (touch.migrated != 0) copy_pages(w, touch.migrated);
        wait = sum_ps(wait, move(access, w.node));
    }
    return std::max(open.compute[segment], wait);
}

// Count what is copied when pages migrate to the worker's node.
void Engine::copy_pages(Worker& w, std::int64_t pages) {
    w.owed_ps = sum_ps(w.owed_ps, product_ps(pages, plan_.costs.migrate_ps));
    pages_migrated_ += pages;
    std::int64_t* bytes = node_bytes_.data() + static_cast<std::size_t>(w.node) * plan_.nodes;
    for (std::size_t home = 0; home < plan_.nodes; ++home) {
        bytes[home] += pages_.migrated()[home] * plan_.memory.page_bytes;
    }
}

// Count what an access moves whose footprint on each home is in `touched_`; the time that `node` waits for it.
std::int64_t Engine::move(std::int64_t access, std::int32_t node) {
    const auto a = static_cast<std::size_t>(access), first = static_cast<std::size_t>(node) * plan_.nodes;
    std::int64_t wait = 0;
    for (std::size_t home = 0; home < plan_.nodes; ++home) {
        const std::int64_t bytes = touched_[home] * plan_.accesses.factor[a];
        node_bytes_[first + home] += bytes;
        const std::int64_t lines = ceil_div(bytes, LINE_BYTES);
        const std::int64_t misses_ps = product_ps(product_ps(lines, plan_.open.latency_ps[first + home]), 1000);
        wait = sum_ps(wait, ceil_div(misses_ps, plan_.accesses.mlp[a]));
    }
    return wait;
}

[[gnu::flatten]] void Engine::on_segment_end(Worker& w) {
    const Task task = w.stack.back();
    record_detail(SEG_END, w.id, id_of(task), w.segment);
    if (flows_) end_flow(w);
    if (watch_ != nullptr) watch_work(w);
    if (is_item(task)) {
        w.stack.pop_back();
        ++w.counters.tasks;
        task_done();
        // what `proceed` would come to: most items are followed by the next one of the own queue
        const bool free = w.stack.empty() && w.agenda.empty();
        if (free && pop_own(w, plan_.refill) && is_item(w.stack.back())) return start_item(w, w.stack.back());
    } else {
        ++frames_[static_cast<std::size_t>(task)].at;
    }
    proceed(w);
}

void Engine::watch_work(Worker& w) {
    const Task task = w.stack.back();
    watch_->stretch(w, Watched::WORK, now_, id_of(task), w.segment, kernel_of(task));
}

// What a task that works executes.
std::uint32_t Engine::kernel_of(Task task) const {
    if (is_item(task)) return plan_.families[family_of(task)].kernel;
    return plan_.graph.kernel[plan_.graph.op_arg[frames_[static_cast<std::size_t>(task)].at]];
}

// ---- frames -------------------------------------------------------------------------------------------------------

std::uint32_t Engine::new_frame(std::uint32_t row, std::int64_t id, std::uint32_t segments, std::uint32_t parent) {
    std::uint32_t at = free_frame_;
    if (at == NO_FRAME) {
        at = static_cast<std::uint32_t>(frames_.size());
        frames_.emplace_back();
    } else {
        free_frame_ = frames_[at].parent;
    }
    frames_[at] = {.path_ps = 0,
                   .joined_ps = 0,
                   .id = id,
                   .row = row,
                   .at = static_cast<std::uint32_t>(plan_.graph.op_ptr[row]),
                   .segments = segments,
                   .pending = 0,
                   .parent = parent,
                   .spawner = 0,
                   .kind = plan_.graph.kind[row] & 3U,
                   .waiting = 0,
                   .finished = 0};
    return at;
}

// The frame of the task that the parent's next op creates; the parent goes on to the op after it.
std::uint32_t Engine::new_child(std::uint32_t parent) {
    const std::uint32_t op = frames_[parent].at++;
    const std::uint32_t row = plan_.graph.op_arg[op];
    std::int64_t id = row;
    std::uint32_t segments = 0;
    if (plan_.graph.folded) {
        id = frames_[parent].id + plan_.graph.child[op];
        segments = frames_[parent].segments + plan_.graph.segment[op];
    }
    const std::uint32_t child = new_frame(row, id, segments, parent);
    frames_[child].path_ps = frames_[parent].path_ps;
    return child;
}

void Engine::let_go(std::uint32_t frame) {
    frames_[frame].parent = free_frame_;
    free_frame_ = frame;
}

// ---- the end of a task --------------------------------------------------------------------------------------------

// Bookkeeping of a finished task: its parent's join, the tasks that depend on it.
void Engine::finish(Worker& w, std::uint32_t at) {
    w.stack.pop_back();
    Frame& frame = frames_[at];
    frame.finished = 1;
    if (frame.kind == CALLED) {
        frames_[frame.parent].path_ps = frame.path_ps;
        w.stack.push_back(frame.parent);
    } else {
        w.counters.tasks += frame.kind == TASK;
        phase_span_ps_ = std::max(phase_span_ps_, frame.path_ps);
        if (frame.parent != NO_FRAME) join(w, frame);
        if (has_successors_) release(w, frame);
        task_done();
    }
    if (frame.pending == 0) let_go(at);
}

void Engine::join(Worker& w, const Frame& child) {
    if (joins_cost_) {
        w.owed_ps += plan_.costs.join_ps;
        if (plan_.costs.line) w.owed_ps += plan_.line_ps[std::size_t{w.id} * plan_.workers + child.spawner];
    }
    Frame& parent = frames_[child.parent];
    parent.joined_ps = std::max(parent.joined_ps, child.path_ps);
    if (--parent.pending != 0) return;
    if (parent.waiting) {
        parent.waiting = 0;
        resume(w, child.parent);
    } else if (parent.finished) {
        let_go(child.parent);
    }
}

// The last child has finished: go on with the parent here, or wake the worker that is blocked in it.
void Engine::resume(Worker& w, std::uint32_t parent) {
    if (plan_.join == Join::BLOCK) {
        const auto found = sleeper_.find(parent);
        Worker& sleeper = workers_[found->second];
        sleeper_.erase(found);
        sleeper.blocked = false;
        const std::int64_t wake_ps = sleeper.node != w.node ? plan_.costs.wake_remote_ps : plan_.costs.wake_ps;
        schedule(sleeper, WAKE, std::max(wake_ps, sleeper.due_ps - now_));
        return;
    }
    Frame& frame = frames_[parent];
    frame.path_ps = std::max(frame.path_ps, frame.joined_ps);
    w.owed_ps += plan_.costs.resume_ps;
    w.stack.push_back(parent);
}

// Put the spawned successors whose last predecessor this was.
void Engine::release(Worker& w, const Frame& frame) {
    const auto id = static_cast<std::size_t>(frame.id);
    for (std::int64_t i = plan_.graph.successor_ptr[id]; i < plan_.graph.successor_ptr[id + 1]; ++i) {
        Dependence& successor = dependences_[plan_.graph.successor[static_cast<std::size_t>(i)]];
        successor.path_ps = std::max(successor.path_ps, frame.path_ps);
        --successor.held;
        if (successor.frame == NO_FRAME) continue;
        Frame& spawned = frames_[successor.frame];
        spawned.path_ps = std::max(spawned.path_ps, successor.path_ps);
        if (successor.held == 0) offer(w, successor.frame);
    }
}

// ---- spawning and placing -----------------------------------------------------------------------------------------

void Engine::spawn(Worker& w, std::uint32_t parent) {
    const std::uint32_t child = new_child(parent);
    ++frames_[parent].pending;
    ++outstanding_;
    frames_[child].spawner = w.id & 0xFFFFFFFU;
    if (flows_) expect(frames_[child]);
    if (has_successors_) {
        Dependence& dependence = dependences_[static_cast<std::size_t>(frames_[child].id)];
        frames_[child].path_ps = std::max(frames_[child].path_ps, dependence.path_ps);
        dependence.frame = child;
        if (dependence.held != 0) return;
    }
    if (inlines_ && must_inline(w)) {
        w.stack.push_back(child);
    } else if (plan_.work_first) {
        w.stack.back() = child;
        offer(w, parent);
    } else {
        offer(w, child);
    }
}

// An inline call: the caller is off the stack until the callee's end puts it back, wherever that is.
void Engine::call(Worker& w, std::uint32_t caller) { w.stack.back() = new_child(caller); }

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
    if (puts_take_time_) {
        w.outbox.push_back(task);
    } else {
        put(w, task);
    }
}

void Engine::on_put(Worker& w) {
    if (watch_ != nullptr) watch_->overhead(w, now_);
    if (!w.held.empty()) {  // what a search has found is paid for
        release_held(w);
    } else if (!w.outbox.empty() && !put_next(w)) {
        return;
    }
    proceed(w);
}

// Put the next task of the outbox into a queue; false: the worker waits for the queue's lock.
bool Engine::put_next(Worker& w) {
    const Task task = w.outbox.front();
    const std::int32_t q = choose(w, task);
    const std::int32_t lock = q == w.own ? NO_LOCK : queue_lock(q);
    if (lock == NO_LOCK) {
        w.outbox.pop_front();
        put_into(w, q, task);
        return true;
    }
    w.target = static_cast<std::uint32_t>(q);
    busy_until_[w.id] = now_;  // whoever holds the lock lets go of it
    clock_.clear(w.id);
    request(static_cast<std::uint32_t>(lock), w.id, Then::PUT);
    return false;
}

// The lock of a queue is the worker's: put the task there, or elsewhere if it has become full meanwhile.
void Engine::put_locked(Worker& w, std::uint32_t q) {
    const bool room = has_room(q);
    if (room) {
        const Task task = w.outbox.front();
        w.outbox.pop_front();
        put_into(w, static_cast<std::int32_t>(q), task);
    }
    release_lock(static_cast<std::uint32_t>(queue_lock(static_cast<std::int32_t>(q))), w.id);
    if (room || put_next(w)) proceed(w);
}

// The queue for a new task; negative where every queue that the dispatch rules name is full.
std::int32_t Engine::choose(Worker& w, Task task) {
    if (w.boundless_own != NS_UNKNOWN) return w.boundless_own;
    const std::int32_t q = place(w.id, task);
    if (q != w.own || looked_) w.owed_ps += dispatch_ps(w, q);
    return q;
}

void Engine::put_into(Worker& w, std::int32_t q, Task task) {
    if (q < 0) {
        w.stack.push_back(task);
    } else {
        push(static_cast<std::uint32_t>(q), task);
        record_detail(PUT, w.id, id_of(task), q);
    }
}

// The queue that the dispatch rules find for a task; negative where every one that they name is full.
std::int32_t Engine::place(std::uint32_t position, Task task) {
    std::uint64_t index = static_cast<std::uint64_t>(id_of(task)), count = static_cast<std::uint64_t>(tasks_);
    if (is_item(task)) {
        const std::size_t family = family_of(task);
        index -= family_base_[family];
        count = family_base_[family + 1] - family_base_[family];
    }
    ns_new_task described{index, count, nullptr, 0, true, false, nullptr};
    if (rules_ask_) describe(task, described);
    const ns_view seen = view();
    const std::int32_t q = ns_place(&plan_.steal, &actors_[position], &seen, &described);
    looked_ = described.looked;
    return q;
}

// What the task is about, if dispatch asks where that is; whether it waits for no other task.
void Engine::describe(Task task, ns_new_task& described) {
    const bool item = is_item(task);
    if (!item && has_successors_) described.source = predecessors_[static_cast<std::size_t>(id_of(task))] == 0;
    if (!looks_at_data_) return;
    if (item) {
        const std::size_t family = family_of(task);
        objects_.describe_item(family, task - static_cast<Task>(family_base_[family]), described);
    } else {
        objects_.describe_row(frames_[static_cast<std::size_t>(task)].row, described);
    }
}

// What it took the worker to decide on a queue, and to move its cache line here where it is not its own.
std::int64_t Engine::dispatch_ps(const Worker& w, std::int32_t q) const {
    std::int64_t cost = looked_ ? plan_.costs.locate_ps : 0;
    if (plan_.costs.line && q >= 0 && q != w.own) {
        const auto owner = static_cast<std::size_t>(plan_.steal.queues[q].owner);
        cost += plan_.line_ps[std::size_t{w.id} * plan_.workers + owner];
    }
    return cost;
}

// ---- joins --------------------------------------------------------------------------------------------------------

// WAIT: go on where every child has finished, else what the runtime's join does. False: nothing to run now.
bool Engine::wait(Worker& w, Frame& frame) {
    if (frame.pending == 0) {
        if (w.idle) end_idle(w);
        ++frame.at;
        frame.path_ps = std::max(frame.path_ps, frame.joined_ps);
        w.owed_ps += plan_.costs.wait_ps;
        return true;
    }
    switch (plan_.join) {
        case Join::CONTINUATION:  // the task leaves the worker; its last child's worker goes on with it
            ++frame.at;
            frame.waiting = 1;
            w.stack.pop_back();
            return true;
        case Join::BLOCK: return block(w, frame);
        default: return seek(w);  // other tasks run nested on the stack until the children have finished
    }
}

// Join `block`: the worker sleeps until the last child has finished.
bool Engine::block(Worker& w, Frame& frame) {
    frame.waiting = 1;
    sleeper_[w.stack.back()] = w.id;
    w.blocked = true;
    w.due_ps = w.began_ps = now_ + w.owed_ps;  // asleep from then on
    w.counters.overhead_ps += w.owed_ps;
    w.counters.parked_ps -= w.due_ps;
    w.owed_ps = 0;
    busy_until_[w.id] = INT64_MAX;
    clock_.clear(w.id);
    w.rests = true;
    if (flows_) tell_activity(w);
    return false;
}

void Engine::on_wake(Worker& w) {
    if (!w.meets) w.counters.parked_ps += now_;
    w.rests = w.spins = false;
    if (flows_) tell_activity(w);
    if (watch_ != nullptr) watch_->stretch(w, w.meets ? Watched::BARRIER : Watched::PARKED, now_);
    w.meets = false;
    record_step(WAKE, w.id, id_of(w.stack.back()), 0);
    proceed(w);
}

}  // namespace numasim
