// Executing tasks: ops, segments, spawns, joins, dependences (model 3.1 to 3.3 and 4.1; engine/reference/executor.py).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

#include "dispatcher.hpp"
#include "idle/polling.hpp"
#include "idle/sleepers.hpp"
#include "memory/memory_system.hpp"
#include "plan.hpp"
#include "queue_lines.hpp"
#include "resting.hpp"
#include "shortcuts/skip_ahead.hpp"
#include "shortcuts/steal_batches.hpp"
#include "state/run.hpp"
#include "sync_objects.hpp"
#include "thief.hpp"
#include "transactions.hpp"
#include "work_source.hpp"

namespace numasim {

// All components that the Executor uses, in one piece of memory.
//
// The Executor takes part in every event. It derives from this struct, so that each component is at a constant offset
// from the Executor. With references, addresses would be loaded again after stores, and event-by-event runs would take
// a tenth longer.
struct Components {
    Components(const Prepared& plan, std::uint64_t seed, const Listener* listener, const Watcher* watcher,
               std::function<void()> pause, bool keep_log)
        : run(plan, seed, listener, watcher, std::move(pause), keep_log),
          memory(run),
          sync(run, memory),
          transactions(run, memory),
          lines(run.plan.costs.line == NS_LINES_YES ? std::make_unique<QueueLines>(run) : nullptr),
          resting(run.plan.idle.given ? std::make_unique<Resting>(run, memory, lines.get()) : nullptr),
          dispatcher(run, memory, lines.get(), resting.get()),
          source(run, sync, dispatcher),
          skipping(run, memory, source),
          polling(run, memory, source, skipping),
          sleepers(run, sync, polling),
          batches(run, skipping, polling),
          thief(run, memory, sync, source, skipping, polling, sleepers, batches, lines.get(), resting.get()) {}
    Components(const Components&) = delete;

    Run run;
    MemorySystem memory;
    SyncObjects sync;
    Transactions transactions;
    std::unique_ptr<QueueLines> lines;  // if the plan serves cache lines of queues one request at a time
    std::unique_ptr<Resting> resting;   // if there are rules for idle workers
    Dispatcher dispatcher;
    WorkSource source;
    SkipAhead skipping;
    Polling polling;
    Sleepers sleepers;
    StealBatches batches;
    Thief thief;
};

class Executor : public Components {
public:
    using Components::Components;

    // Execute ops until an op takes time, or until the worker has nothing to do and looks for work.
    //
    // The code of frequent events is inlined, and the code of rare events is not (noinline), so that frequently used
    // values stay in registers. This saves a fifth of the time of a run.
    [[gnu::noinline]] void proceed(Worker& w) {
        for (;;) {
            if (!w.backlog.empty()) take_up(w);
            if (puts_take_time_ && !w.outbox.empty())
                return run.clock.schedule_overhead(w, PUT, run.plan.costs.push_ps);
            if (w.stack.empty() && !thief.seek(w)) return;
            const Task task = w.stack.back();
            if (run.frames.is_item(task)) return start_first_item(w, task);
            if (task == PRODUCTION) {
                produce(w);
                continue;
            }
            const auto at = static_cast<std::uint32_t>(task);
            Frame& frame = run.frames[at];
            const Instruction next = run.frames.next(frame);
            if constexpr (HAS_BODIES) run.bodies->come_to(w.id, frame.row, frame.at, next);
            switch (next.op) {
                case RUN: return start_segment(w, frame, next.arg);
                case END: finish(w, at, static_cast<Kind>(next.arg)); break;
                case SPAWN: spawn(w, at); break;
                case WAIT:
                    if (!wait(w, frame)) return;
                    break;
                case CALL: call(w, at); break;
                case GROUP:
                    ++frame.at;
                    run.frames.groups().begin(at);
                    break;
                case END_GROUP:
                    if (!end_group(w, at)) return;
                    break;
                default:
                    if (!use_word(w, frame)) return;
            }
        }
    }

