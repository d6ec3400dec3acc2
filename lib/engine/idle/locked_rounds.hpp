// Idle workers that probe under the same lock make their rounds without events of the clock (model 1.5).
//
// While the queues that these workers probe are empty and no other actor uses the lock, the workers influence only each
// other. Their rounds are computed later, when something happens that the workers may notice: a task comes into one of
// these queues, a join ends, another worker asks for the lock, or a watch is set. All rounds that have begun before are
// then computed one after the other, exactly as events would make them. The workers then get events again.
//
// This is done only for rounds of one probe, whose queue is picked at random, and not under locks of kind `barging`:
// such a lock that is promised may go to another worker first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

#include "idle/sleeping.hpp"
#include "state/containers.hpp"
#include "state/event_tree.hpp"
#include "sync_objects.hpp"

namespace numasim {

// A pending poll of one worker: the start of its next round.
struct PendingPoll {
    std::int64_t due_ps, wait_ps;  // `wait_ps`: the wait before the poll; 0: `step` of the worker says it
    std::uint32_t worker;

    EventKey key() const { return event_key(due_ps, POLL, worker); }
    bool operator<(const PendingPoll& other) const {
        return due_ps != other.due_ps ? due_ps < other.due_ps : worker < other.worker;
    }
};

constexpr std::int64_t ROUNDS_BETWEEN_PAUSES = (1 << 20) - 1;

inline std::span<const ns_waiter> waiters_of(const ns_server& server) {
    return {ns_server_waiters(&server), server.count};
}

class LockedRounds final : public Sleeping {
public:
    LockedRounds(Run& run, SyncObjects& sync, Polling& polling, std::ptrdiff_t& sleeping)
        : Sleeping(run, polling, sleeping),
          sync_(sync),
          circle_of_(run.plan.workers, NONE),
          notices_(run.plan.steal.queue_count) {
        const Plan& plan = run_.plan;
        const bool may_sleep = ns_backoff_wait_ps(&plan.backoff, 1, true) != 0 && plan.join != Join::OWN &&
                               plan.join != Join::LEAPFROG && plan.words.kind != NS_LOCK_BARGING &&
                               !run_.recorder.listened();
        if (!may_sleep) return;
        for (Worker& w : run_.team) {
            const std::int32_t lock = lock_of(w);
            if (lock != NS_NO_LOCK) enter(w, static_cast<std::uint32_t>(lock));
        }
    }

    void sleep(Worker& w) override {
        if (circle_of_[w.id] != NONE) gather(circles_[circle_of_[w.id]]);
    }

    // A worker of a circle (below) that has become idle joins the circle's idle workers with its first request of the
    // lock. Any other request of the lock gives all workers of the circle events again.
    bool request(Worker& w, std::uint32_t lock) override {
        const auto found = std::ranges::find(circles_, lock, &Circle::lock);
        if (found == circles_.end() || !found->apart) return false;
        if (!is_searcher(*found, w.id) || w.held_count != 0) {
            part(*found);
            return false;
        }
        go_on_until(*found, run_.clock.event());
        ask(*found, w.id, run_.clock.now_ps());
        return true;
    }

    void wake(std::uint32_t worker) override {
        if (circle_of_[worker] != NONE) part(circles_[circle_of_[worker]]);
    }
    void wake_all() override {
        for (Circle& circle : circles_) part(circle);
    }

private:
    static constexpr std::uint32_t NONE = UINT32_MAX;

    // A circle: the workers that probe under the lock `lock`, with or without events.
    struct Circle {
        explicit Circle(std::uint32_t its_lock) : lock(its_lock) {}

        std::uint32_t lock;
        std::vector<std::uint32_t> workers;
        std::vector<std::uint32_t> queues;  // the queues that the workers probe and the workers' own queues
        bool apart = false;                 // the idle workers have no events; the members below hold their state
        ns_server* server = nullptr;        // of the lock
        ns_line* line = nullptr;            // of the lock
        std::int64_t look_ps = 0;           // when the probe of the lock's holder takes effect
        // The polls of the idle workers that neither hold the lock nor wait for it, sorted by time.
        Ring<PendingPoll> polls;

        // A new poll is usually the latest. The search for its place therefore begins at the end.
        void add(const PendingPoll& poll) {
            polls.push_back(poll);
            std::size_t at = polls.size() - 1;
            for (; at > 0 && poll < polls.at(at - 1); --at) polls.at(at) = polls.at(at - 1);
            polls.at(at) = poll;
        }
    };

