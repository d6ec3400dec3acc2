#include "thief.hpp"

#include <algorithm>

namespace numasim {

Thief::Thief(Run& run, MemorySystem& memory, SyncObjects& sync, WorkSource& source, SkipAhead& skipping,
             Polling& polling, Sleepers& sleepers, StealBatches& batches, QueueLines* lines, Resting* resting)
    : run_(run),
      memory_(memory),
      sync_(sync),
      source_(source),
      skipping_(skipping),
      polling_(polling),
      sleepers_(sleepers),
      batches_(batches),
      lines_(lines),
      resting_(resting),
      helpers_(memory.helpers()),
      strict_(run.plan.join == Join::STRICT),
      leaps_(run.plan.join == Join::LEAPFROG),
      tracks_parent_(ns_plan_has_anchor(&run.plan.steal, NS_ANCHOR_PARENT)),
      polls_(std::any_of(run.plan.steal.level, run.plan.steal.level + run.plan.steal.steal_levels,
                         [](const ns_level& level) { return level.every != 0; })),
      breaks_(polls_ || run.plan.costs.yield_ps != 0),
      beginnings_matter_(run.plan.work_first || tracks_parent_ || leaps_ || run.plan.counts_live) {}

// `seek` goes on: the worker has a dealt task, or its own queue has no task for it.
bool Thief::seek_further(Worker& w) {
    if (run_.plan.costs.yield_ps != 0 && run_.aside[w.id].looked != w.counters.tasks) {
        run_.aside[w.id].looked = w.counters.tasks;
        w.owed_ps += run_.plan.costs.yield_ps;
    }
    if (!w.agenda.empty() && w.stack.empty()) {
        count_slot_run(w, 0);
        begin(w, w.agenda.take());
        return true;
    }
    if (polls(w) || (polls_ && is_poll_due(w))) return poll(w);
    if ((breaks_ || !w.agenda.empty()) && pop_own(w, run_.plan.refill)) return true;
    if (!w.idle) {
        go_idle(w);
        begin_search(w);
        if (resting_ != nullptr && !resting_->may_search(w)) return give_up(w);
    }
    return start_round(w);
}

// ---- slots, and polls between tasks (`every` of a level) ------------------------------------------------------------

// Count the tasks in a row that the worker has taken from its slot, and open or close the slot for new tasks.
void Thief::count_slot_run(Worker& w, std::uint32_t run) {
    if (run_.aside.empty() || run_.aside[w.id].slot == NS_UNKNOWN) return;
    Aside& aside = run_.aside[w.id];
    const std::uint32_t most = run_.plan.steal.queues[aside.slot].in_a_row;
    aside.slot_run = run;
    aside.slot_is_open = most == 0 || run < most;
}

bool Thief::pop_slot(Worker& w) {
    const std::int32_t slot = run_.aside[w.id].slot;
    if (slot == NS_UNKNOWN) return false;
    const auto q = static_cast<std::uint32_t>(slot);
    if (run_.queues.length(q) == 0 || !pop(w, q, run_.plan.steal.queues[q].own_end != 0, 0)) return false;
    count_slot_run(w, run_.aside[w.id].slot_run + 1);
    return true;
}

bool Thief::pop_behind_slot(Worker& w, std::int64_t keep) {
    if (!pop(w, static_cast<std::uint32_t>(w.own), w.own_back, keep)) return false;
    count_slot_run(w, 0);
    return true;
}

bool Thief::is_poll_due(const Worker& w) const {
    if (w.idle || (ns_joins_by_itself(&run_.plan) && joins(w))) return false;
    const std::int64_t tasks = w.counters.tasks, polled = run_.aside[w.id].polled;
    const ns_plan& plan = run_.plan.steal;
    return std::any_of(plan.level, plan.level + plan.steal_levels,
                       [=](const ns_level& level) { return ns_is_due(level.every, tasks, polled); });
}

// Probe the levels that are due: a short idle episode in which the worker does not search.
bool Thief::poll(Worker& w) {
    Aside& aside = run_.aside[w.id];
    if (!aside.polling) {
        aside.polling = true;
        run_.queues.actor(w.id).polled = aside.polled;
        run_.queues.actor(w.id).polls = aside.polled = w.counters.tasks;
        go_idle(w);
    }
    return start_round(w);
}

// The poll has found nothing: take an own task, or begin to search.
bool Thief::end_poll(Worker& w) {
    stop_polling(w);
    release_locks(w);
    if (pop_own(w, run_.plan.refill)) return true;
    begin_search(w);
    if (resting_ != nullptr && !resting_->may_search(w)) return give_up(w);
    return start_round(w);
}

// ---- idle episodes ------------------------------------------------------------------------------------------------

void Thief::go_idle(Worker& w) {
    w.idle = true;
    w.failed = w.failed_remote = 0;
    if (joins(w)) run_.joins.begin(static_cast<std::size_t>(w.stack.back()), w.id);
    memory_.tell_activity(w);
    w.began_ps = run_.clock.now_ps() + w.owed_ps;
    w.probing_before_ps = w.counters.idle_steal_ps;
}

// The idle worker begins to search.
void Thief::begin_search(Worker& w) {
    const bool first_drain = run_.plan.threshold_time == ThresholdTime::FIRST_DRAIN && !w.thresholds_known;
    if (w.own != NS_UNKNOWN) run_.queues.owner_steps(static_cast<std::uint32_t>(w.own), NS_OWNER_SEARCHES);
    if (first_drain && w.counters.tasks != 0) compute_thresholds(w);
    sleepers_.marked();
    if (resting_ != nullptr) resting_->begin_search(w);
}

void Thief::end_idle(Worker& w) {
    if (w.naps) resting_->end_nap(w);
    w.idle = w.round_goes_on = false;
    if (polls_) stop_polling(w);
    if (joins(w)) run_.joins.end(static_cast<std::size_t>(w.stack.back()));
    memory_.tell_activity(w);
    if (resting_ != nullptr) resting_->end_search(w);
    report_idle(w, w.failed, w.failed_remote);
    run_.step(POLL, w.id, w.failed, w.failed_remote);
}

// Report the worker's idle time since its last row. A wait for a lock cuts an idle episode into several rows.
void Thief::report_idle(Worker& w, std::int64_t failed, std::int64_t failed_remote) {
    const std::int64_t probing_ps = w.counters.idle_steal_ps - w.probing_before_ps;
    run_.recorder.stretch(w, Watched::IDLE, failed, failed_remote, probing_ps);
    w.probing_before_ps = w.counters.idle_steal_ps;
}

void Thief::retire(Worker& w) {
    if (resting_ != nullptr) resting_->retire(w);
    if (w.idle) {
        sleepers_.wake(w.id);
        // The pending step consists of, in this order: overhead; waits for lines at pushes, pops and joins; waits for
        // lines at probes; and `idle_ps` of a probe or of a wait. What has not happened is taken back.
        std::int64_t left_ps = w.step.due_ps() - run_.clock.now_ps();
        const std::int64_t cut_ps = std::min(left_ps, w.step.idle_ps());
        (w.step.rank() == LOOK ? w.counters.idle_steal_ps
         : w.naps              ? w.counters.asleep_ps
                               : w.counters.idle_backoff_ps) -= cut_ps;
        left_ps -= cut_ps;
        const std::int64_t thief_ps = std::min(left_ps, w.paid_thief_ps);
        const std::int64_t owner_ps = std::min(left_ps - thief_ps, w.paid_owner_ps);
        w.counters.line_thief_ps -= thief_ps;
        w.counters.line_owner_ps -= owner_ps;
        w.counters.overhead_ps -= left_ps - thief_ps - owner_ps;
        end_idle(w);
        run_.clock.clear(w.id);
    }
    run_.clock.retire(w);
    w.fails = w.owed_ps = w.owed_owner_ps = w.owed_thief_ps = 0;
}

void Thief::compute_thresholds(Worker& w) {
    const std::int64_t now_ps = run_.clock.now_ps();
    if (w.own == NS_UNKNOWN || now_ps == 0) return;
    const auto q = static_cast<std::uint32_t>(w.own);
    const ns_counters& counters = w.counters;
    const ns_measured seen{
        .capacity = run_.queues.capacity(q),
        .pushes = run_.queues.pushes(q),
        .span_ps = now_ps,
        .executed = counters.tasks,
        .busy_ps = counters.work_local_ps + counters.inflation_numa_ps + counters.inflation_contention_ps +
                   counters.inflation_smt_ps,
        .peak_sum = run_.queues.peak_sum(),
        .queues = run_.plan.steal.queue_count,
    };
    w.thresholds_known = true;
    const auto& costs = run_.plan.costs;
    run_.queues.set_thresholds(q, ns_thresholds_computed(&run_.plan.thresholds, costs.push_ps, costs.pop_ps, &seen));
}

// ---- rounds -------------------------------------------------------------------------------------------------------

// Begin a round, or go on with the round that the back-off after a probe has interrupted.
bool Thief::start_round(Worker& w) {
    if (w.naps) resting_->end_nap(w);
    if (w.round_goes_on) {
        w.round_goes_on = false;
        return next_probe(w);
    }
    if (run_.plan.locks_probes && w.owed_ps != 0) {
        run_.clock.schedule_idle(w, POLL, 0);
        return false;
    }
    w.probed = false;
    w.probes_nobody = ns_joins_by_itself(&run_.plan) && joins(w);
    tell_join(w);
    ns_round_begin(&w.round);
    return next_probe(w);
}

// In leapfrogging joins: tell the strategy whether the worker waits in a join, and from which worker it may steal.
void Thief::tell_join(const Worker& w) {
    if (!leaps_) return;
    ns_actor& actor = run_.queues.actor(w.id);
    actor.leapfrogs = true;
    actor.leaps = joins(w);
    actor.fails = w.fails;
    actor.taker = actor.leaps ? run_.taker(static_cast<std::uint32_t>(w.stack.back()), w.id) : NS_UNKNOWN;
}

// Send the next probe of the round.
inline bool Thief::next_probe(Worker& w) {
    const ns_view seen = run_.queues.view();
    if (w.probes_nobody ||
        !ns_round_next(&w.round, &run_.plan.steal, &run_.queues.actor(w.id), &seen, &w.level, &w.target)) {
        return polls(w) ? end_poll(w) : end_round(w);
    }
    w.probed = true;
    run_.plan.locks_probes ? pass_locks(w) : send_probe(w);
    return false;
}

// The round has found nothing. Begin a reserved task or a task of the own queue, or start the next round or a wait.
bool Thief::end_round(Worker& w) {
    release_locks(w);
    if (begin_reserved(w) || pop_own(w, 0)) return true;
    if (!w.probed) ns_count_empty_rounds(&run_.plan, &w, 1);
    if (w.probed && run_.plan.backoff_after_probe) return start_round(w);  // each probe has had its wait
    return back_off(w, w.probed);
}

// Wait, and then poll: decide again. The wait grows with the number of fruitless rounds. Futile polls are skipped.
bool Thief::back_off(Worker& w, bool probed) {
    ns_begin_lap(&run_.plan.steal, ++w.fails, &w.lap_begin, &run_.queues.actor(w.id).victims);
    if (w.fails % PATIENCE_ROUNDS == 0) despair();
    std::int64_t wait_ps = 0;
    if (resting_ != nullptr) {
        wait_ps = resting_->wait_ps(w, probed);
        if (wait_ps < 0) return give_up(w);
    } else {
        wait_ps = ns_backoff_wait_ps(&run_.plan.backoff, w.fails, probed);
        w.counters.idle_backoff_ps += wait_ps;
    }
    tell_join(w);
    if (sleepers_.doze(w, wait_ps)) return false;
    wait_ps += polling_.pass_over(w, wait_ps);
    if (wait_ps == 0) return start_round(w);
    run_.clock.schedule_idle(w, POLL, wait_ps);
    sleepers_.sleep(w);
    return false;
}

// The worker has come to the end of its search: it sleeps, or makes one more round before it sleeps.
bool Thief::give_up(Worker& w) { return resting_->lie_down(w) ? resting_->got_up() : start_round(w); }

// ---- probes and their locks ---------------------------------------------------------------------------------------

inline void Thief::send_probe(Worker& w) {
    if (lines_ != nullptr) {
        const bool takes = ns_level_amount(&run_.plan.steal.level[w.level], run_.queues.length(w.target)) != 0;
        lines_->probe(w, w.target, ns_takes_back(&run_.plan, w.level, w.target), takes);
    }
    const std::int64_t step_ps = ns_probe_ps(&run_.plan, &w, w.target);
    w.counters.idle_steal_ps += step_ps;
    run_.clock.schedule_idle(w, LOOK, step_ps);
}

// Release the locks that the next probe does not need. Then ask for the first missing lock (the level's lock comes
// before the queue's lock), or send the probe.
void Thief::pass_locks(Worker& w) {
    const std::int32_t needed[] = {ns_level_lock(&run_.plan, w.level, w.target), ns_probe_lock(&run_.plan, w.target)};
    std::uint32_t kept = 0;
    for (std::uint32_t at = 0; at < w.held_count; ++at) {
        const auto lock = static_cast<std::int32_t>(w.held[at]);
        if (lock == needed[0] || lock == needed[1]) {
            w.held[kept++] = w.held[at];
        } else {
            sync_.release(w.held[at], w.id);
        }
    }
    w.held_count = kept;
    for (const std::int32_t lock : needed) {
        const bool holds =
            std::find(w.held, w.held + w.held_count, static_cast<std::uint32_t>(lock)) != w.held + w.held_count;
        if (lock == NS_NO_LOCK || holds) continue;
        return request(w, static_cast<std::uint32_t>(lock));
    }
    send_probe(w);
}

void Thief::request(Worker& w, std::uint32_t lock) {
    report_idle(w, 0, 0);
    run_.clock.suspend(w);
    if (!sleepers_.request(w, lock)) sync_.request(lock, w.id, Then::SEARCH);
}

void Thief::release_locks(Worker& w) {
    for (std::uint32_t at = 0; at < w.held_count; ++at) sync_.release(w.held[at], w.id);
    w.held_count = 0;
}

// If the probe sees tasks and the queue has a lock for taking tasks, the probe takes effect once the worker has this
// lock. If another worker has the lock, the probe is fruitless.
bool Thief::look(Worker& w) {
    if (w.sleep != Sleep::AWAKE) return resting_->checked(w, w.sleep == Sleep::ANNOUNCED && can_find(w));
    const std::int64_t count = found(w);
    const std::int32_t lock = count != 0 && run_.plan.locks_search ? ns_take_lock(&run_.plan, w.target) : NS_NO_LOCK;
    if (lock == NS_NO_LOCK) return take_effect(w, count);
    if (!sync_.is_free(static_cast<std::uint32_t>(lock))) {
        if (resting_ != nullptr) resting_->missed(w, w.target);
        return take_effect(w, 0);
    }
    request(w, static_cast<std::uint32_t>(lock));
    return false;
}

// The worker has got `lock`. If a probe needs it, the worker sends the probe. If taking tasks needs it, the worker
// looks again, because other workers may have taken the tasks meanwhile.
bool Thief::lock_granted(Worker& w, std::uint32_t lock) {
    w.held[w.held_count++] = lock;
    if (static_cast<std::int32_t>(lock) != ns_take_lock(&run_.plan, w.target)) {
        pass_locks(w);
        return false;
    }
    const std::int64_t count = found(w);
    if (count == 0) sync_.release(w.held[--w.held_count], w.id);
    return take_effect(w, count);
}

// How many tasks the worker's probe takes from queue `w.target` now: none if the level's gate has closed meanwhile.
inline std::int64_t Thief::found(Worker& w) {
    if (run_.plan.counts_live) {
        const ns_view seen = run_.queues.view();
        const ns_level& level = run_.plan.steal.level[w.level];
        if (!ns_passes_gate(&run_.plan.steal, &level, static_cast<std::int32_t>(w.id), &seen)) return 0;
    }
    std::int64_t count = amount(w);
    if (count == 0 || (!strict_ && !run_.queues.has_copies())) return count;
    const bool back = ns_takes_back(&run_.plan, w.level, w.target);
    if (run_.queues.has_copies()) count = sift(w.target, back, count);
    return count != 0 && strict_ && !may_run(w, w.target, back) ? 0 : count;
}

inline std::int64_t Thief::amount(const Worker& w) const {
    if (skipping_.active()) return skipping_.holds_task(w.target);
    const ns_level& level = run_.plan.steal.level[w.level];
    const std::int64_t length = run_.queues.length(w.target), count = ns_level_amount(&level, length);
    if (count != 1 || !wants_two(w)) return count;
    return ns_level_amount(&level, length - 1) != 0 ? 2 : 1;
}

// Among the `most` tasks at one end of queue `q`, drop copies of tasks that a worker has begun elsewhere (claimed).
// Returns how many of the `most` tasks remain.
std::int64_t Thief::sift(std::uint32_t q, bool back, std::int64_t most) {
    const std::int64_t before = run_.queues.length(q), left = run_.queues.sift(q, back, most);
    if (run_.queues.length(q) != before) source_.room_made();
    return left;
}

// The worker's probe takes `count` tasks, or none.
inline bool Thief::take_effect(Worker& w, std::int64_t count) {
    const std::uint32_t q = w.target;
    if (ns_is_attempt(&run_.plan, w.level)) {
        ns_count_attempts(&run_.steals, &run_.plan, &w, q, 1, count != 0, count);
        if (count == 0) ns_count_failed(&run_.plan, &w, q, 1);
    }
    ns_actor_found(run_.queues.actors(), &run_.plan.steal, static_cast<std::int32_t>(w.id), w.level, q, count);
    if (count == 0) {
        if (!missed(w)) return false;
    } else if (skipping_.active()) {
        take_ahead(w);
        return false;
    } else {
        take(w, ns_takes_back(&run_.plan, w.level, q), count);
        if (run_.plan.refill != 0) count_pass();
    }
    return w.held_count == 0 || leave_search(w);
}

// After a fruitless probe: end the search if the join is over or a reserved task is there, else probe again or wait.
inline bool Thief::missed(Worker& w) {
    if (run_.frames.join_is_over(w) || begin_reserved(w)) return true;
    if (!run_.plan.backoff_after_probe || polls(w)) return next_probe(w);
    release_locks(w);
    w.round_goes_on = true;
    return back_off(w, true);
}

// The search has found tasks: the worker pays its overhead, then releases the locks.
bool Thief::leave_search(Worker& w) {
    if (w.owed_ps != 0) {
        run_.clock.schedule_overhead(w, PUT, 0);
        return false;
    }
    release_locks(w);
    return true;
}

// ---- steals -------------------------------------------------------------------------------------------------------

void Thief::report_steal(const Worker& w, std::int64_t count) {
    const std::int32_t owner = run_.plan.steal.queues[w.target].owner;
    const bool is_own = run_.team[static_cast<std::size_t>(owner)].own == static_cast<std::int32_t>(w.target);
    run_.recorder.row(Watched::STEAL, w.id, run_.clock.now_ps(), w.target, is_own ? owner : NS_UNKNOWN, count);
}

// Move `count` tasks. The worker begins the first; the others go to its own queue. With a refill all go to the queue.
void Thief::take(Worker& w, bool back, std::int64_t count) {
    const auto& costs = run_.plan.costs;
    const std::uint32_t q = w.target;
    if (run_.recorder.watched() && ns_is_attempt(&run_.plan, w.level)) report_steal(w, count);
    run_.step(LOOK, w.id, q, count);
    if (lines_ != nullptr) lines_->take(w, q, back);
    w.owed_ps = sum_ps(w.owed_ps, sum_ps(ns_take_ps(&run_.plan, &w, q), product_ps(count - 1, costs.move_ps)));
    count_slot_run(w, 0);
    taken_.clear();
    for (std::int64_t i = 0; i < count; ++i) taken_.push_back(run_.queues.take(q, back));
    source_.room_made();
    std::size_t kept = 0;
    if (helpers_ != nullptr && helpers_->has(w)) return exchange(w);
    if (run_.plan.refill == 0) {
        begin(w, taken_.front());
        kept = 1;
    } else {
        w.fails = 0;
        end_idle(w);
    }
    const bool puts = kept < taken_.size();
    for (; kept < taken_.size(); ++kept) run_.queues.put(static_cast<std::uint32_t>(w.own), taken_[kept]);
    if (puts && lines_ != nullptr) lines_->push(w, static_cast<std::uint32_t>(w.own));
}

// With helper threads a worker holds up to two units (tasks): one that it executes, one reserved for later. Begin the
// reserved unit, or else the first unit taken, and reserve the other unit.
void Thief::exchange(Worker& w) {
    if (w.reserved != NOTHING_RESERVED) taken_.insert(taken_.begin(), w.reserved);
    w.reserved = taken_.size() > 1 ? taken_[1] : NOTHING_RESERVED;
    begin(w, taken_.front());
    // Items have no frame. The strategy compiler makes no plan with items here, but other plans may have them.
    const bool has_frame = w.reserved != NOTHING_RESERVED && !run_.frames.is_item(w.reserved);
    helpers_->follow(w, has_frame ? &run_.frames[w.reserved] : nullptr);
}

// Begin the reserved unit. False: there is none, or the worker tries again because the probed queue still has tasks.
bool Thief::begin_reserved(Worker& w) {
    if (w.reserved == NOTHING_RESERVED) return false;
    if (w.probed && ns_level_amount(&run_.plan.steal.level[w.level], run_.queues.length(w.target)) != 0) return false;
    const Task unit = w.reserved;
    w.reserved = NOTHING_RESERVED;
    begin(w, unit);
    helpers_->follow(w, nullptr);
    return true;
}

// Take a task from queue `w.target` in a phase that skips ahead (SkipAhead).
void Thief::take_ahead(Worker& w) {
    run_.step(LOOK, w.id, w.target, 1);
    w.owed_ps += ns_take_ps(&run_.plan, &w, w.target);
    w.fails = 0;
    end_idle(w);
    skipping_.steal(w, w.target);
    batches_.after_steal();
}

// A steal has put tasks into the thief's queue, and none was begun. If each thief gets too few tasks to begin one,
// thieves may pass tasks to and fro for ever: check for this.
void Thief::count_pass() {
    if (++passes_ % PATIENCE_PASSES != 0) return;
    const std::int64_t unfinished = source_.unfinished();
    std::int64_t executed = 0;
    for (const Worker& w : run_.team) executed += w.counters.tasks;
    const bool stands = unfinished == unfinished_before_ && executed == executed_before_;
    unfinished_before_ = unfinished;
    executed_before_ = executed;
    if (stands && !is_under_way()) throw Deadlock(unfinished, run_.clock.now_ps(), true);
}

// ---- whether anything can still happen ----------------------------------------------------------------------------

// Throw Deadlock if nothing but fruitless probes can ever happen.
void Thief::despair() {
    if (source_.unfinished() != 0 && !can_go_on()) throw Deadlock(source_.unfinished(), run_.clock.now_ps());
}

// Whether something other than a search is under way: a worker is busy or can leave its join, or an item is produced.
bool Thief::is_under_way() {
    if (source_.starting() || source_.next_item_ps() != NEVER_PS) return true;
    return std::ranges::any_of(run_.team, [this](const Worker& w) {
        return run_.clock.is_busy(w) || w.reserved != NOTHING_RESERVED || run_.frames.join_is_over(w);
    });
}

bool Thief::can_go_on() {
    return is_under_way() ||
           std::any_of(run_.team.begin(), run_.team.begin() + static_cast<std::ptrdiff_t>(source_.team_size()),
                       [this](const Worker& w) { return !w.blocked && can_find(w); });
}

// Whether some round of the searching worker can bring it a task while no queue changes.
bool Thief::can_find(const Worker& w) {
    for (const std::int32_t own : {w.own, run_.slot_of(w.id)}) {
        const auto q = static_cast<std::uint32_t>(own);
        if (own == NS_UNKNOWN || run_.queues.length(q) == 0) continue;
        if (may_take(w, q, run_.plan.steal.queues[q].own_end != 0)) return true;
    }
    if (ns_joins_by_itself(&run_.plan) && joins(w)) return false;
    tell_join(w);
    struct Query {
        const Thief& thief;
        const Worker& worker;
    } query{*this, w};
    const auto finds = [](void* context, std::uint32_t level, std::uint32_t q) {
        const auto& [thief, worker] = *static_cast<const Query*>(context);
        const Plan& plan = thief.run_.plan;
        return ns_level_amount(&plan.steal.level[level], thief.run_.queues.length(q)) != 0 &&
               thief.may_take(worker, q, ns_takes_back(&plan, level, q));
    };
    const ns_view seen = run_.queues.view();
    return ns_any_within_reach(&run_.plan.steal, &run_.queues.actor(w.id), &seen, finds, &query);
}

// Whether the worker may take the task at one end of queue `q`, or drop it as the copy of a claimed task.
bool Thief::may_take(const Worker& w, std::uint32_t q, bool back) const {
    return !strict_ || run_.queues.is_claimed(q, back) || may_run(w, q, back);
}

}  // namespace numasim