    // `end_segment`: the worker has ended a segment. `end_put`: it put a task or paid for a search. `wake`: it slept.
    [[gnu::noinline]] void end_segment(Worker& w) {
        const Task task = w.stack.back();
        run.detail(SEG_END, w.id, run.frames.id_of(task), w.segment);
        if (coupled_) memory.end(w);
        if (run.recorder.watched()) report_work(w);
        if (run.frames.is_item(task)) {
            w.stack.pop_back();
            count_task(w);
            source.task_done();
            // a shortcut for `proceed`: most often the worker next takes an item of its own queue
            const bool free = w.stack.empty() && w.agenda.empty() && w.backlog.empty() && run.aside.empty();
            if (free && thief.pop_own(w, run.plan.refill) && run.frames.is_item(w.stack.back()))
                return start_item(w, w.stack.back());
        } else {
            Frame& frame = run.frames[task];
            ++frame.at;
            if (run.measures) run.measures->add_time(frame.id, run.clock.now_ps() - w.began_ps);
        }
        proceed(w);
    }

    [[gnu::noinline]] void end_put(Worker& w) {
        run.recorder.overhead(w);
        if (w.held_count != 0) {  // the worker has paid for the tasks that its search has found
            thief.release_locks(w);
        } else if (!w.outbox.empty() && !put_next(w)) {
            return;
        }
        proceed(w);
    }

    [[gnu::noinline]] void wake(Worker& w) {
        if (w.sleep != Sleep::AWAKE) {
            resting->wake_up(w);
            return proceed(w);
        }
        if (!w.meets) w.counters.parked_ps += run.clock.now_ps();
        w.rests = w.spins = false;
        memory.tell_activity(w);
        run.recorder.stretch(w, w.meets ? Watched::BARRIER : Watched::PARKED);
        w.meets = false;
        run.step(WAKE, w.id, run.frames.id_of(w.stack.back()), 0);
        proceed(w);
    }

    // The worker has got the lock of the queue for its task. Put the task there, or elsewhere if the queue is full by
    // now, or if the full queue whose tasks were to leave has room by now.
    [[gnu::noinline]] void put_locked(Worker& w) {
        const auto q = static_cast<std::int32_t>(w.target);
        const std::int32_t from = run.aside.empty() ? NS_UNKNOWN : run.aside[w.id].spills_from;
        const bool stands =
            from == NS_UNKNOWN ? run.queues.has_room(w.target) : !run.queues.has_room(static_cast<std::uint32_t>(from));
        if (stands) {
            const Task task = w.outbox.front();
            w.outbox.pop_front();
            put_into(w, q, task, from);
        }
        sync.release(static_cast<std::uint32_t>(ns_queue_lock(&run.plan, q)), w.id);
        if (stands || put_next(w)) proceed(w);
    }

private:
    [[gnu::always_inline]] void start_segment(Worker& w, Frame& frame, std::uint32_t segment) {
        if (coupled_) return memory.start(w, frame, segment);
        if constexpr (HAS_BODIES) {
            const std::int64_t compute_ps = run.bodies->compute_ps();
            if (compute_ps != AS_PLANNED) return start_measured(w, frame, segment, compute_ps);
        }
        const std::int64_t total_ps = run.measures ? memory.measured_segment_ps(w, frame.id, segment)
                                                   : memory.segment_ps(w, segment),
                           local_ps = w.local_ps[segment];
        frame.path_ps += local_ps;
        w.segment = run.plan.graph.folded ? run.frames.next_segment(frame) : segment;
        work(w, frame.id, total_ps, local_ps);
    }

    // Start a segment whose computing time is the measured time of its body.
    [[gnu::noinline]] void start_measured(Worker& w, Frame& frame, std::uint32_t segment, std::int64_t compute_ps) {
        const std::int64_t* const moved = ns_pages_bytes_of(&memory.pages(), w.node);
        if (run.measures) run.measures->before(moved);
        const BodyTime time = run.bodies->start(memory.pages(), segment, {w.node, run.clock.now_ps()}, compute_ps);
        if (run.measures) run.measures->after(frame.id, moved);
        if (time.total_ps == INT64_MAX || time.owed_ps == INT64_MAX) refuse_time();
        w.owed_ps = sum_ps(w.owed_ps, time.owed_ps);
        frame.path_ps += time.local_ps;
        w.segment = segment;
        work(w, frame.id, time.total_ps, time.local_ps);
    }

