// Looking for work: own queue, rounds of probes, steals, back-off (model 4.1 to 4.4; numasim/engine/search.py).
#include <algorithm>

#include "engine.hpp"

namespace numasim {

namespace {
constexpr std::int64_t PATIENCE_ROUNDS =
    256;  // fruitless rounds in a row after which a worker asks whether any can succeed
}

// ---- own queue ----------------------------------------------------------------------------------------------------

// Take the next implicit body or own task, or start to search; false when the worker is now idle.
bool Engine::seek(Worker& w) {
    if (!w.agenda.empty() && w.stack.empty()) {
        const Task task = w.agenda.front();
        w.agenda.pop_front();
        begin(w, task);
        return true;
    }
    if (pop_own(w, plan_.refill)) return true;
    if (!w.idle) go_idle(w);
    return start_round(w);
}

// Whether the task at that end is a descendant of the one that waits: a strict join runs no others.
bool Engine::may_run(const Worker& w, std::uint32_t q, bool back) const {
    if (w.stack.empty()) return true;
    const Frame& top = frames_[static_cast<std::size_t>(w.stack.back())];
    const std::int64_t id = id_of(static_cast<Task>(queues_.peek(q, back)));
    return top.id < id && id < top.id + plan_.graph.size[top.row];
}

// ---- idle episodes ------------------------------------------------------------------------------------------------

void Engine::go_idle(Worker& w) {
    w.idle = true;
    if (flows_) tell_activity(w);
    w.failed = w.failed_remote = 0;
    w.began_ps = now_ + w.owed_ps;
    w.probing_before_ps = w.counters.idle_steal_ps;
    if (!w.thresholds_known && w.counters.tasks != 0 && plan_.threshold_time == ThresholdTime::FIRST_DRAIN)
        compute_thresholds(w);
}

void Engine::end_idle(Worker& w) {
    w.idle = w.round_goes_on = false;
    if (flows_) tell_activity(w);
    if (watch_ != nullptr) tell_idle(w, w.failed, w.failed_remote);
    record_step(POLL, w.id, w.failed, w.failed_remote);
}

// Tell of the idle time since the last row; a wait for a lock cuts an episode in pieces.
void Engine::tell_idle(Worker& w, std::int64_t failed, std::int64_t failed_remote) {
    const std::int64_t probing_ps = w.counters.idle_steal_ps - w.probing_before_ps;
    watch_->stretch(w, Watched::IDLE, now_, failed, failed_remote, probing_ps);
    w.probing_before_ps = w.counters.idle_steal_ps;
}

// Whether the nested join that an idle worker waits in has come to its end.
bool Engine::join_is_over(const Worker& w) const {
    return w.idle && !w.stack.empty() && frames_[static_cast<std::size_t>(w.stack.back())].pending == 0;
}

// S and s of the worker's queue from what it has measured so far.
void Engine::compute_thresholds(Worker& w) {
    if (w.own == NS_UNKNOWN || now_ == 0) return;
    w.thresholds_known = true;
    const auto q = static_cast<std::uint32_t>(w.own);
    const ns_measured seen{
        .capacity = queues_.capacity(q),
        .pushes = queues_.pushes(q),
        .span_ps = now_,
        .executed = w.counters.tasks,
        .busy_ps = w.counters.busy_ps(),
        .peak_sum = queues_.peak_sum(),
        .queues = queues_.count(),
    };
    queues_.set_thresholds(q,
                           ns_thresholds_computed(&plan_.thresholds, plan_.costs.push_ps, plan_.costs.pop_ps, &seen));
}

// ---- rounds -------------------------------------------------------------------------------------------------------

// Begin a round, or go on with the one that the back-off after a probe has interrupted.
bool Engine::start_round(Worker& w) {
    if (w.round_goes_on) {
        w.round_goes_on = false;
        return next_probe(w);
    }
    if (locks_search_ && w.owed_ps != 0) {
        schedule_idle(w, POLL, 0);
        return false;
    }
    w.probed = false;
    w.probes_nobody = plan_.join == Join::OWN && !w.stack.empty();
    ns_round_begin(&w.round);
    return next_probe(w);
}

// Send the next probe of the round; true where the round is over and left something to run.
bool Engine::next_probe(Worker& w) {
    const ns_view seen = view();
    if (w.probes_nobody || !ns_round_next(&w.round, &plan_.steal, &actors_[w.id], &seen, &w.level, &w.target))
        return end_round(w);
    w.probed = true;
    if (locks_search_) {
        pass_locks(w);
    } else {
        send_probe(w);
    }
    return false;
}

void Engine::send_probe(Worker& w) {
    const std::int64_t step = probe_ps(w, w.target);
    w.counters.idle_steal_ps += step;
    schedule_idle(w, LOOK, step);
}

// Nothing was found: what is left in the own queue, else wait and decide again.
bool Engine::end_round(Worker& w) {
    release_held(w);
    if (pop_own(w, 0)) return true;
    if (!w.probed) {
        ++w.counters.no_victim;
        if (plan_.backoff_counts_empty) {
            ++w.counters.steal_attempts;
            ++w.failed;
        }
    }
    if (w.probed && plan_.backoff_after_probe) return start_round(w);  // each probe has had its wait
    ++w.fails;
    return back_off(w, wait_ps(w.fails, w.probed));
}

// Poll after `wait_ps`; where nothing can be found before some time, the polls until then are passed over.
bool Engine::back_off(Worker& w, std::int64_t wait_ps) {
    w.counters.idle_backoff_ps += wait_ps;
    if (w.fails % PATIENCE_ROUNDS == 0 && outstanding_ != 0 && !can_go_on()) throw Deadlock(outstanding_, now_);
    if (queues_.total() == 0 || (plan_.sees_marks_only && !queues_.any_marked())) {
        const std::int64_t until = next_change();
        const bool known = !flows_ || !flows_->settles();  // else flows may end earlier than is known yet
        if (plan_.skip && known) wait_ps += pass_over(w, after(w.owed_ps + wait_ps), until);
    }
    if (wait_ps == 0) return start_round(w);
    schedule_idle(w, POLL, wait_ps);
    return false;
}

// ---- steals -------------------------------------------------------------------------------------------------------

// A probe takes effect: steal, or go on with the round.
void Engine::on_look(Worker& w) {
    const std::uint32_t q = w.target;
    const ns_level& level = plan_.steal.level[w.level];
    const bool attempt = is_attempt(w.level);
    const bool back = probe_back(w.level, q);
    std::int64_t count =
        ahead_ != nullptr ? ahead_->holds_task(owner_of(q), now_) : ns_level_amount(&level, queues_.length(q));
    if (count != 0 && strict_ && !may_run(w, q, back)) count = 0;
    if (attempt) count_attempt(w, q, count);
    ns_actor_found(actors_.data(), &plan_.steal, static_cast<std::int32_t>(w.id), w.level, q, count);
    if (count != 0 && ahead_ != nullptr) {
        return take_ahead(w, q);
    } else if (count != 0) {
        take(w, q, back, count);
    } else if (!missed(w)) {
        return;
    }
    if (!w.held.empty()) return leave_search(w);
    proceed(w);
}

bool Engine::probe_back(std::uint32_t level, std::uint32_t q) const {
    const ns_queue& queue = plan_.steal.queues[q];
    return (is_attempt(level) ? queue.steal_end : queue.own_end) != 0;
}

void Engine::count_attempt(Worker& w, std::uint32_t q, std::int64_t count) {
    count_attempts(w, q, 1, count != 0, count);
    if (count != 0) {
        if (watch_ != nullptr) watch_->tell(Watched::STEAL, w.id, now_, now_, q, victim(q), count);
        return;
    }
    ++w.failed;
    w.failed_remote += is_remote(w, q);
}

void Engine::count_attempts(Worker& w, std::uint32_t q, std::int64_t attempts, std::int64_t successes,
                            std::int64_t tasks) {
    const bool remote = is_remote(w, q);
    const std::int32_t home = remote ? plan_.steal.queues[q].home : w.node;
    const std::size_t pair = static_cast<std::size_t>(w.node) * plan_.nodes + static_cast<std::size_t>(home);
    Counters& counters = w.counters;
    node_attempts_[pair] += attempts;
    node_success_[pair] += successes;
    counters.steal_attempts += attempts;
    counters.steal_success += successes;
    counters.steal_attempts_remote += remote ? attempts : 0;
    counters.steal_success_remote += remote ? successes : 0;
    counters.tasks_stolen += tasks;
}

// Move `count` tasks: the first is begun, the others go to the own queue (with refill, all do).
void Engine::take(Worker& w, std::uint32_t q, bool back, std::int64_t count) {
    record_step(LOOK, w.id, q, count);
    w.owed_ps = sum_ps(w.owed_ps, sum_ps(take_ps(w, q), product_ps(count - 1, plan_.costs.move_ps)));
    taken_.clear();
    for (std::int64_t i = 0; i < count; ++i) taken_.push_back(static_cast<Task>(take_from(q, back)));
    room_made();
    std::size_t kept = 0;
    if (plan_.refill == 0) {
        begin(w, taken_.front());
        kept = 1;
    } else {
        w.fails = 0;
        end_idle(w);
    }
    for (; kept < taken_.size(); ++kept) push(static_cast<std::uint32_t>(w.own), taken_[kept]);
}

// The worker whose own queue `q` is, or -1.
std::int64_t Engine::victim(std::uint32_t q) const {
    const std::int32_t owner = plan_.steal.queues[q].owner;
    return workers_[static_cast<std::size_t>(owner)].own == static_cast<std::int32_t>(q) ? owner : -1;
}

// After a fruitless probe: whether the worker has something to run.
bool Engine::missed(Worker& w) {
    if (join_is_over(w)) return true;
    if (plan_.backoff_after_probe) {
        release_held(w);
        ++w.fails;
        w.round_goes_on = true;
        return back_off(w, wait_ps(w.fails, true));
    }
    return next_probe(w);
}

std::int64_t Engine::wait_ps(std::int64_t fails, bool probed) const {
    return ns_backoff_wait_ps(&plan_.backoff, fails, probed);
}

bool Engine::is_remote(const Worker& w, std::uint32_t q) const {
    const std::int32_t home = plan_.steal.queues[q].home;
    return home >= 0 && home != w.node;
}

// Time from sending a probe of queue `q` to its taking effect.
std::int64_t Engine::probe_ps(const Worker& w, std::uint32_t q) const {
    std::int64_t step = is_remote(w, q) ? plan_.costs.probe_far_ps : plan_.costs.probe_near_ps;
    if (plan_.costs.line)
        step +=
            plan_.line_ps[std::size_t{w.id} * plan_.workers + static_cast<std::size_t>(plan_.steal.queues[q].owner)];
    return std::max(plan_.costs.least_probe_ps, step);
}

// Overhead of taking the first task of queue `q`.
std::int64_t Engine::take_ps(const Worker& w, std::uint32_t q) const {
    if (!plan_.costs.line) return plan_.costs.take_ps;
    return plan_.costs.take_ps +
           plan_.line_ps[std::size_t{w.id} * plan_.workers + static_cast<std::size_t>(plan_.steal.queues[q].owner)];
}

}  // namespace numasim
