#include "resting.hpp"

#include <algorithm>
#include <bit>

#include "base/bitset.h"
#include "execution/worker_state.h"

namespace numasim {

namespace {

constexpr std::int64_t NO_TASK = -1;  // in place of a task in the record of a worker that wakes
constexpr std::int64_t MOST_GROWTH = 62;

}  // namespace

Resting::Resting(Run& run, MemorySystem& memory, QueueLines* lines)
    : run_(run),
      memory_(memory),
      lines_(lines),
      rule_(run.plan.idle),
      sleeps_in_joins_(run.plan.join != Join::OWN && run.plan.join != Join::STRICT && run.plan.join != Join::LEAPFROG),
      counts_(std::ranges::any_of(rule_.phases, &ns_idle_phase::crowded) ||
              (rule_.sleeps && (rule_.cap != 0 || rule_.at == NS_WAKE_NO_SEARCHER || rule_.at == NS_WAKE_UNCOVERED ||
                                rule_.chain_by == NS_CHAIN_LAST_SEARCHER))),
      searching_(ns_set_words(run.plan.workers), 0),
      covering_(searching_),
      rests_(run.plan.workers) {
    const std::uint32_t workers = run_.plan.workers, queues = run_.plan.steal.queue_count;
    const Takers nobody{searching_, searching_};
    everybody_ = nobody;
    for (std::uint32_t w = 0; w < workers; ++w) put(everybody_, w, NS_REACH_ALWAYS);
    for (std::size_t at = 0; at < rule_.reach.size(); ++at) {
        const std::size_t level = at / workers / queues, q = at / workers % queues;
        if (level == takers_.size()) takers_.emplace_back(queues, nobody);
        put(takers_[level][q], static_cast<std::uint32_t>(at % workers), rule_.reach[at]);
    }
}

void Resting::put(Takers& takers, std::uint32_t worker, std::uint8_t reach) {
    ns_set_put(takers.sure.data(), worker, reach == NS_REACH_ALWAYS);
    ns_set_put(takers.now.data(), worker, reach != NS_REACH_NEVER);
}

void Resting::add(Set& to, const Set& some) {
    for (std::size_t word = 0; word < to.size(); ++word) to[word] |= some[word];
}

bool Resting::meet(const Set& one, const Set& other) {
    for (std::size_t word = 0; word < one.size(); ++word) {
        if ((one[word] & other[word]) != 0) return true;
    }
    return false;
}

// ---- searching ----------------------------------------------------------------------------------------------------

void Resting::begin_search(Worker& w) {
    rest(w).pushes_seen = -1;
    rest(w).timeouts = 0;
    if (!may_sleep(w) || has_room() || keeps_tasks(w)) join(w);
}

bool Resting::keeps_tasks(const Worker& w) const {
    return w.reserved != NOTHING_RESERVED ||
           (w.own != NS_UNKNOWN && run_.queues.length(static_cast<std::uint32_t>(w.own)) != 0);
}

bool Resting::has_room() const {
    if (rule_.cap == 0) return true;
    const auto searchers = static_cast<std::int64_t>(searchers_);
    const auto some = [&]() -> std::ptrdiff_t {
        switch (rule_.cap_of) {
            case NS_CAP_COUNT: break;
            case NS_CAP_SHARE: return static_cast<std::ptrdiff_t>(run_.team.size());
            case NS_CAP_BUSY_SHARE: return std::ranges::count_if(run_.team, [](const Worker& w) { return !w.idle; });
        }
        return rule_.cap;
    }();
    return rule_.cap_of == NS_CAP_COUNT ? searchers < some : product_ps(rule_.cap, searchers) < some;
}

void Resting::join(Worker& w) {
    if (may_search(w)) return;
    set_searching(w, true);
    write_pool(w);
}

void Resting::leave(Worker& w) {
    set_searching(w, false);
    write_pool(w);
}

void Resting::set_searching(const Worker& w, bool searches) {
    if (may_search(w) == searches) return;
    ns_set_put(searching_.data(), w.id, searches);
    ns_set_put(covering_.data(), w.id, searches && !is_bound(w));
    searchers_ += searches ? 1 : -std::size_t{1};
}

// The workers that can take a task from queue `q`. Valid until the next call.
const Resting::Takers& Resting::takers_of(std::uint32_t q) {
    if (takers_.empty()) return everybody_;
    const ns_plan& steal = run_.plan.steal;
    const ns_view seen = run_.queues.view();
    Takers& takers = found_;
    takers = takers_[0][q];
    for (std::uint32_t at = 0; at + 1 < takers_.size(); ++at) {
        const ns_level& level = steal.level[at];
        if (!ns_in_force(&level, &seen)) continue;
        add(takers.sure, takers_[at + 1][q].sure);
        if (!ns_level_opens(&steal, &level, &seen, q)) continue;
        Set now = takers_[at + 1][q].now;
        for (std::uint32_t w = 0; (level.flags & NS_FLAG_GATED) != 0 && w < run_.plan.workers; ++w) {
            if (!ns_passes_gate(&steal, &level, static_cast<std::int32_t>(w), &seen)) ns_set_put(now.data(), w, false);
        }
        add(takers.now, now);
    }
    add(takers.now, takers.sure);
    return takers;
}

// Whether the worker can take a task from queue `q`: a steal level names the queue for the worker, or it owns `q`.
bool Resting::can_take(std::uint32_t q, std::uint32_t worker) const {
    return takers_.empty() || std::ranges::any_of(takers_, [&](const auto& by) { return has(by[q].now, worker); });
}

// `takers.sure` if one of these workers sleeps, else `takers.now`.
const Resting::Set& Resting::who_can_cover(const Takers& takers) const {
    const bool sleeps = std::ranges::any_of(sleepers_, [&](std::uint32_t w) { return has(takers.sure, w); });
    return sleeps ? takers.sure : takers.now;
}

// The takers of each queue that has tasks and from which no searching worker is sure to take. Queues with the same
// takers count once. If every worker takes from all queues, all workers.
std::vector<Resting::Takers> Resting::uncovered() {
    if (takers_.empty()) return searchers_ == 0 ? std::vector{everybody_} : std::vector<Takers>{};
    std::vector<Takers> found;
    for (std::uint32_t q = 0; q < run_.plan.steal.queue_count; ++q) {
        if (run_.queues.length(q) == 0) continue;
        const Takers& takers = takers_of(q);
        const auto equal = [&](const Takers& other) { return who_can_cover(other) == who_can_cover(takers); };
        if (!cover(takers) && std::ranges::none_of(found, equal)) found.push_back(takers);
    }
    return found;
}

// The worker has found a task, or its join has ended. The worker may wake sleeping workers.
void Resting::end_search(Worker& w) {
    if (!may_search(w)) return;
    leave(w);
    w.woken = false;
    if (rule_.chain_by == NS_CHAIN_WOKEN || sleepers_.empty()) return;
    const std::vector<Takers> idle = uncovered();
    for (const Takers& takers : idle) wake_some(w, takers, rule_.chain);
    if (idle.empty() && rule_.chain_by == NS_CHAIN_FINDER) wake_some(w, everybody_, rule_.chain);
}

// ---- phases of rounds ---------------------------------------------------------------------------------------------

std::int64_t Resting::wait_ps(Worker& w, bool probed) {
    const ns_idle_phase* phase = phase_of(w);
    if (phase == nullptr && may_sleep(w)) return -1;
    if (phase == nullptr && !rule_.phases.empty()) phase = &rule_.phases.back();
    std::int64_t wait_ps = 0;
    if (phase == nullptr) {
        wait_ps = ns_backoff_wait_ps(&run_.plan.backoff, w.fails, probed);
    } else {
        wait_ps = phase->crowded ? product_ps(phase->wait_ps, crowding()) : phase->wait_ps;
        if (!probed) wait_ps = std::max(wait_ps, run_.plan.backoff.scan_ps);
    }
    if (phase != nullptr && phase->naps && wait_ps != 0) {
        w.naps = w.rests = true;
        memory_.tell_activity(w);
        report_idle(w);
        w.counters.asleep_ps += wait_ps;
    } else {
        w.counters.idle_backoff_ps += wait_ps;
    }
    return wait_ps;
}

// The phase of fruitless rounds that the worker's last round belongs to, or nullptr if all such phases are over.
const ns_idle_phase* Resting::phase_of(Worker& w) {
    if (w.fails == 1) rest(w).phase = rest(w).phase_rounds = 0;
    const std::int64_t now_ps = run_.clock.now_ps();
    for (; rest(w).phase < static_cast<std::int64_t>(rule_.phases.size()); ++rest(w).phase, rest(w).phase_rounds = 0) {
        const ns_idle_phase& phase = rule_.phases[static_cast<std::size_t>(rest(w).phase)];
        if (rest(w).phase_rounds == 0) rest(w).phase_began_ps = now_ps;
        const bool lasts = now_ps - rest(w).phase_began_ps < phase.for_ps || rest(w).phase_rounds == 0;
        if (phase.rounds != 0 ? rest(w).phase_rounds < phase.rounds : lasts) {
            ++rest(w).phase_rounds;
            return &phase;
        }
    }
    return nullptr;
}

// S / log2(S) for S searching workers. The logarithm and the quotient are rounded down, and each is at least 1.
std::int64_t Resting::crowding() const {
    const auto searchers = static_cast<std::int64_t>(searchers_);
    const auto bits = static_cast<std::int64_t>(std::bit_width(searchers_));
    return std::max<std::int64_t>(1, searchers / std::max<std::int64_t>(1, bits - 1));
}

// The timer of a worker's nap has gone off, or the program's phase has ended during the nap.
void Resting::end_nap(Worker& w) {
    w.naps = w.rests = false;
    memory_.tell_activity(w);
    w.began_ps = w.step.due_ps() - w.step.idle_ps();
    report_sleep(w);
}

// Report the worker's idle time until now: a search that a sleep interrupts, or a sleep that ends now.
void Resting::report_idle(Worker& w) {
    run_.recorder.stretch(w, Watched::IDLE, 0, 0, w.counters.idle_steal_ps - w.probing_before_ps);
    w.probing_before_ps = w.counters.idle_steal_ps;
}

void Resting::report_sleep(Worker& w) {
    run_.recorder.stretch(w, Watched::PARKED);
    w.began_ps = run_.clock.now_ps();
}

// ---- falling asleep -----------------------------------------------------------------------------------------------

bool Resting::lie_down(Worker& w) {
    const bool searched = may_search(w);
    got_up_ = false;
    if (rule_.recheck == NS_RECHECK_EVENTS && searched && rest(w).pushes_seen != pushes_) {
        rest(w).pushes_seen = pushes_;
        return false;
    }
    if (searched) leave(w);
    w.sleep = Sleep::ANNOUNCED;
    sleepers_.push_back(w.id);
    tell_queue(w.id, true);
    const bool last = searched && searchers_ == 0;
    switch (rule_.recheck) {
        case NS_RECHECK_LAST:
            if (!last && takers_.empty()) break;
            [[fallthrough]];
        case NS_RECHECK_EACH: look_again(w); return true;
        case NS_RECHECK_EVENTS:
        case NS_RECHECK_NONE: break;
    }
    got_up_ = settle(w);
    return true;
}

// Probe every queue from which the worker can take, one after the other, in one step.
void Resting::look_again(Worker& w) {
    std::int64_t step_ps = 0;
    for (std::uint32_t q = 0; q < run_.plan.steal.queue_count; ++q) {
        if (static_cast<std::int32_t>(q) == w.own || !can_take(q, w.id)) continue;
        if (lines_ != nullptr) lines_->glance(w, q);
        step_ps += ns_probe_ps(&run_.plan, &w, q);
    }
    w.counters.idle_steal_ps += step_ps;
    run_.clock.schedule_idle(w, LOOK, step_ps);
}

bool Resting::checked(Worker& w, bool finds) {
    if (w.sleep != Sleep::ANNOUNCED || !finds) return settle(w);
    forget(w.id);
    get_up(w);
    return true;
}

void Resting::forget(std::uint32_t worker) {
    if (std::erase(sleepers_, worker) != 0) tell_queue(worker, false);
}

// Levels with the condition `awake` leave the worker's queue and slot out while the worker is among the sleepers.
void Resting::tell_queue(std::uint32_t worker, bool sleeps) {
    for (const std::int32_t q : {run_.team[worker].own, run_.slot_of(worker)}) {
        if (q != NS_UNKNOWN) run_.queues.owner_sleeps(static_cast<std::uint32_t>(q), sleeps);
    }
}

bool Resting::settle(Worker& w) {
    if (w.sleep == Sleep::CALLED || run_.frames.join_is_over(w)) {
        forget(w.id);
        get_up(w);
        return true;
    }
    w.owed_ps != 0 ? run_.clock.schedule_idle(w, POLL, 0) : fall_asleep(w);
    return false;
}

void Resting::fall_asleep(Worker& w) {
    const std::int64_t now_ps = run_.clock.now_ps();
    w.counters.wakeups_useless += w.woken;
    w.woken = false;
    w.rests = true;
    memory_.tell_activity(w);
    report_idle(w);
    w.began_ps = rest(w).slept_since_ps = now_ps;
    w.counters.asleep_ps -= now_ps;
    if (!w.stack.empty()) joining_[w.stack.back()] = w.id;
    if (w.sleep == Sleep::WAKING) {  // woken while it looked again, by a rule that does not keep it awake
        run_.clock.schedule(w, WAKE, std::max<std::int64_t>(0, rest(w).wake_ps - now_ps));
        return;
    }
    w.sleep = Sleep::ASLEEP;
    if (rule_.first_ps != 0) {
        std::int64_t sleep_ps = rule_.first_ps;
        for (std::int64_t i = std::min(rest(w).timeouts, MOST_GROWTH); i > 0 && sleep_ps < rule_.max_ps; --i)
            sleep_ps = product_ps(sleep_ps, rule_.factor);
        run_.clock.set_timer(w, std::min(sleep_ps, rule_.max_ps));
    } else {
        w.blocked = true;
        run_.clock.suspend(w);
    }
}

// ---- waking -------------------------------------------------------------------------------------------------------

namespace {

std::int32_t node_of(const Worker& w) { return w.node; }
std::int32_t node_of(const Producer& p) { return p.node; }

}  // namespace

// Wake `count` sleepers among `takers`, first those in `takers.sure`. If the rule says so, wake all sleepers.
template <typename Actor>
void Resting::wake_some(Actor& actor, const Takers& takers, std::int64_t count) {
    for (; count > 0; --count) {
        const bool sure = rule_.whom != NS_WHOM_ALL &&
                          std::ranges::any_of(sleepers_, [&](std::uint32_t w) { return has(takers.sure, w); });
        const Set& those = sure ? takers.sure : takers.now;
        std::vector<std::uint32_t> there;
        std::ranges::copy_if(sleepers_, std::back_inserter(there), [&](std::uint32_t w) { return has(those, w); });
        if (there.empty()) return;
        switch (rule_.whom) {
            case NS_WHOM_NEWEST: wake(actor, run_.team[there.back()]); break;
            case NS_WHOM_LOWEST: {
                const std::uint32_t lowest = *std::ranges::min_element(there);
                actor.owed_ps += (std::int64_t{lowest} + 1) * run_.plan.costs.look_ps;
                wake(actor, run_.team[lowest]);
                break;
            }
            case NS_WHOM_ALL:
                std::ranges::sort(there);
                for (const std::uint32_t sleeper : there) wake(actor, run_.team[sleeper]);
        }
    }
}

template void Resting::wake_some(Worker& actor, const Takers& takers, std::int64_t count);
template void Resting::wake_some(Producer& actor, const Takers& takers, std::int64_t count);

template <typename Actor>
void Resting::wake(Actor& actor, Worker& w) {
    forget(w.id);
    ++w.counters.wakeups;
    if (lines_ != nullptr) lines_->pool(actor, true);
    if (rule_.counted) set_searching(w, true);
    if (w.sleep == Sleep::ANNOUNCED && rule_.cancels) {
        w.sleep = Sleep::CALLED;
        return;
    }
    actor.owed_ps += run_.plan.costs.unpark_ps;
    const std::int64_t delay_ps = actor.owed_ps + waking_ps(node_of(actor), w);
    if (w.sleep == Sleep::ASLEEP) {
        w.blocked = false;
        // With `first_ps` a sleep may end by itself before `delay_ps` has passed.
        const std::int64_t left_ps = rule_.first_ps != 0 ? w.step.due_ps() - run_.clock.now_ps() : delay_ps;
        run_.clock.schedule(w, WAKE, std::min(delay_ps, left_ps));
    }
    w.sleep = Sleep::WAKING;
    rest(w).wake_ps = run_.clock.now_ps() + delay_ps;
}

// The time from when a worker of `from_node` wakes the sleeper `w` until the sleeper looks for a task.
std::int64_t Resting::waking_ps(std::int32_t from_node, const Worker& w) const {
    const auto& costs = run_.plan.costs;
    const bool deep = w.sleep == Sleep::ASLEEP && run_.clock.now_ps() - rest(w).slept_since_ps > costs.deep_ps;
    return (w.node != from_node ? costs.wake_remote_ps : costs.wake_ps) + (deep ? costs.deep_wake_ps : 0);
}

bool Resting::wake_up(Worker& w) {
    if (w.sleep == Sleep::ASLEEP) {
        forget(w.id);
        ++rest(w).timeouts;
    } else {
        rest(w).timeouts = w.fails = 0;
        w.woken = true;
    }
    end_sleep(w);
    get_up(w);
    return true;
}

void Resting::end_sleep(Worker& w) {
    w.counters.asleep_ps += run_.clock.now_ps();
    w.rests = false;
    memory_.tell_activity(w);
    if (!w.stack.empty()) joining_.erase(w.stack.back());
    report_sleep(w);
    run_.step(WAKE, w.id, NO_TASK, 0);
}

// The worker searches again.
void Resting::get_up(Worker& w) {
    w.sleep = Sleep::AWAKE;
    rest(w).pushes_seen = -1;
    if (!w.idle) return;
    join(w);
    if (w.woken && rule_.chain_by == NS_CHAIN_WOKEN) wake_some(w, everybody_, rule_.chain);
}

void Resting::missed(Worker& w, std::uint32_t q) {
    if (!rule_.missed) return;
    if (lines_ != nullptr) lines_->pool(w, false);
    if (!sleepers_.empty()) wake_some(w, takers_of(q), 1);
}

void Resting::subtree_ended(Worker& actor) {
    if (takers_.empty() || sleepers_.empty()) return;
    for (const Takers& takers : uncovered()) {
        if (!meet(takers.sure, everybody_.sure)) wake_some(actor, takers, 1);
    }
}

void Resting::join_ended(Worker& actor, std::uint32_t frame) {
    const auto found = joining_.find(frame);
    if (found == joining_.end()) return;
    Worker& sleeper = run_.team[found->second];
    joining_.erase(found);
    if (sleeper.sleep == Sleep::ASLEEP) wake(actor, sleeper);
}

// ---- phases of the program ----------------------------------------------------------------------------------------

// The program's phase ends. A sleeping worker sleeps on.
void Resting::retire(Worker& w) {
    set_searching(w, false);
    forget(w.id);
    if (w.rests && !w.naps) {
        w.counters.asleep_ps += run_.clock.now_ps();
        report_sleep(w);
        w.blocked = false;
        run_.clock.cut_short(w);
        run_.clock.clear(w.id);
    }
    if (w.sleep != Sleep::ASLEEP) {  // a worker that was woken too late rests no longer
        w.sleep = Sleep::AWAKE;
        w.rests = w.naps;
    }
    joining_.clear();
}

std::int64_t Resting::sit_out(Worker& w, std::int64_t time_ps) {
    if (w.sleep == Sleep::ASLEEP) return time_ps;
    if (rule_.between_ps < 0 || time_ps < rule_.between_ps) return 0;
    w.sleep = Sleep::ASLEEP;
    rest(w).slept_since_ps = run_.clock.now_ps() - time_ps + rule_.between_ps;
    return time_ps - rule_.between_ps;
}

void Resting::wake_team(std::size_t team) {
    Worker& chief = run_.team.front();
    chief.sleep = Sleep::AWAKE;
    chief.rests = false;
    memory_.tell_activity(chief);
    for (std::size_t i = 1; i < team; ++i) {
        Worker& w = run_.team[i];
        if (w.sleep != Sleep::ASLEEP) continue;
        w.rests = true;
        memory_.tell_activity(w);
        ++w.counters.wakeups;
        w.began_ps = run_.clock.now_ps();
        w.counters.asleep_ps -= run_.clock.now_ps();
        chief.owed_ps += run_.plan.costs.unpark_ps;
        run_.clock.schedule(w, WAKE, chief.owed_ps + waking_ps(chief.node, w));
        w.sleep = Sleep::WAKING;
    }
}

}  // namespace numasim