    [[gnu::always_inline]] void start_item(Worker& w, Task item) {
        if (coupled_) return memory.start_item(w, item);
        ItemBlock& block = w.items;
        if (block.at == block.count || block.next != item) compute_block(w, item);
        const std::int64_t total_ps = block.total_ps[block.at], local_ps = block.local_ps[block.at];
        ++block.at;
        block.next += block.step;
        if (block.times->moves_bytes())
            block.times->add_traffic(item - block.base, ns_pages_bytes_of(&memory.pages(), w.node));
        run.frames.end_chain(local_ps);
        w.segment = 0;
        work(w, item, total_ps, local_ps);
    }

    [[gnu::noinline]] void start_first_item(Worker& w, Task item) { start_item(w, item); }

    // Compute the times of an item and of the items that the worker will take next from its own queue.
    [[gnu::noinline]] void compute_block(Worker& w, Task item) {
        const std::size_t family = run.ranges.family_of(item);
        ItemBlock& block = w.items;
        block.times = &run.ranges.times(family);
        block.base = static_cast<std::int64_t>(run.ranges.first(family));
        block.next = item;
        block.at = 0;
        block.count = 1;
        block.step = 1;
        if (w.own != NS_UNKNOWN && run.queues.length(static_cast<std::uint32_t>(w.own)) != 0) {
            const auto q = static_cast<std::uint32_t>(w.own);
            const ns_items& entry = run.queues.entry(q, w.own_back);
            const std::int64_t step = w.own_back ? -std::int64_t{entry.step} : std::int64_t{entry.step};
            if (entry.count > 1 && run.queues.peek(q, w.own_back) == item + step) {
                block.step = step;
                block.count = std::min(ItemBlock::MOST, entry.count + 1);
            }
        }
        block.times->block(static_cast<std::size_t>(w.node), {item - block.base, block.step, block.count},
                           block.total_ps, block.local_ps);
    }

    // Start a segment or an item, after the overhead that the worker owes.
    [[gnu::always_inline]] void work(Worker& w, std::int64_t id, std::int64_t total_ps, std::int64_t local_ps) {
        const std::int64_t owed_ps = ns_pay_owed(&w);
        w.began_ps = run.clock.now_ps() + owed_ps;
        ns_count_work(&w.counters, total_ps, local_ps);
        run.clock.schedule(w, SEG_END, owed_ps + total_ps);
        if (run.recorder.keeps_log()) run.recorder.log(Executed{id, w.segment, w.id, w.began_ps, w.step.due_ps()});
    }

    [[gnu::noinline]] void report_work(Worker& w) {
        const Task task = w.stack.back();
        const std::uint32_t kernel = run.frames.is_item(task)
                                         ? run.plan.families[run.ranges.family_of(task)].kernel
                                         : run.plan.graph.kernel[run.frames.next(run.frames[task]).arg];
        run.recorder.stretch(w, Watched::WORK, run.frames.id_of(task), w.segment, kernel);
    }

    // Execute an op on a synchronisation object, after the worker has paid what it owes. Returns false if the worker
    // waits.
    [[gnu::noinline]] bool use_word(Worker& w, Frame& frame) {
        if (w.owed_ps != 0) {
            run.clock.schedule_overhead(w, PUT, 0);
            return false;
        }
        const Instruction use = run.frames.next(frame);
        ++frame.at;
        return use.op < BEGIN ? sync.use(w, use.op, use.arg) : transactions.use(w, frame, use);
    }

    // The task in frame `at` has finished. Count this in the joins of its parent and of its group, and release the
    // tasks that depend on it.
    [[gnu::always_inline]] void finish(Worker& w, std::uint32_t at, Kind kind) {
        w.stack.pop_back();
        Frame& frame = run.frames[at];
        frame.origin |= Frame::FINISHED;
        if (counts_live_ && sleepers.finish_live(*run.controls.live(), frame.row) && resting != nullptr)
            resting->subtree_ended(w);
        if (leaps_) run.forget_taker(at);
        if (kind == CALLED) {
            run.frames[frame.parent].path_ps = frame.path_ps;
            w.stack.push_back(frame.parent);
        } else {
            if (kind == TASK) {
                count_task(w);
                w.owed_ps += run.profile_ps;
            }
            run.frames.end_chain(frame.path_ps);
            if (frame.parent != NO_FRAME) join(w, frame);
            if (has_groups_ && run.frames.groups().uncount(at, frame.path_ps)) gather(w, run.frames.groups().of(at));
            if (has_dependences_) release(w, frame);
            source.task_done();
        }
        if (frame.pending == 0) run.frames.free(at);
    }

