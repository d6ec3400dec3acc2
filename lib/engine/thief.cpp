#include "thief.hpp"

#include <algorithm>

namespace numasim {

namespace {

bool any_anchor(const ns_plan& steal, ns_anchor anchor) {
    return std::any_of(steal.level, steal.level + steal.steal_levels,
                       [anchor](const ns_level& level) { return level.anchor == anchor; });
}

}  // namespace

Thief::Thief(Run& given, MemorySystem& memory, SyncObjects& sync_objects, WorkSource& work_source,
             SkipAhead& skip_ahead, Polling& rounds, Sleepers& sleeping, StealBatches& batches)
    : ns_search{&given.plan, given.queues.core(), given.queues.actors(), given.steals, 0, 0, 0},
      run(given),
      sync(sync_objects),
      source(work_source),
      skipping(skip_ahead),
      polling(rounds),
      sleepers(sleeping),
      memory_(memory),
      batches_(batches),
      helpers_(memory.helpers()),
      tracks_parent_(any_anchor(plan->steal, NS_ANCHOR_PARENT)),
      leaps_(plan->join == NS_JOIN_LEAPFROG),
      beginnings_matter_(plan->work_first || tracks_parent_ || leaps_ || plan->counts_live) {}

// It has a task that it begins before it looks into its queue, or nothing in that.
bool Thief::seek_further(Worker& w) {
    if (!w.agenda.empty()) {
        if (!w.stack.empty()) {
            if (ns_pop_own(this, &w, plan->refill)) return true;
        } else {
            begin(w, w.agenda.take());
            return true;
        }
    }
    if (!w.idle) go_idle(w);
    return start_round(w);
}

bool Thief::start_round(Worker& w) { return ns_start_round(this, &w); }

bool Thief::look(Worker& w) { return ns_look(this, &w); }

// ---- idle episodes ------------------------------------------------------------------------------------------------

void Thief::go_idle(Worker& w) {
    ns_go_idle(this, &w, run.clock.now_ps());
    if (!w.stack.empty()) run.joins.begin(static_cast<std::size_t>(w.stack.back()), w.id);
    sleepers.marked();
    memory_.tell_activity(w);
    w.began_ps = run.clock.now_ps() + w.owed_ps;
    w.probing_before_ps = w.counters.idle_steal_ps;
}

void Thief::end_idle(Worker& w) {
    w.idle = w.round_goes_on = false;
    if (!w.stack.empty()) run.joins.end(static_cast<std::size_t>(w.stack.back()));
    memory_.tell_activity(w);
    report_idle(w, w.failed, w.failed_remote);
    run.step(POLL, w.id, w.failed, w.failed_remote);
}

void Thief::report_idle(Worker& w, std::int64_t failed, std::int64_t failed_remote) {
    const std::int64_t probing_ps = w.counters.idle_steal_ps - w.probing_before_ps;
    run.recorder.stretch(w, Watched::IDLE, failed, failed_remote, probing_ps);
    w.probing_before_ps = w.counters.idle_steal_ps;
}

void Thief::retire(Worker& w) {
    if (w.idle) {
        sleepers.wake(w.id);
        ns_take_back(&w, w.step.rank(), w.step.due_ps() - run.clock.now_ps(), w.step.idle_ps());
        end_idle(w);
        run.clock.clear(w.id);
    }
    run.clock.retire(w);
    w.fails = w.owed_ps = 0;
}

// ---- steals -------------------------------------------------------------------------------------------------------

void Thief::report_steal(const Worker& w, std::int64_t count) {
    const std::int32_t owner = plan->steal.queues[w.target].owner;
    const bool is_own = run.team[static_cast<std::size_t>(owner)].own == static_cast<std::int32_t>(w.target);
    run.recorder.row(Watched::STEAL, w.id, run.clock.now_ps(), w.target, is_own ? owner : NS_UNKNOWN, count);
}

void Thief::take(Worker& w, bool back, std::int64_t count) {
    const std::uint32_t q = w.target;
    if (run.recorder.watch() != nullptr && ns_is_attempt(plan, w.level)) report_steal(w, count);
    run.step(LOOK, w.id, q, count);
    w.owed_ps = sum_ps(w.owed_ps, sum_ps(ns_take_ps(plan, &w, q), product_ps(count - 1, plan->costs.move_ps)));
    taken_.clear();
    for (std::int64_t i = 0; i < count; ++i) taken_.push_back(run.queues.take(q, back));
    source.room_made();
    std::size_t kept = 0;
    if (helpers_ != nullptr && helpers_->has(w)) return exchange(w);
    if (plan->refill == 0) {
        begin(w, taken_.front());
        kept = 1;
    } else {
        w.fails = 0;
        end_idle(w);
    }
    for (; kept < taken_.size(); ++kept) run.queues.put(static_cast<std::uint32_t>(w.own), taken_[kept]);
}

// Begin the unit that the worker holds, else the first one taken, and hold the last one.
void Thief::exchange(Worker& w) {
    if (w.reserved != NOTHING_RESERVED) taken_.insert(taken_.begin(), w.reserved);
    w.reserved = taken_.size() > 1 ? taken_[1] : NOTHING_RESERVED;
    begin(w, taken_.front());
    helpers_->follow(w, w.reserved != NOTHING_RESERVED ? &run.frames[w.reserved] : nullptr);
}

bool Thief::begin_reserved(Worker& w) {
    if (w.reserved == NOTHING_RESERVED) return false;
    // it insists on a queue whose lock somebody else has
    if (w.probed && ns_level_amount(&plan->steal.level[w.level], queues->length[w.target]) != 0) return false;
    const Task unit = w.reserved;
    w.reserved = NOTHING_RESERVED;
    begin(w, unit);
    helpers_->follow(w, nullptr);
    return true;
}

void Thief::take_ahead(Worker& w) {
    run.step(LOOK, w.id, w.target, 1);
    w.owed_ps += ns_take_ps(plan, &w, w.target);
    w.fails = 0;
    end_idle(w);
    skipping.steal(w, w.target);
    batches_.after_steal();
}

// ---- whether anything can still happen ----------------------------------------------------------------------------

void Thief::despair() {
    if (source.unfinished() != 0 && !can_go_on()) throw Deadlock(source.unfinished(), run.clock.now_ps());
}

bool Thief::is_under_way() {
    if (source.starting() || source.next_item_ps() != NEVER_PS) return true;
    const auto works = [this](const Worker& w) {
        return run.clock.is_busy(w) || w.reserved != NOTHING_RESERVED || run.frames.join_is_over(w);
    };
    return std::any_of(run.team.begin(), run.team.end(), works);
}

bool Thief::can_go_on() {
    return is_under_way() ||
           std::any_of(run.team.begin(), run.team.begin() + static_cast<std::ptrdiff_t>(source.team_size()),
                       [this](const Worker& w) { return !w.blocked && ns_can_find(this, &w); });
}

std::int64_t Thief::executed() const {
    std::int64_t tasks = 0;
    for (const Worker& w : run.team) tasks += w.counters.tasks;
    return tasks;
}

void Thief::give_up() const { throw Deadlock(source.unfinished(), run.clock.now_ps(), true); }

}  // namespace numasim