    // Return the lock under which the worker makes its rounds while all queues are empty; NS_NO_LOCK if rounds have
    // more than one probe or need several locks.
    std::int32_t lock_of(Worker& w) {
        const ns_plan& steal = run_.plan.steal;
        const QuietRound& quiet = polling_.quiet_round(w);
        if (!quiet.known || quiet.probes != 1 || polling_.levels_change()) return NS_NO_LOCK;
        const std::span queues(steal.queue + steal.seg[quiet.segments[0]],
                               steal.queue + steal.seg[quiet.segments[0] + 1]);
        const std::int32_t lock = ns_level_lock(&run_.plan, quiet.levels[0], queues[0]);
        const bool is_all = std::ranges::all_of(queues, [&](std::uint32_t q) {
            return ns_level_lock(&run_.plan, quiet.levels[0], q) == lock && ns_probe_lock(&run_.plan, q) == NS_NO_LOCK;
        });
        return is_all ? lock : NS_NO_LOCK;
    }

    void enter(Worker& w, std::uint32_t lock) {
        const auto found = std::ranges::find(circles_, lock, &Circle::lock);
        const auto index = static_cast<std::uint32_t>(found - circles_.begin());
        if (found == circles_.end()) circles_.emplace_back(lock);
        Circle& circle = circles_[index];
        circle_of_[w.id] = index;
        circle.workers.push_back(w.id);
        const ns_plan& steal = run_.plan.steal;
        const auto add = [&](std::uint32_t q) {
            if (std::ranges::find(notices_[q], index) != notices_[q].end()) return;
            notices_[q].push_back(index);
            circle.queues.push_back(q);
        };
        add(static_cast<std::uint32_t>(w.own));
        const std::uint32_t segment = w.quiet.segments[0];
        std::for_each(steal.queue + steal.seg[segment], steal.queue + steal.seg[segment + 1], add);
    }

    // Take the events from the idle workers of the circle if none of these workers can notice anything.
    void gather(Circle& circle) {
        if (circle.apart || !run_.clock.anybody_is_busy() || polling_.skips() || is_marked()) return;
        circle.server = sync_.server(circle.lock);
        circle.line = sync_.line(circle.lock);
        if (is_quiet(circle)) leave_clock(circle);
    }

    bool is_quiet(const Circle& circle) const {
        if (std::ranges::any_of(circle.queues, [this](std::uint32_t q) { return run_.queues.length(q) != 0; }))
            return false;
        std::int64_t elsewhere = 0;  // idle workers without a pending poll
        for (const std::uint32_t id : circle.workers) {
            const Worker& w = run_.team[id];
            if (run_.frames.join_is_over(w)) return false;
            elsewhere += w.idle && !run_.clock.polls(w);
        }
        return uses_of_lock(circle) == elsewhere;
    }

    // Return how many workers of the circle hold or await the circle's lock to make a probe. Return -1 if any other
    // actor holds or awaits the lock.
    std::int64_t uses_of_lock(const Circle& circle) const {
        const ns_server& server = *circle.server;
        const auto searches = [&](const ns_waiter& waiter) { return is_searcher(circle, waiter.actor); };
        if (!std::ranges::all_of(waiters_of(server), searches)) return -1;
        if (!server.busy) return 0;
        return is_searcher(circle, server.promised ? server.next.actor : server.holder) ? server.count + 1 : -1;
    }

    bool is_searcher(const Circle& circle, std::uint32_t actor) const {
        const Worker& w = run_.team[actor];
        return w.idle && circle_of_[actor] != NONE && &circles_[circle_of_[actor]] == &circle &&
               w.level == w.quiet.levels[0];
    }

    void leave_clock(Circle& circle) {
        circle.apart = true;
        count(1);
        circle.polls = {};
        for (const std::uint32_t id : circle.workers) {
            Worker& w = run_.team[id];
            if (!w.idle) continue;
            if (run_.clock.polls(w)) circle.add({w.step.due_ps(), 0, id});
            run_.clock.clear(id);
            w.held_count = 0;
        }
        if (circle.server->holder != NS_NOBODY) circle.look_ps = run_.team[circle.server->holder].step.due_ps();
        sync_.detach(circle.lock);
    }

    // Make all steps of the circle that come before `event`. While the lock is held, polls may be made in any order, as
    // long as they are made before the release of the lock.
    void go_on_until(Circle& circle, EventKey event) {
        const ns_server& server = *circle.server;
        for (std::int64_t rounds = 1;; ++rounds) {
            if ((rounds & ROUNDS_BETWEEN_PAUSES) == 0) run_.pause();
            if (!server.busy) {
                if (circle.polls.empty() || circle.polls.front().key() >= event) return;
                poll(circle);
            }
            if (server.promised) {
                if (event_key(server.due_ps, GRANT, circle.lock) >= event) break;
                grant(circle);
            }
            if (event_key(circle.look_ps, LOOK, server.holder) >= event) break;
            while (!circle.polls.empty() && circle.polls.front().due_ps < circle.look_ps) poll(circle);
            look(circle);
        }
        while (!circle.polls.empty() && circle.polls.front().key() < event) poll(circle);
    }