    [[gnu::always_inline]] void join(Worker& w, const Frame& child) {
        if (joins_cost_) {
            w.owed_ps += run.plan.costs.join_ps + ns_line_ps(&run.plan, &w, child.spawner());
        }
        if (lines_ != nullptr) lines_->count_child(w, child.parent, child.spawner());
        Frame& parent = run.frames[child.parent];
        parent.joined_ps = std::max(parent.joined_ps, child.path_ps);
        if (--parent.pending != 0) return;
        if (!run.frames.gathers(child.parent)) end_join(w, child.parent);
        if (parent.waits()) {
            parent.origin &= ~Frame::WAITS;
            resume(w, child.parent, parent.joined_ps);
        } else if (parent.has_finished()) {
            run.frames.free(child.parent);
        }
    }

    // The last task of the group number `at` has finished.
    [[gnu::noinline]] void gather(Worker& w, std::uint32_t at) {
        Groups& groups = run.frames.groups();
        Group& group = groups[at];
        const std::uint32_t owner = group.owner;
        if (group.gathering) {
            const std::int64_t gathered_ps = group.gathered_ps;
            group.gathering = false;
            if (run.plan.join == Join::CONTINUATION) groups.end(owner);
            resume(w, owner, gathered_ps);
        } else if (groups.innermost(owner) == at && run.frames.gathers(owner)) {
            end_join(w, owner);
        }
    }

    // The last task that the task in `frame` waits for has finished. A worker in a nested join of this task goes on.
    [[gnu::always_inline]] void end_join(Worker& w, std::uint32_t frame) {
        if (run.joins.come_to_end(frame)) sleepers.wake(run.joins.over().back());
        if (resting != nullptr) resting->join_ended(w, frame);
    }

    // The last task that `task` waits for has finished. Worker `w` goes on with `task`, or wakes the worker that sleeps
    // in the join of `task`.
    [[gnu::noinline]] void resume(Worker& w, std::uint32_t task, std::int64_t joined_ps) {
        if (run.plan.join == Join::BLOCK) {
            const auto found = sleeper_.find(task);
            Worker& sleeper = run.team[found->second];
            sleeper_.erase(found);
            sleeper.blocked = false;
            const std::int64_t wake_ps =
                sleeper.node != w.node ? run.plan.costs.wake_remote_ps : run.plan.costs.wake_ps;
            run.clock.schedule(sleeper, WAKE, std::max(wake_ps, sleeper.step.due_ps() - run.clock.now_ps()));
            return;
        }
        Frame& frame = run.frames[task];
        frame.path_ps = std::max(frame.path_ps, joined_ps);
        w.owed_ps += run.plan.costs.resume_ps;
        if (run.frames.adapts()) run.frames.set_to_bottom(task);
        w.stack.push_back(task);
    }

    // Put the spawned successors of a finished task whose predecessors have all finished into queues. The worker may
    // begin one of them next instead. If a put takes no time, the puts follow each other until a queue has no room.
    [[gnu::noinline]] void release(Worker& w, const Frame& frame) {
        bool waits = puts_take_time_;
        run.frames.release(frame, [&](std::uint32_t successor) {
            if (run.plan.begins_released && w.stack.empty() && w.agenda.empty()) {
                w.agenda.push_back(successor);
            } else if (waits) {
                w.outbox.push_back(successor);
            } else {
                const std::size_t height = w.stack.size();
                const std::int32_t q = dispatcher.choose(w, successor);
                put_into(w, q, successor, dispatcher.source());
                waits = w.stack.size() != height;
            }
        });
        if (waits && !puts_take_time_) hold_back(w);
    }

