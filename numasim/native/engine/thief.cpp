#include "engine/thief.hpp"

#include <algorithm>

namespace numasim {

namespace {

constexpr std::int64_t PATIENCE_ROUNDS =
    256;  // fruitless rounds in a row after which a worker asks whether any can succeed

bool any_anchor(const ns_plan& steal, ns_anchor anchor) {
    return std::any_of(steal.level, steal.level + steal.steal_levels,
                       [anchor](const ns_level& level) { return level.anchor == anchor; });
}

}  // namespace

Thief::Thief(Run& run, MemorySystem& memory, SyncObjects& sync, WorkSource& source, Probes& probes, SkipAhead& skipping,
             Polling& polling, StealBatches& batches)
    : run_(run),
      memory_(memory),
      sync_(sync),
      source_(source),
      probes_(probes),
      skipping_(skipping),
      polling_(polling),
      batches_(batches),
      tracks_parent_(any_anchor(run.plan.steal, NS_ANCHOR_PARENT)),
      begins_cost_(run.plan.work_first || tracks_parent_),
      locks_search_(sync.lock_searches()) {}

// ---- own queue ----------------------------------------------------------------------------------------------------

bool Thief::seek(Worker& w) {
    if (!w.agenda.empty() && w.stack.empty()) {
        const Task task = w.agenda.front();
        w.agenda.pop_front();
        begin(w, task);
        return true;
    }
    if (pop_own(w, run_.plan.refill)) return true;
    if (!w.idle) go_idle(w);
    return start_round(w);
}

// ---- idle episodes ------------------------------------------------------------------------------------------------

void Thief::go_idle(Worker& w) {
    w.idle = true;
    memory_.tell_activity(w);
    w.failed = w.failed_remote = 0;
    w.began_ps = run_.clock.now_ps() + w.owed_ps;
    w.probing_before_ps = w.counters.idle_steal_ps;
    if (!w.thresholds_known && w.counters.tasks != 0 && run_.plan.threshold_time == ThresholdTime::FIRST_DRAIN)
        compute_thresholds(w);
}

void Thief::end_idle(Worker& w) {
    w.idle = w.round_goes_on = false;
    memory_.tell_activity(w);
    report_idle(w, w.failed, w.failed_remote);
    run_.recorder.step(POLL, w.id, w.failed, w.failed_remote);
}

// Report the idle time since the last row; a wait for a lock cuts an episode in pieces.
void Thief::report_idle(Worker& w, std::int64_t failed, std::int64_t failed_remote) {
    const std::int64_t probing_ps = w.counters.idle_steal_ps - w.probing_before_ps;
    run_.recorder.stretch(w, Watched::IDLE, failed, failed_remote, probing_ps);
    w.probing_before_ps = w.counters.idle_steal_ps;
}

// S and s of the worker's queue from what it has measured so far.
void Thief::compute_thresholds(Worker& w) {
    if (w.own == NS_UNKNOWN || run_.clock.now_ps() == 0) return;
    w.thresholds_known = true;
    const auto q = static_cast<std::uint32_t>(w.own);
    const Queues& queues = run_.queues.contents();
    const ns_measured seen{
        .capacity = queues.capacity(q),
        .pushes = queues.pushes(q),
        .span_ps = run_.clock.now_ps(),
        .executed = w.counters.tasks,
        .busy_ps = w.counters.busy_ps(),
        .peak_sum = queues.peak_sum(),
        .queues = queues.count(),
    };
    run_.queues.set_thresholds(
        q, ns_thresholds_computed(&run_.plan.thresholds, run_.plan.costs.push_ps, run_.plan.costs.pop_ps, &seen));
}

// Nothing of the worker is pending any more; what of its probe or wait lies behind the end of the phase is uncounted.
void Thief::retire(Worker& w) {
    if (w.idle) {
        const std::int64_t left_ps = w.step.due_ps() - run_.clock.now_ps(),
                           cut_ps = std::min(left_ps, w.step.idle_ps());
        w.step.rank() == LOOK ? w.counters.add_probing(-cut_ps) : w.counters.add_backoff(-cut_ps);
        w.counters.add_overhead(cut_ps - left_ps);
        end_idle(w);
        run_.clock.clear(w.id);
    }
    run_.clock.retire(w);
    w.fails = w.owed_ps = 0;
}

// ---- rounds -------------------------------------------------------------------------------------------------------

// Begin a round, or go on with the one that the back-off after a probe has interrupted.
bool Thief::start_round(Worker& w) {
    if (w.round_goes_on) {
        w.round_goes_on = false;
        return next_probe(w);
    }
    if (locks_search_ && w.owed_ps != 0) {
        run_.clock.schedule_idle(w, POLL, 0);
        return false;
    }
    w.probed = false;
    w.probes_nobody = run_.plan.join == Join::OWN && !w.stack.empty();
    ns_round_begin(&w.round);
    return next_probe(w);
}

// Send the next probe of the round; true where the round is over and left something to run.
bool Thief::next_probe(Worker& w) {
    const ns_view seen = run_.queues.view();
    if (w.probes_nobody ||
        !ns_round_next(&w.round, &run_.plan.steal, &run_.queues.actor(w.id), &seen, &w.level, &w.target))
        return end_round(w);
    w.probed = true;
    if (locks_search_) {
        pass_locks(w);
    } else {
        send_probe(w);
    }
    return false;
}

void Thief::send_probe(Worker& w) {
    const std::int64_t step_ps = probes_.probe_ps(w, w.target);
    w.counters.add_probing(step_ps);
    run_.clock.schedule_idle(w, LOOK, step_ps);
}

// Nothing was found: what is left in the own queue, else wait and decide again.
bool Thief::end_round(Worker& w) {
    release_locks(w);
    if (pop_own(w, 0)) return true;
    if (!w.probed) probes_.count_no_victim(w, 1);
    if (w.probed && run_.plan.backoff_after_probe) return start_round(w);  // each probe has had its wait
    ++w.fails;
    return back_off(w, probes_.backoff_ps(w.fails, w.probed));
}

// Poll after `wait_ps`; where nothing can be found before some time, the polls until then are passed over.
bool Thief::back_off(Worker& w, std::int64_t wait_ps) {
    w.counters.add_backoff(wait_ps);
    if (w.fails % PATIENCE_ROUNDS == 0 && source_.unfinished() != 0 && !polling_.can_go_on())
        throw Deadlock(source_.unfinished(), run_.clock.now_ps());
    wait_ps += polling_.pass_over(w, wait_ps);
    if (wait_ps == 0) return start_round(w);
    run_.clock.schedule_idle(w, POLL, wait_ps);
    return false;
}

// ---- steals -------------------------------------------------------------------------------------------------------

bool Thief::look(Worker& w) {
    const std::uint32_t q = w.target;
    const ns_level& level = run_.plan.steal.level[w.level];
    const bool back = probes_.takes_back(w.level, q);
    std::int64_t count = skipping_.active() ? skipping_.holds_task(q) : ns_level_amount(&level, run_.queues.length(q));
    if (count != 0 && run_.frames.strict() && !run_.frames.may_run(w, run_.queues.peek(q, back))) count = 0;
    if (probes_.is_attempt(w.level)) probes_.count(w, q, count);
    ns_actor_found(run_.queues.actors(), &run_.plan.steal, static_cast<std::int32_t>(w.id), w.level, q, count);
    if (count != 0 && skipping_.active()) {
        take_ahead(w, q);
        return false;
    }
    if (count != 0) {
        take(w, q, back, count);
    } else if (!missed(w)) {
        return false;
    }
    return w.held.empty() || leave_search(w);
}

// Move `count` tasks: the first is begun, the others go to the own queue (with refill, all do).
void Thief::take(Worker& w, std::uint32_t q, bool back, std::int64_t count) {
    run_.recorder.step(LOOK, w.id, q, count);
    w.owed_ps = sum_ps(w.owed_ps, sum_ps(probes_.take_ps(w, q), product_ps(count - 1, run_.plan.costs.move_ps)));
    taken_.clear();
    for (std::int64_t i = 0; i < count; ++i) taken_.push_back(run_.queues.take(q, back));
    source_.room_made();
    std::size_t kept = 0;
    if (run_.plan.refill == 0) {
        begin(w, taken_.front());
        kept = 1;
    } else {
        w.fails = 0;
        end_idle(w);
    }
    for (; kept < taken_.size(); ++kept) run_.queues.put(static_cast<std::uint32_t>(w.own), taken_[kept]);
}

// The same in a phase that is skipped over.
void Thief::take_ahead(Worker& w, std::uint32_t q) {
    run_.recorder.step(LOOK, w.id, q, 1);
    w.owed_ps += probes_.take_ps(w, q);
    w.fails = 0;
    end_idle(w);
    skipping_.steal(w, q);
    batches_.after_steal();
}

// After a fruitless probe: whether the worker has something to run.
bool Thief::missed(Worker& w) {
    if (run_.frames.join_is_over(w)) return true;
    if (run_.plan.backoff_after_probe) {
        release_locks(w);
        ++w.fails;
        w.round_goes_on = true;
        return back_off(w, probes_.backoff_ps(w.fails, true));
    }
    return next_probe(w);
}

// ---- locks of the search ------------------------------------------------------------------------------------------

void Thief::lock_granted(Worker& w, std::uint32_t lock) {
    w.held.push_back(lock);
    pass_locks(w);
}

// Take the locks of the next probe, that of its level first, and send it; let go of those of the last one.
void Thief::pass_locks(Worker& w) {
    const std::int32_t needed[] = {sync_.level_lock(w.level, w.target),
                                   sync_.queue_lock(static_cast<std::int32_t>(w.target))};
    for (std::size_t i = 0; i < w.held.size();) {
        const auto word = w.held[i];
        if (std::find(std::begin(needed), std::end(needed), static_cast<std::int32_t>(word)) == std::end(needed)) {
            w.held.erase(w.held.begin() + static_cast<std::ptrdiff_t>(i));
            sync_.release(word, w.id);
        } else {
            ++i;
        }
    }
    for (const std::int32_t lock : needed) {
        const auto word = static_cast<std::uint32_t>(lock);
        if (lock == NO_LOCK || std::find(w.held.begin(), w.held.end(), word) != w.held.end()) continue;
        report_idle(w, 0, 0);
        run_.clock.suspend(w);
        return sync_.request(word, w.id, Then::SEARCH);
    }
    send_probe(w);
}

void Thief::release_locks(Worker& w) {
    for (const std::uint32_t word : w.held) sync_.release(word, w.id);
    w.held.clear();
}

// Something was found: pay for it, then let go of the locks; true where nothing is to be paid.
bool Thief::leave_search(Worker& w) {
    if (w.owed_ps != 0) {
        run_.clock.schedule_overhead(w, PUT, 0);
        return false;
    }
    release_locks(w);
    return true;
}

}  // namespace numasim
