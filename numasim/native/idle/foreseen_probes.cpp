#include "idle/foreseen_probes.hpp"

#include <algorithm>
#include <functional>

#include "base/bitset.h"

namespace numasim {

namespace {

constexpr std::int64_t MOST_PROBES = 64;  // that are foreseen at a time

// The watches that steal levels go by; others are of dispatch rules.
std::vector<std::uint32_t> watches_of_thieves(const ns_plan& steal) {
    std::vector<std::uint32_t> watches;
    for (std::uint32_t index = 0; index < steal.steal_levels; ++index) {
        if (steal.level[index].watch != NS_NONE8) watches.push_back(steal.level[index].watch);
    }
    return watches;
}

}  // namespace

ForeseenProbes::ForeseenProbes(Run& run, Polling& polling)
    : run_(run),
      polling_(polling),
      sleepers_(run.plan.workers),
      queues_(run.plan.steal.queue_count),
      watches_(watches_of_thieves(run.plan.steal)),
      no_marks_(std::size_t{run.plan.steal.watches} * ns_set_words(run.plan.steal.queue_count), 0) {
    for (const Worker& w : run.team) {
        if (w.own != NS_UNKNOWN) queues_[static_cast<std::size_t>(w.own)].owner = w.id;
    }
}

// ---- falling asleep -----------------------------------------------------------------------------------------------

void ForeseenProbes::sleep(Worker& w) {
    if (!may_sleep(w)) return;
    Sleeper& sleeper = sleepers_[w.id];
    const std::int64_t poll_ps = w.step.due_ps(), event_ps = foresee(w, poll_ps);
    if (event_ps == poll_ps) return;
    sleeper.asleep = true;
    sleeper.poll_ps = poll_ps;
    sleeper.event_ps = event_ps;
    sleeper.fails = w.fails;
    count_asleep(1);
    run_.clock.postpone_poll(w, event_ps);
}

// While somebody sleeps, what comes into queues is told.
void ForeseenProbes::count_asleep(std::ptrdiff_t more) {
    asleep_ += static_cast<std::size_t>(more);
    run_.queues.set_attendant(asleep_ != 0 ? this : nullptr);
}

// Whether it does nothing but probe at random while no task comes into its own queue and no watch is set.
bool ForeseenProbes::may_sleep(Worker& w) {
    const Plan& plan = run_.plan;
    if (!plan.skip || !plan.one_queue_each || plan.locks_probes || plan.backoff_after_probe) return false;
    if (!run_.clock.anybody_is_busy()) return false;
    if (polling_.skips() || (!w.stack.empty() && plan.join == Join::OWN)) return false;
    if (run_.queues.length(static_cast<std::uint32_t>(w.own)) != 0 || thieves_see_marks()) return false;
    const QuietRound& quiet = polling_.quiet_round(w);
    return quiet.known && quiet.probes > 0;
}

bool ForeseenProbes::thieves_see_marks() const {
    const ns_queues& queues = run_.queues.contents();
    if (queues.marked == 0) return false;
    const std::size_t words = ns_set_words(run_.plan.steal.queue_count);
    return std::ranges::any_of(watches_, [&](std::size_t watch) {
        const std::uint64_t* const marks = queues.watch + watch * words;
        return std::any_of(marks, marks + words, [](std::uint64_t word) { return word != 0; });
    });
}

// When the first round begins whose end is not known, or that has to be gone through; notes the probes before it.
std::int64_t ForeseenProbes::foresee(Worker& w, std::int64_t poll_ps) {
    const Plan& plan = run_.plan;
    const auto probes = static_cast<std::int64_t>(w.quiet.segments.size());
    const std::int64_t patience = NS_PATIENCE_ROUNDS - 1 - w.fails % NS_PATIENCE_ROUNDS;
    const std::int64_t most = std::min(patience, sleepers_[w.id].most / probes);
    ns_stream victims = run_.queues.actor(w.id).victims;
    for (std::int64_t round = 1; round <= most; ++round) {
        round_.clear();
        std::int64_t look_ps = poll_ps;
        for (const std::uint32_t segment : w.quiet.segments) {
            const std::uint32_t q = ns_segment_draw(&plan.steal, segment, &victims);
            if (run_.queues.length(q) != 0) return poll_ps;
            look_ps += ns_probe_ps(&plan, &w, q);
            round_.push_back({q, look_ps});
        }
        const std::int64_t wait_ps = ns_backoff_wait_ps(&plan.backoff, w.fails + round, true);
        if (wait_ps == 0 || look_ps + wait_ps > LATEST_PS) return poll_ps;
        for (const auto& [q, at_ps] : round_) note(q, {at_ps, poll_ps, w.id, sleepers_[w.id].sleeps});
        poll_ps = look_ps + wait_ps;
    }
    return poll_ps;
}

void ForeseenProbes::note(std::uint32_t q, const Probe& probe) {
    std::vector<Probe>& probes = queues_[q].probes;
    if (queues_[q].attended > probe) queues_[q].attended.worker = NOBODY;  // whose worker has been told when to wake
    while (!probes.empty() && !is_valid(probes.front())) {
        std::pop_heap(probes.begin(), probes.end(), std::greater<>{});
        probes.pop_back();
    }
    probes.push_back(probe);
    std::push_heap(probes.begin(), probes.end(), std::greater<>{});
}

// ---- waking -------------------------------------------------------------------------------------------------------

// Of a worker that sleeps.
void ForeseenProbes::rouse(Worker& w) {
    Sleeper& sleeper = sleepers_[w.id];
    sleeper.asleep = false;
    ++sleeper.sleeps;
    count_asleep(-1);
    const std::int64_t now_ps = run_.clock.now_ps();
    const std::int64_t until_ps = is_ahead(now_ps, LOOK, w.id) ? now_ps : now_ps + 1;
    const std::int64_t slept_ps = polling_.pass_rounds(w, sleeper.poll_ps, until_ps);
    const std::int64_t poll_ps = sleeper.poll_ps + slept_ps, rounds = w.fails - sleeper.fails;
    sleeper.most = std::min(MOST_PROBES, 8 + 2 * rounds * w.quiet.probes);
    ns_event_key_of(poll_ps, POLL, w.id) >= run_.clock.event() ? run_.clock.wake_for_poll(w, poll_ps, slept_ps)
                                                               : enter_round(w, poll_ps);
}

// The round has begun: what of its probes has failed by now, and which one is on its way.
void ForeseenProbes::enter_round(Worker& w, std::int64_t poll_ps) {
    ns_view quiet = run_.queues.view();
    quiet.watch = no_marks_.data();
    std::int64_t look_ps = poll_ps;
    w.probed = true;
    w.probes_nobody = false;
    ns_round_begin(&w.round);
    for (;;) {
        ns_round_next(&w.round, &run_.plan.steal, &run_.queues.actor(w.id), &quiet, &w.level, &w.target);
        const std::int64_t probe_ps = ns_probe_ps(&run_.plan, &w, w.target);
        w.counters.idle_steal_ps += probe_ps;
        look_ps += probe_ps;
        if (is_ahead(look_ps, LOOK, w.id)) return run_.clock.wake_for_look(w, look_ps, probe_ps);
        if (ns_is_attempt(&run_.plan, w.level)) polling_.count_failed(w, w.target, 1);
    }
}

void ForeseenProbes::wake_all() {
    for (Worker& w : run_.team) wake(w.id);
}

// ---- queues with tasks --------------------------------------------------------------------------------------------

// Whether the probe is still to be made by who sleeps until then.
bool ForeseenProbes::is_valid(const Probe& probe) const {
    const Sleeper& sleeper = sleepers_[probe.worker];
    return sleeper.sleeps == probe.sleeps && is_ahead(probe.look_ps, LOOK, probe.worker);
}

// Whether somebody wakes for the next probe noted at the queue. Who is awake may come to probe other queues than it
// has foreseen, where marks of watches are set.
bool ForeseenProbes::is_attended(std::uint32_t q) const {
    const Probe& probe = queues_[q].attended;
    return probe.worker != NOBODY && sleepers_[probe.worker].asleep && is_valid(probe);
}

void ForeseenProbes::filled(std::uint32_t q) {
    marked();
    if (queues_[q].owner != NOBODY) wake(queues_[q].owner);
    if (!is_attended(q)) attend(q);
}

// Make the worker of the next probe noted at the queue wake for it.
void ForeseenProbes::attend(std::uint32_t q) {
    Queue& queue = queues_[q];
    queue.attended.worker = NOBODY;
    while (!queue.probes.empty()) {
        const Probe probe = queue.probes.front();
        std::pop_heap(queue.probes.begin(), queue.probes.end(), std::greater<>{});
        queue.probes.pop_back();
        if (!is_valid(probe)) continue;
        Sleeper& sleeper = sleepers_[probe.worker];
        queue.attended = probe;
        sleeper.attends.push_back(q);
        if (!is_ahead(probe.poll_ps, POLL, probe.worker)) return rouse(run_.team[probe.worker]);
        if (probe.poll_ps < sleeper.event_ps) {
            sleeper.event_ps = probe.poll_ps;
            run_.clock.postpone_poll(run_.team[probe.worker], probe.poll_ps);
        }
        return;
    }
}

// The worker will not make the probes that it was to make: others come next.
void ForeseenProbes::pass_on(const Worker& w) {
    std::vector<std::uint32_t> attended;
    attended.swap(sleepers_[w.id].attends);
    for (const std::uint32_t q : attended) {
        if (queues_[q].attended.worker != w.id) continue;
        queues_[q].attended.worker = NOBODY;
        if (asleep_ != 0 && run_.queues.length(q) != 0) attend(q);
    }
}

}  // namespace numasim