    // Offer tasks of the backlog whose turn has come to queues, one by one. The worker's agenda comes first.
    [[gnu::noinline]] void take_up(Worker& w) {
        while (w.outbox.empty() && !w.backlog.empty() && w.stack.size() < w.backlog.back().first &&
               (!w.stack.empty() || w.agenda.empty())) {
            w.outbox.push_back(w.backlog.back().second);
            w.backlog.pop_back();
            if (!puts_take_time_) put_next(w);
        }
    }

    // A released task has found no room in a queue, so that the worker begins it. The other released tasks wait in the
    // backlog until this task has finished.
    [[gnu::noinline]] void hold_back(Worker& w) {
        const auto first = static_cast<std::ptrdiff_t>(w.backlog.size());
        for (; !w.outbox.empty(); w.outbox.pop_front()) w.backlog.emplace_back(w.stack.size(), w.outbox.front());
        std::reverse(w.backlog.begin() + first, w.backlog.end());
    }

    // The worker has executed a task.
    [[gnu::always_inline]] void count_task(Worker& w) {
        ++w.counters.tasks;
        if (w.own != NS_UNKNOWN) run.queues.owner_steps(static_cast<std::uint32_t>(w.own), NS_OWNER_EXECUTED);
    }

    // Whether the worker executes the task that it has just made at once: if too many other tasks are unfinished, and
    // from when its own queue is full until the length is below the strategy's limit for putting tasks again.
    [[gnu::always_inline]] bool must_inline(Worker& w) {
        if (run.plan.inline_above >= 0 && source.others_unfinished() > run.plan.inline_above) return true;
        if (!run.plan.overflows) return false;
        if (w.own == NS_UNKNOWN || run.plan.steal.queues[w.own].full != NS_FULL_INLINE) return false;
        const auto q = static_cast<std::uint32_t>(w.own);
        w.overflowed =
            ns_overflows(w.overflowed, run.queues.length(q), run.queues.capacity(q), run.plan.inline_resume_ppm);
        return w.overflowed;
    }

    [[gnu::always_inline]] void spawn(Worker& w, std::uint32_t parent) {
        const std::uint32_t child = run.frames.new_child(parent, w.id);
        ++run.frames[parent].pending;
        if (has_groups_) run.frames.groups().count(child);
        source.task_added();
        if (counts_live_) ns_live_create_task(run.controls.live(), run.frames[child].row);
        if (coupled_) memory.expect(run.frames[child]);
        if (has_dependences_ && run.frames.must_wait(child)) return;
        if (inlines_ && must_inline(w)) {
            w.stack.push_back(child);
            begin(w, child);
        } else if (goes_first(w, parent, child)) {
            w.stack.back() = child;
            begin(w, child);
            offer(w, parent);
        } else {
            offer(w, child);
        }
    }

    // Whether the worker begins the new child, and puts the rest of the parent into a queue.
    [[gnu::always_inline]] bool goes_first(Worker& w, std::uint32_t parent, std::uint32_t child) {
        return run.plan.work_first && run.controls.goes_first(run.frames[child].row) &&
               (!run.frames.adapts() || adapts_to(w, parent, child));
    }

    // If the spawn order adapts: whether the worker begins the new child.
    [[gnu::noinline]] bool adapts_to(Worker& w, std::uint32_t parent, std::uint32_t child) {
        const std::int64_t depth = static_cast<std::int64_t>(w.stack.size()) - 1 + run.frames.depth(parent);
        if (!ns_adapts_to_child(&run.plan, &run.queues.actor(w.id), &w, depth)) return false;
        run.frames.stack_upon(child, parent, w.id);
        return true;
    }

    // The worker begins or continues a task that it has not taken from a queue. Count the subtree of the task as live.
    [[gnu::always_inline]] void begin(const Worker& w, std::uint32_t task) {
        if (counts_live_) sleepers.begin_live(*run.controls.live(), w.id, run.frames[task].row);
    }

