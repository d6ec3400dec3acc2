// Idle workers sleep while their probes are known to fail: the probes have no events of their own (model 1.5).
//
// The result of a probe depends only on the state of one queue at one time. A worker that has found nothing draws the
// victims of its next rounds in advance, up to the first probe of a queue that holds a task now. The worker counts
// these rounds as failed, sleeps until they are over, and then draws the next rounds. Every drawn probe is noted at its
// queue. While a queue holds a task, the sleeping worker that probes the queue next has an event at the round of this
// probe, and wakes if the task is still there. A worker that wakes early takes back rounds that it has not made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "idle/sleeping.hpp"

namespace numasim {

constexpr std::int64_t MOST_PROBES = 64;  // most probes that are drawn in advance
constexpr std::size_t FEWEST_NOTES = 16;  // room for notes at a queue, at least

class ForeseenProbes final : public Sleeping {
public:
    ForeseenProbes(Run& run, Polling& polling, std::ptrdiff_t& sleeping)
        : Sleeping(run, polling, sleeping),
          sleepers_(run.plan.workers),
          naps_(run.plan.workers, 0),
          queues_(run.plan.steal.queue_count) {
        for (const Worker& w : run.team) {
            if (w.own != NS_UNKNOWN) queues_[static_cast<std::size_t>(w.own)].owner = w.id;
        }
    }

    void sleep(Worker& w) override {
        if (!may_sleep(w)) return;
        Sleeper& sleeper = sleepers_[w.id];
        sleeper.fails_awake = w.fails;
        foresee(w, w.step.due_ps());
        if (sleeper.rounds() == 0) return;
        sleeper.asleep = true;
        count(1);
        sleeper.event_ps = sleeper.polls.back();
        run_.clock.postpone_poll(w, sleeper.event_ps);
    }

    bool sleeps_on(Worker& w) override { return sleepers_[w.id].asleep && turn_over(w); }
    void wake(std::uint32_t worker) override {
        if (!sleepers_[worker].asleep) return;
        rouse(run_.team[worker]);
        attend_left();
    }

    void wake_all() override {
        for (Worker& w : run_.team) {
            if (sleepers_[w.id].asleep) rouse(w);
        }
        left_.clear();
    }

private:
    static constexpr std::uint32_t NOBODY = UINT32_MAX;

    // The rounds that a sleeping worker has counted in advance. The worker had `fails` fruitless rounds in a row before
    // these rounds, and `fails_awake` when it fell asleep.
    struct Sleeper {
        bool asleep = false;
        std::int64_t event_ps = 0;
        std::int64_t fails = 0, fails_awake = 0;
        std::int64_t most = LEAST_PROBES;  // most probes to draw in advance
        std::vector<std::int64_t> polls;   // when each round begins, and the round after the last
        std::vector<std::uint32_t> picks;  // the queues that the rounds probe
        std::vector<std::uint32_t>
            attends;  // queues for whose probes the worker has an event, as they held tasks; some may be empty now

        std::size_t rounds() const { return polls.size() - 1; }
    };

    // A probe that takes effect at `look_ps`. The note is void once its worker has woken.
    struct Note {
        std::int64_t look_ps;
        std::uint32_t worker, nap;

        bool operator<(const Note& other) const {
            return look_ps != other.look_ps ? look_ps < other.look_ps : worker < other.worker;
        }
    };

    struct Queue {
        std::vector<Note> notes;  // probes of the queue, in any order; some notes are void
        std::uint32_t owner = NOBODY;
    };

    // Whether the worker only probes at random until another worker changes something: some worker is busy, the own
    // queue is empty, and no watch of a steal level is set (a watch is a bit that tells the length of a queue;
    // model 4.13).
    bool may_sleep(Worker& w) {
        if (!run_.clock.anybody_is_busy() || polling_.skips() || is_marked()) return false;
        if (is_bound(w)) return false;
        if (run_.queues.length(static_cast<std::uint32_t>(w.own)) != 0) return false;
        const QuietRound& quiet = polling_.quiet_round(w);
        return quiet.known && quiet.probes > 0;
    }

