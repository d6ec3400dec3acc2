#include "idle/foreseen_probes.hpp"

#include <algorithm>

namespace numasim {

namespace {

constexpr std::int64_t MOST_PROBES = 64;  // that are foreseen at a time
constexpr std::size_t FEWEST_NOTES = 16;  // of a queue that there is room for

}  // namespace

ForeseenProbes::ForeseenProbes(Run& run, Polling& polling, const ThiefMarks& marks)
    : run_(run),
      polling_(polling),
      marks_(marks),
      sleepers_(run.plan.workers),
      naps_(run.plan.workers, 0),
      queues_(run.plan.steal.queue_count) {
    for (const Worker& w : run.team) {
        if (w.own != NS_UNKNOWN) queues_[static_cast<std::size_t>(w.own)].owner = w.id;
    }
}

// ---- falling asleep -----------------------------------------------------------------------------------------------

void ForeseenProbes::sleep(Worker& w) {
    if (!may_sleep(w)) return;
    Sleeper& sleeper = sleepers_[w.id];
    sleeper.fails_awake = w.fails;
    foresee(w, w.step.due_ps());
    if (sleeper.rounds() == 0) return;
    sleeper.asleep = true;
    count_asleep(1);
    sleeper.event_ps = sleeper.polls.back();
    run_.clock.postpone_poll(w, sleeper.event_ps);
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
    if (!run_.clock.anybody_is_busy() || run_.queues.contents().copies) return false;
    if (polling_.skips() || (!w.stack.empty() && ns_joins_by_itself(&plan))) return false;
    if (run_.queues.length(static_cast<std::uint32_t>(w.own)) != 0 || marks_.any()) return false;
    const QuietRound& quiet = polling_.quiet_round(w);
    return quiet.known && quiet.probes > 0;
}

// Count the rounds from `poll_ps` on that can only fail, as far as they are known now.
void ForeseenProbes::foresee(Worker& w, std::int64_t poll_ps) {
    Sleeper& sleeper = sleepers_[w.id];
    sleeper.fails = w.fails;
    sleeper.polls.assign(1, poll_ps);
    draw(w, static_cast<std::size_t>(sleeper.most / w.quiet.probes));
    const std::size_t probes = w.quiet.segments.size();
    std::size_t at = 0;
    while (at < sleeper.picks.size() && foresee_round(w, at)) at += probes;
    sleeper.picks.resize(at);
    run_.queues.actor(w.id).victims.drawn += at;
}

// Draw the picks of so many rounds, and find out what their probes take: all at once, since tables are large, and no
// look-up has to wait for another.
void ForeseenProbes::draw(const Worker& w, std::size_t rounds) {
    std::vector<std::uint32_t>& picks = sleepers_[w.id].picks;
    ns_stream victims = run_.queues.actor(w.id).victims;
    picks.clear();
    for (std::size_t round = 0; round < rounds; ++round) {
        for (const std::uint32_t segment : w.quiet.segments)
            picks.push_back(ns_segment_draw(&run_.plan.steal, segment, &victims));
    }
    probes_ps_.clear();
    for (const std::uint32_t q : picks) probes_ps_.push_back(ns_probe_ps(&run_.plan, &w, q));
}

// The round whose picks begin at number `first`; false where it may find a task, or would be too late, or where a lap
// of the same picks begins behind it.
bool ForeseenProbes::foresee_round(Worker& w, std::size_t first) {
    Sleeper& sleeper = sleepers_[w.id];
    const std::size_t probes = w.quiet.segments.size();
    const std::int64_t poll_ps = sleeper.polls.back(), wait = wait_ps(w.fails + 1);
    std::int64_t look_ps = poll_ps;
    for (std::size_t i = first; i < first + probes; ++i) {
        if (run_.queues.length(sleeper.picks[i]) != 0) return false;
        look_ps += probes_ps_[i];
    }
    if (wait == 0 || look_ps + wait > LATEST_PS || (w.fails + 1) % NS_LAP_ROUNDS == 1) return false;
    std::int64_t at_ps = poll_ps;
    for (std::size_t i = 0; i < probes; ++i) {
        const std::uint32_t q = sleeper.picks[first + i];
        at_ps += probes_ps_[first + i];
        if (ns_is_attempt(&run_.plan, w.quiet.levels[i])) polling_.count_failed(w, q, 1);
        note(q, {at_ps, w.id, naps_[w.id]});
    }
    ++w.fails;
    w.counters.idle_steal_ps += look_ps - poll_ps;
    w.counters.idle_backoff_ps += wait;
    sleeper.polls.push_back(look_ps + wait);
    return true;
}

// Where there is no room left, void notes make room, or there comes to be as much again.
void ForeseenProbes::note(std::uint32_t q, const Note& note) {
    std::vector<Note>& notes = queues_[q].notes;
    if (notes.size() == notes.capacity()) {
        std::erase_if(notes, [this](const Note& each) { return !is_valid(each); });
        if (2 * notes.size() >= notes.capacity()) notes.reserve(std::max(FEWEST_NOTES, 2 * notes.capacity()));
    }
    notes.push_back(note);
}

// ---- waking -------------------------------------------------------------------------------------------------------

// An event of a sleeper: it wakes if the round at hand may find a task, and foresees more where no round is left. What
// it has an event for without need, it need not leave to others.
bool ForeseenProbes::turn_over(Worker& w) {
    Sleeper& sleeper = sleepers_[w.id];
    const std::int64_t now_ps = run_.clock.now_ps();
    const auto place = std::ranges::lower_bound(sleeper.polls, now_ps);
    const auto round = static_cast<std::size_t>(place - sleeper.polls.begin());
    std::size_t next = next_found(w, round);
    if (round == sleeper.rounds()) {
        sleeper.most = std::min(MOST_PROBES, 2 * sleeper.most);
        foresee(w, now_ps);
        next = sleeper.rounds();
    }
    if (sleeper.polls[next] == now_ps) {
        wake(w.id);
        return false;
    }
    std::erase_if(sleeper.attends, [this](std::uint32_t q) { return run_.queues.length(q) == 0; });
    sleeper.event_ps = sleeper.polls[next];
    run_.clock.postpone_poll(w, sleeper.event_ps);
    return true;
}

// Of the rounds from number `round` on, the first that probes a queue with a task, or the one after all.
std::size_t ForeseenProbes::next_found(const Worker& w, std::size_t round) const {
    const Sleeper& sleeper = sleepers_[w.id];
    const auto probes = static_cast<std::size_t>(w.quiet.probes);
    const auto found =
        std::find_if(sleeper.picks.begin() + static_cast<std::ptrdiff_t>(round * probes), sleeper.picks.end(),
                     [this](std::uint32_t q) { return run_.queues.length(q) != 0; });
    return static_cast<std::size_t>(found - sleeper.picks.begin()) / probes;
}

// Of a worker that sleeps; queues that it has had an event for are left to others.
void ForeseenProbes::rouse(Worker& w) {
    Sleeper& sleeper = sleepers_[w.id];
    const std::size_t done = rounds_over(w);
    const std::int64_t poll_ps = sleeper.polls[done];
    take_back(w, done);
    sleeper.asleep = false;
    ++naps_[w.id];
    count_asleep(-1);
    left_.insert(left_.end(), sleeper.attends.begin(), sleeper.attends.end());
    sleeper.attends.clear();
    const std::int64_t slept = w.fails - sleeper.fails_awake;
    sleeper.most = std::min(MOST_PROBES, LEAST_PROBES + 2 * slept * w.quiet.probes);
    event_key(poll_ps, POLL, w.id) >= run_.clock.event()
        ? run_.clock.wake_for_poll(w, poll_ps, slept == 0 ? 0 : wait_ps(w.fails))
        : enter_round(w, poll_ps);
}

void ForeseenProbes::wake_all() {
    for (Worker& w : run_.team) {
        if (sleepers_[w.id].asleep) rouse(w);
    }
    left_.clear();
}

// How many of the sleeper's rounds are over: all their probes have taken effect.
std::size_t ForeseenProbes::rounds_over(const Worker& w) const {
    const Sleeper& sleeper = sleepers_[w.id];
    const std::int64_t now_ps = run_.clock.now_ps();
    const auto begun = std::upper_bound(sleeper.polls.begin(), sleeper.polls.end(), now_ps) - sleeper.polls.begin();
    if (begun == 0) return 0;
    const auto last = static_cast<std::size_t>(begun - 1);
    if (last == sleeper.rounds()) return last;
    const std::int64_t look_ps = sleeper.polls[last + 1] - wait_ps(sleeper.fails + begun);
    return is_ahead(look_ps, LOOK, w.id) ? last : last + 1;
}

// Of the rounds that are counted, `done` are done.
void ForeseenProbes::take_back(Worker& w, std::size_t done) {
    const Sleeper& sleeper = sleepers_[w.id];
    const std::size_t probes = w.quiet.segments.size();
    for (std::size_t at = done * probes; at < sleeper.picks.size(); ++at) {
        if (ns_is_attempt(&run_.plan, w.quiet.levels[at % probes])) polling_.count_failed(w, sleeper.picks[at], -1);
    }
    run_.queues.actor(w.id).victims.drawn -= sleeper.picks.size() - done * probes;
    std::int64_t probing_ps = sleeper.polls.back() - sleeper.polls[done];
    for (const std::int64_t fails = sleeper.fails + static_cast<std::int64_t>(done); w.fails != fails; --w.fails) {
        probing_ps -= wait_ps(w.fails);
        w.counters.idle_backoff_ps -= wait_ps(w.fails);
    }
    w.counters.idle_steal_ps -= probing_ps;
}

// The round has begun: what of its probes has failed by now, and which one is on its way.
void ForeseenProbes::enter_round(Worker& w, std::int64_t poll_ps) {
    const ns_view quiet = marks_.none();
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

// ---- queues with tasks --------------------------------------------------------------------------------------------

void ForeseenProbes::filled(std::uint32_t q) {
    marked();
    if (queues_[q].owner != NOBODY) wake(queues_[q].owner);
    attend(q);
    attend_left();
}

// Let the next sleeper to probe the queue have an event for that; who has begun the round wakes, and the one after it
// may be another's.
void ForeseenProbes::attend(std::uint32_t q) {
    while (const Note* const next = next_note(q)) {
        Worker& w = run_.team[next->worker];
        Sleeper& sleeper = sleepers_[w.id];
        const std::int64_t poll_ps = *(std::ranges::upper_bound(sleeper.polls, next->look_ps) - 1);
        if (is_ahead(poll_ps, POLL, w.id)) {
            if (std::ranges::find(sleeper.attends, q) == sleeper.attends.end()) sleeper.attends.push_back(q);
            if (poll_ps >= sleeper.event_ps) return;
            sleeper.event_ps = poll_ps;
            return run_.clock.postpone_poll(w, poll_ps);
        }
        rouse(w);
    }
}

// The first of the probes noted at the queue that are still to be made.
const ForeseenProbes::Note* ForeseenProbes::next_note(std::uint32_t q) const {
    const Note* next = nullptr;
    for (const Note& each : queues_[q].notes) {
        if ((next == nullptr || each < *next) && is_valid(each)) next = &each;
    }
    return next;
}

void ForeseenProbes::attend_left() {
    while (!left_.empty()) {
        const std::uint32_t q = left_.back();
        left_.pop_back();
        if (run_.queues.length(q) != 0) attend(q);
    }
}

}  // namespace numasim