    // Make an inline call. The callee replaces the caller on the stack until it ends, perhaps on another worker.
    [[gnu::noinline]] void call(Worker& w, std::uint32_t caller) {
        const std::uint32_t callee = run.frames.new_child(caller, 0);
        if (run.frames.adapts()) run.frames.stack_beside(callee, caller);
        w.stack.back() = callee;
        if (counts_live_) ns_live_create_task(run.controls.live(), run.frames[callee].row);
        begin(w, callee);
    }

    // Worker 0 creates the next item. Worker 0 puts it into a queue, or executes it if `must_inline` says so.
    [[gnu::noinline]] void produce(Worker& w) {
        if (!source.has_items_to_make()) {
            w.stack.pop_back();
            return;
        }
        const Task item = source.make_item();
        if (inlines_ && must_inline(w)) {
            w.stack.push_back(item);
        } else {
            offer(w, item);
        }
    }

    // Put a task into a queue: at once, or as the worker's next step if puts take time.
    [[gnu::always_inline]] void offer(Worker& w, Task task) {
        if (puts_take_time_) {
            w.outbox.push_back(task);
        } else {
            const std::int32_t q = dispatcher.choose(w, task);
            put_into(w, q, task, dispatcher.source());
        }
    }

    // Put the next task of the outbox into a queue. Returns false if the worker waits for the queue's lock.
    [[gnu::noinline]] bool put_next(Worker& w) {
        const Task task = w.outbox.front();
        const std::int32_t q = dispatcher.choose(w, task);
        const std::int32_t lock = q == w.own ? std::int32_t{NS_NO_LOCK} : ns_queue_lock(&run.plan, q);
        if (lock == NS_NO_LOCK) {
            w.outbox.pop_front();
            put_into(w, q, task, dispatcher.source());
            return true;
        }
        if (!run.aside.empty()) run.aside[w.id].spills_from = dispatcher.source();
        w.target = static_cast<std::uint32_t>(q);
        run.clock.hold(w);  // the holder of the lock is sure to release it
        sync.request(static_cast<std::uint32_t>(lock), w.id, Then::ENQUEUE);
        return false;
    }

    // Put a task into queue `q`, chosen for the worker, with half of the tasks of queue `from` if there is one. If
    // `q` is negative, the worker executes the task at once.
    [[gnu::always_inline]] void put_into(Worker& w, std::int32_t q, Task task, std::int32_t from) {
        if (q < 0) {
            w.stack.push_back(task);
            if (leaps_ && !run.frames.is_item(task)) run.note_taker(static_cast<std::uint32_t>(task), w.id);
            if (!run.frames.is_item(task)) begin(w, static_cast<std::uint32_t>(task));
            if (!w.outbox.empty()) hold_back(w);
            if (!run.aside.empty()) run.aside[w.id].first_rule = 0;
        } else if (!run.aside.empty()) {
            put_moving(w, run.aside[w.id], q, task, from);
        } else {
            dispatcher.put(w, w.id, q, task);
        }
    }

    // As `put_into`, into a queue, for a plan in which tasks leave full queues.
    [[gnu::noinline]] void put_moving(Worker& w, Aside& aside, std::int32_t q, Task task, std::int32_t from) {
        aside.first_rule = 0;
        if (from >= 0) {
            spill(w, static_cast<std::uint32_t>(from), q, task);
        } else if (q == aside.slot && !run.queues.has_room(static_cast<std::uint32_t>(q))) {
            displace(w, aside, task);
        } else {
            dispatcher.put(w, w.id, q, task);
        }
    }

    // Put a task into the worker's full slot. The task that leaves the slot goes by the rules after the slot's rule.
    void displace(Worker& w, Aside& aside, Task task) {
        const Task older = run.queues.take(static_cast<std::uint32_t>(aside.slot), false);
        aside.first_rule = dispatcher.rule() + 1;
        dispatcher.put(w, w.id, aside.slot, task);
        if (puts_take_time_) return w.outbox.push_front(older);
        const std::int32_t q = dispatcher.choose(w, older);
        put_into(w, q, older, dispatcher.source());
    }