    // Draw rounds from `poll_ps` on, and count the rounds that can only fail if the queues stay as they are.
    void foresee(Worker& w, std::int64_t poll_ps) {
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

    // Draw the picked queues of `rounds` rounds, and look up how long the probes take. The tables are large. All
    // look-ups are in one loop, so that their cache misses overlap.
    void draw(const Worker& w, std::size_t rounds) {
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

    // Count the round whose picks begin at number `first` as failed. Returns false, without counting, if the round may
    // find a task, ends after LATEST_PS, or is the last round before a new lap (`ns_begin_lap`).
    bool foresee_round(Worker& w, std::size_t first) {
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

    // Add a note. If there is no room for it, drop void notes. If more than half of the notes remain, double the room.
    void note(std::uint32_t q, const Note& note) {
        std::vector<Note>& notes = queues_[q].notes;
        if (notes.size() == notes.capacity()) {
            std::erase_if(notes, [this](const Note& each) { return !is_valid(each); });
            if (2 * notes.size() >= notes.capacity()) notes.reserve(std::max(FEWEST_NOTES, 2 * notes.capacity()));
        }
        notes.push_back(note);
    }

    // Handle an event of a sleeper. It wakes if its present round may find a task, and draws more rounds if all drawn
    // rounds are over. From now on it has no events for probes of queues that are empty now.
    bool turn_over(Worker& w) {
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

    // Return the first round with at least the number `round` that probes a queue with a task, or the number of rounds.
    std::size_t next_found(const Worker& w, std::size_t round) const {
        const Sleeper& sleeper = sleepers_[w.id];
        const auto probes = static_cast<std::size_t>(w.quiet.probes);
        const auto found =
            std::find_if(sleeper.picks.begin() + static_cast<std::ptrdiff_t>(round * probes), sleeper.picks.end(),
                         [this](std::uint32_t q) { return run_.queues.length(q) != 0; });
        return static_cast<std::size_t>(found - sleeper.picks.begin()) / probes;
    }

    // Wake a worker that sleeps. Probes of its queues with tasks may give other sleepers events now.
    void rouse(Worker& w) {
        Sleeper& sleeper = sleepers_[w.id];
        const std::size_t done = rounds_over(w);
        const std::int64_t poll_ps = sleeper.polls[done];
        take_back(w, done);
        sleeper.asleep = false;
        ++naps_[w.id];
        count(-1);
        left_.insert(left_.end(), sleeper.attends.begin(), sleeper.attends.end());
        sleeper.attends.clear();
        const std::int64_t slept = w.fails - sleeper.fails_awake;
        sleeper.most = std::min(MOST_PROBES, LEAST_PROBES + 2 * slept * w.quiet.probes);
        event_key(poll_ps, POLL, w.id) >= run_.clock.event()
            ? run_.clock.wake_for_poll(w, poll_ps, slept == 0 ? 0 : wait_ps(w.fails))
            : enter_round(w, poll_ps);
    }

    // Return how many of the sleeper's rounds are over: all probes of these rounds have taken effect.
    std::size_t rounds_over(const Worker& w) const {
        const Sleeper& sleeper = sleepers_[w.id];
        const std::int64_t now_ps = run_.clock.now_ps();
        const auto begun = std::upper_bound(sleeper.polls.begin(), sleeper.polls.end(), now_ps) - sleeper.polls.begin();
        if (begun == 0) return 0;
        const auto last = static_cast<std::size_t>(begun - 1);
        if (last == sleeper.rounds()) return last;
        const std::int64_t look_ps = sleeper.polls[last + 1] - wait_ps(sleeper.fails + begun);
        return is_ahead(look_ps, LOOK, w.id) ? last : last + 1;
    }

    // Take back the counted rounds of a worker, except for the first `done`.
    void take_back(Worker& w, std::size_t done) {
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

    void filled(std::uint32_t q) override {
        if (is_marked()) wake_all();
        if (queues_[q].owner != NOBODY) wake(queues_[q].owner);
        attend(q);
        attend_left();
    }

    // Give the sleeper that probes the queue next an event at the round of this probe. If this sleeper has already
    // begun the round, it wakes instead, and the sleeper with the next later probe of the queue gets an event.
    void attend(std::uint32_t q) {
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

    void attend_left() {
        while (!left_.empty()) {
            const std::uint32_t q = left_.back();
            left_.pop_back();
            if (run_.queues.length(q) != 0) attend(q);
        }
    }

    // Return the note of the earliest probe of the queue that a sleeping worker has not made yet, or nullptr.
    const Note* next_note(std::uint32_t q) const {
        const Note* next = nullptr;
        for (const Note& each : queues_[q].notes) {
            if ((next == nullptr || each < *next) && is_valid(each)) next = &each;
        }
        return next;
    }

    bool is_valid(const Note& note) const {
        return naps_[note.worker] == note.nap && is_ahead(note.look_ps, LOOK, note.worker);
    }

    static constexpr std::int64_t LEAST_PROBES = 8;

    std::vector<Sleeper> sleepers_;        // [workers]
    std::vector<std::uint32_t> naps_;      // [workers] how often each worker has woken
    std::vector<Queue> queues_;            // [queues]
    std::vector<std::int64_t> probes_ps_;  // scratch of `draw`: how long the probes take
    std::vector<std::uint32_t> left_;      // queues for whose probes a worker that has woken had events
};

}  // namespace numasim