    // The first pending poll: its worker begins a round, draws the queue to probe and asks for the lock.
    void poll(Circle& circle) {
        const PendingPoll begun = circle.polls.front();
        circle.polls.pop_front();
        Worker& w = run_.team[begun.worker];
        w.target = ns_segment_draw(&run_.plan.steal, w.quiet.segments[0], &run_.queues.actor(w.id).victims);
        ask(circle, begun.worker, begun.due_ps);
    }

    void ask(Circle& circle, std::uint32_t worker, std::int64_t now_ps) {
        ns_server& server = *circle.server;
        const auto& words = run_.plan.words;
        if (!ns_server_enqueue(&server, {now_ps, worker, static_cast<std::uint32_t>(Then::SEARCH)}))
            throw std::bad_alloc();
        if (server.busy) return;
        ns_server_serve_last(&server, words.kind, &words.transfers, circle.line, now_ps);
        checked(server.due_ps);
    }

    void grant(Circle& circle) {
        ns_server& server = *circle.server;
        const std::int64_t now_ps = server.due_ps;
        Worker& w = run_.team[server.next.actor];
        ns_server_grant(&server, &run_.plan.words.transfers, circle.line, now_ps);
        run_.recorder.detail(now_ps, GRANT, circle.lock, circle.lock, w.id);
        w.counters.overhead_ps += now_ps - server.next.since_ps;
        w.began_ps = now_ps;
        const std::int64_t probe_ps = ns_probe_ps(&run_.plan, &w, w.target);
        w.counters.idle_steal_ps += probe_ps;
        circle.look_ps = checked(now_ps + probe_ps);
    }

    // The probe of the lock's holder finds nothing. The holder releases the lock and waits for its next round.
    void look(Circle& circle) {
        ns_server& server = *circle.server;
        const auto& words = run_.plan.words;
        const std::int64_t now_ps = circle.look_ps;
        Worker& w = run_.team[server.holder];
        if (ns_is_attempt(&run_.plan, w.quiet.levels[0])) polling_.count_failed(w, w.target, 1);
        run_.recorder.log(Held{circle.lock, w.id, server.granted_ps, now_ps});
        ns_server_end_holding(&server, now_ps);
        if (ns_server_serve_next(&server, words.kind, &words.rules, &words.transfers, circle.line, w.id, now_ps))
            checked(server.due_ps);
        ns_begin_lap(&run_.plan.steal, ++w.fails, &w.lap_begin, &run_.queues.actor(w.id).victims);
        const std::int64_t wait_ps = ns_backoff_wait_ps(&run_.plan.backoff, w.fails, true);
        w.counters.idle_backoff_ps += wait_ps;
        circle.add({checked(now_ps + wait_ps), wait_ps, w.id});
    }

    // Give the circle's workers events again.
    void part(Circle& circle) {
        if (!circle.apart) return;
        go_on_until(circle, run_.clock.event());
        circle.apart = false;
        count(-1);
        return_to_clock(circle);
    }

    void return_to_clock(Circle& circle) {
        const ns_server& server = *circle.server;
        for (; !circle.polls.empty(); circle.polls.pop_front()) {
            const PendingPoll& each = circle.polls.front();
            run_.clock.wake_for_poll(run_.team[each.worker], each.due_ps, each.wait_ps);
        }
        const auto waits = [this](const ns_waiter& waiter) {
            enter_round(run_.team[waiter.actor]);
            run_.clock.suspend(run_.team[waiter.actor]);
        };
        std::ranges::for_each(waiters_of(server), waits);
        if (server.promised) {
            waits(server.next);
        } else if (server.busy) {
            Worker& holder = run_.team[server.holder];
            enter_round(holder);
            holder.held[holder.held_count++] = circle.lock;
            run_.clock.wake_for_look(holder, circle.look_ps, circle.look_ps - server.granted_ps);
        }
        sync_.attach(circle.lock);
    }

    // The worker has begun a round and drawn its pick. Set `w.round` to the place after this pick.
    void enter_round(Worker& w) {
        const ns_view quiet = unmarked_view();
        ns_actor& actor = run_.queues.actor(w.id);
        --actor.victims.drawn;
        w.probed = true;
        w.probes_nobody = false;
        ns_round_begin(&w.round);
        ns_round_next(&w.round, &run_.plan.steal, &actor, &quiet, &w.level, &w.target);
    }

    // A task has come into queue `q`. Workers that may find it get events again.
    void filled(std::uint32_t q) override {
        if (is_marked()) wake_all();
        for (const std::uint32_t index : notices_[q]) part(circles_[index]);
    }

    static std::int64_t checked(std::int64_t time_ps) {
        if (time_ps > LATEST_PS) refuse_time();
        return time_ps;
    }

    SyncObjects& sync_;
    std::vector<Circle> circles_;
    std::vector<std::uint32_t> circle_of_;             // [workers]
    std::vector<std::vector<std::uint32_t>> notices_;  // [queues] the circles whose workers notice tasks in the queue
};

}  // namespace numasim