    // Move half of the tasks of the full queue `from`, and then `task`, to the back of queue `q`.
    void spill(Worker& w, std::uint32_t from, std::int32_t q, Task task) {
        const bool back = run.plan.steal.queues[from].full == NS_FULL_SPILL_NEWEST;
        std::vector<Task> moved(static_cast<std::size_t>(run.queues.capacity(from) / 2));
        for (Task& each : moved) each = run.queues.take(from, back);
        if (lines_ != nullptr) lines_->pop(w, from, back);
        w.owed_ps = sum_ps(w.owed_ps, product_ps(static_cast<std::int64_t>(moved.size()), run.plan.costs.move_ps));
        if (back) std::reverse(moved.begin(), moved.end());
        moved.push_back(task);
        dispatcher.put(w, w.id, q, moved.front());
        for (std::size_t at = 1; at < moved.size(); ++at) {
            run.queues.put(static_cast<std::uint32_t>(q), moved[at]);
            run.detail(PUT, w.id, run.frames.id_of(moved[at]), q);
        }
    }

    // Op WAIT: go on if every child has finished; else join in the plan's way. False: the worker has nothing to run.
    [[gnu::always_inline]] bool wait(Worker& w, Frame& frame) {
        if (frame.pending == 0) {
            pass_join(w, frame, frame.joined_ps);
            return true;
        }
        if (leaves_) frame.origin |= Frame::WAITS;
        return await(w, frame);
    }

    // Op END_GROUP: go on if every task of the group has finished; else join in the plan's way.
    [[gnu::noinline]] bool end_group(Worker& w, std::uint32_t at) {
        Groups& groups = run.frames.groups();
        Group& group = groups[groups.innermost(at)];
        if (group.members == 0) {
            pass_join(w, run.frames[at], group.gathered_ps);
            groups.end(at);
            return true;
        }
        group.gathering = leaves_;
        return await(w, run.frames[at]);
    }

    // All tasks that the task waits for have finished.
    [[gnu::always_inline]] void pass_join(Worker& w, Frame& frame, std::int64_t joined_ps) {
        if (w.idle) thief.end_idle(w);
        ++frame.at;
        frame.path_ps = std::max(frame.path_ps, joined_ps);
        w.owed_ps += run.plan.costs.wait_ps;
        if (!run.aside.empty()) run.aside[w.id].looked = w.counters.tasks;
        if (lines_ != nullptr) lines_->pass_wait(w, static_cast<std::uint32_t>(w.stack.back()));
    }

    // Let a task that has to wait join in the way of the plan (`plan.join`). False: the worker has nothing to run.
    [[gnu::always_inline]] bool await(Worker& w, Frame& frame) {
        switch (run.plan.join) {
            case Join::CONTINUATION:  // the worker that ends the last awaited task goes on with the waiting task
                ++frame.at;
                w.stack.pop_back();
                return true;
            case Join::BLOCK: return block(w);
            default: return thief.seek(w);  // other tasks run nested on the stack until the awaited tasks have finished
        }
    }

    // Join `block`: the worker sleeps until the last task that its task waits for has finished.
    [[gnu::noinline]] bool block(Worker& w) {
        sleeper_[w.stack.back()] = w.id;
        w.blocked = w.rests = true;
        w.began_ps = run.clock.now_ps() + ns_pay_owed(&w);
        w.counters.parked_ps -= w.began_ps;
        run.clock.sleep(w, w.began_ps);
        memory.tell_activity(w);
        return false;
    }

    std::unordered_map<Task, std::uint32_t> sleeper_;  // the worker of each frame that is in a blocking join
    const bool coupled_ = memory.coupled();
    const bool has_dependences_ = run.frames.have_dependences();
    const bool joins_cost_ = run.plan.costs.join_ps != 0 || run.plan.costs.line == NS_LINES_LATENCY;
    const bool inlines_ = run.plan.inlines;
    const bool counts_live_ = run.plan.counts_live;
    const bool puts_take_time_ = run.plan.puts_take_time;
    const bool leaps_ = run.plan.join == Join::LEAPFROG;
    // Whether a join takes the waiting task off the worker's stack or lets the worker sleep (no nested execution).
    const bool leaves_ = run.plan.join == Join::CONTINUATION || run.plan.join == Join::BLOCK;
    const bool has_groups_ = run.frames.groups().exist();
    QueueLines* const lines_ = lines.get();  // or nullptr
};

}  // namespace numasim
