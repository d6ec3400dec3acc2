// Synchronisation objects: locks, atomic words, conditions and barriers as servers of the clock, and the workers that
// wait for them (model 5; engine/reference/sync/sync_objects.py).
//
// An actor is a worker or the producer. An actor waits for one object at a time, and has no event of its own meanwhile.
// Each object has a slot of the clock for one event: GRANT of a lock or an atomic word, or RELEASE of a barrier.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <new>
#include <vector>

#include "memory/memory_system.hpp"
#include "plan.hpp"
#include "state/run.hpp"

namespace numasim {

// How an actor goes on when it has got a lock.
enum class Then : std::uint32_t { PROCEED, ATOMIC, SEARCH, ENQUEUE, PRODUCE };

// The counts of one object: its row in the table `words` of the results.
struct SyncCounts {
    std::int64_t acquisitions = 0, local = 0, remote = 0, wait_ps = 0, hold_ps = 0;
};

class SyncObjects {
public:
    SyncObjects(Run& run, MemorySystem& memory)
        : run_(run),
          memory_(memory),
          words_(run.plan.words),
          after_(std::size_t{run.plan.workers} + 1),
          leaders_(run.plan.workers) {
        for (std::size_t word = 0; word < words_.role.size(); ++word) {
            Object& object = objects_.emplace_back(
                Object{.line = {.home = words_.home[word], .owner = NS_NOBODY, .local = 0, .remote = 0}});
            object.server.holder = NS_NOBODY;
            if (words_.role[word] == BARRIER_WORD) add_barrier(object);
            if (words_.role[word] == CONDITION_WORD) {
                object.state = static_cast<std::uint32_t>(conditions_.size());
                conditions_.emplace_back();
            }
        }
    }

    ~SyncObjects() {
        for (const Object& object : objects_) std::free(object.server.places);
    }

    SyncObjects(const SyncObjects&) = delete;
    SyncObjects& operator=(const SyncObjects&) = delete;

    // Execute an op on a synchronisation object, after the worker has paid what it owes. False: the worker waits.
    [[gnu::noinline]] bool use(Worker& w, std::uint8_t code, std::uint32_t word) {
        switch (code) {
            case LOCK: return request_and_wait(w, word, Then::PROCEED);
            case UNLOCK: release(word, w.id); return true;
            case ATOMIC: return request_and_wait(w, word, Then::ATOMIC);
            case BARRIER: return arrive(w, word);
            case AWAIT: return await(w, word);
            case SIGNAL: return signal(w, word, 1);
            default: return signal(w, word, words_.parties[word]);
        }
    }

    // Ask for a lock or an atomic word for an actor. When the actor gets it, `grant` returns the actor and `then`.
    [[gnu::noinline]] void request(std::uint32_t word, std::uint32_t actor, Then then) {
        auto& [line, server, state] = objects_[word];
        const std::int64_t now_ps = run_.clock.now_ps();
        const bool free = ns_server_is_free(&server, now_ps);
        if (!ns_server_enqueue(&server, {now_ps, actor, static_cast<std::uint32_t>(then)})) throw std::bad_alloc();
        if (!free) return;
        if (server.awaits_woken) wait_on(server.next);
        ns_server_serve_last(&server, kind_of(word), &words_.transfers, &line, now_ps);
        schedule_grant(word);
    }

    [[gnu::noinline]] ns_waiter grant(std::uint32_t word) {
        auto& [line, server, state] = objects_[word];
        detach(word);
        ns_server_grant(&server, &words_.transfers, &line, run_.clock.now_ps());
        const ns_waiter waiter = server.next;
        if (waiter.actor != run_.clock.producer()) end_lock_wait(waiter.actor, waiter.since_ps);
        run_.detail(GRANT, word, word, waiter.actor);
        return waiter;
    }

    [[gnu::noinline]] void release(std::uint32_t word, std::uint32_t actor) {
        auto& [line, server, state] = objects_[word];
        end_holding(word);
        if (!ns_server_settle(&server, run_.clock.now_ps())) throw std::bad_alloc();
        if (ns_server_serve_next(&server, kind_of(word), &words_.rules, &words_.transfers, &line, actor,
                                 run_.clock.now_ps())) {
            schedule_grant(word);
        }
    }

    // Whether an actor that asks for the lock now gets it.
    bool is_free(std::uint32_t word) const { return ns_server_is_free(&objects_[word].server, run_.clock.now_ps()); }

    // The worker has got the object for which it waited with a busy core.
    [[gnu::noinline]] void stop_spinning(Worker& w) {
        w.spins = false;
        memory_.tell_activity(w);
    }

    // The server of a lock, and the cache line of the lock. Between `detach` and `attach` the grants of the lock are no
    // events of the clock. The caller makes them, and no other component uses the lock.
    ns_server* server(std::uint32_t word) { return &objects_[word].server; }
    ns_line* line(std::uint32_t word) { return &objects_[word].line; }
    void detach(std::uint32_t word) { run_.clock.clear(run_.clock.word(word)); }
    void attach(std::uint32_t word) {
        if (objects_[word].server.promised) schedule_grant(word);
    }

    // The barrier `word` opens for the parties of its first complete meeting.
    [[gnu::noinline]] void open(std::uint32_t word) {
        Barrier& barrier = barriers_[objects_[word].state];
        const Meeting met = std::move(barrier.complete.front());
        barrier.complete.pop_front();
        detach(word);
        if (!barrier.complete.empty()) schedule(word, RELEASE, barrier.complete.front().opens_ps);
        for (const ns_arrival& party : met.arrivals) {
            Worker& w = run_.team[party.worker];
            w.counters.idle_barrier_ps += party.leave_ps;
            run_.clock.schedule(w, WAKE, party.leave_ps - run_.clock.now_ps());
        }
        run_.step(RELEASE, 1 + word, barrier.episode++, 0);
    }

    // A phase ends: take the locks for probes from all workers, which hold them or wait for them.
    [[gnu::noinline]] void free_search_locks() {
        for (Worker& w : run_.team) w.held_count = 0;
        const auto end_wait = [this](const ns_waiter& waiter) {
            end_lock_wait(waiter.actor, waiter.since_ps);
            run_.clock.cut_short(run_.team[waiter.actor]);
        };
        for (auto word = static_cast<std::uint32_t>(words_.declared); word < objects_.size(); ++word) {
            ns_server& server = objects_[word].server;
            std::for_each_n(ns_server_waiters(&server), server.count, end_wait);
            if (server.promised) end_wait(server.next);
            if (server.wakes && !server.awaits_woken) end_wait(server.woken);
            if (server.holder != NS_NOBODY) end_holding(word);
            ns_server_clear(&server);
            detach(word);
        }
    }

    std::vector<SyncCounts> counts() const {
        std::vector<SyncCounts> counts;
        for (std::size_t word = 0; word < objects_.size(); ++word) {
            const auto& [line, server, state] = objects_[word];
            SyncCounts& each = counts.emplace_back();
            const auto add = [&each](const ns_line& moved) {
                each.local += moved.local;
                each.remote += moved.remote;
            };
            add(line);
            if (words_.role[word] == BARRIER_WORD) {
                std::ranges::for_each(barriers_[state].of_worker, add);
                std::ranges::for_each(barriers_[state].of_node, add);
            } else if (words_.role[word] <= ATOMIC_WORD) {
                each.acquisitions = server.acquisitions;
                each.wait_ps = server.wait_ps;
                each.hold_ps = server.hold_ps;
            }
        }
        return counts;
    }

private:
    // Parties that meet at a barrier, and when the barrier opens for them.
    struct Meeting {
        std::int64_t opens_ps = 0;
        std::vector<ns_arrival> arrivals;
    };
    struct Barrier {
        std::deque<Meeting> complete;  // in the order in which they open
        Meeting gathering;
        std::int64_t episode = 0;
        std::vector<ns_line> of_worker, of_node;  // [workers], [nodes]
    };
    // The actors that sleep at a condition form a list: `first`, then `after_` of each, until `last`.
    struct Condition {
        std::int64_t permits = 0;  // how many later actors need not wait
        std::uint32_t first = NS_NOBODY, last = NS_NOBODY;
    };
    struct Object {
        ns_line line;
        ns_server server{};       // of a lock or an atomic word
        std::uint32_t state = 0;  // number of a barrier, or of a condition
    };

    // `due_ps` may exceed LATEST_PS only if the actor is a worker that searches: the phase may end before that time.
    void schedule(std::uint32_t word, Rank rank, std::int64_t due_ps) {
        run_.clock.set(run_.clock.word(word), std::min(due_ps, LATEST_PS), rank, word);
    }

    // Schedule the grant that the server has promised.
    void schedule_grant(std::uint32_t word) {
        const ns_server& server = objects_[word].server;
        schedule(word, GRANT, server.due_ps);
        expect(server.next.actor, GRANT, server.due_ps);
    }

    bool request_and_wait(Worker& w, std::uint32_t word, Then then) {
        spin(w);
        request(word, w.id, then);
        return false;
    }

    // Wait without an event, and keep the core busy meanwhile.
    void spin(Worker& w) {
        w.blocked = w.spins = true;
        run_.clock.suspend(w);
        memory_.tell_activity(w);
    }

    // An actor that waits for a word will go on at `due_ps`. A worker that does not search counts as busy until then.
    void expect(std::uint32_t actor, Rank rank, std::int64_t due_ps) {
        if (due_ps > LATEST_PS) refuse_time();
        if (actor == run_.clock.producer() || run_.team[actor].idle) return;
        run_.team[actor].blocked = false;
        run_.clock.expect(run_.team[actor], rank, due_ps);
    }

    // Another actor takes the lock that `waiter` was promised: `waiter` waits on, as before the promise.
    void wait_on(const ns_waiter& waiter) {
        const auto then = static_cast<Then>(waiter.then);
        if (then == Then::PRODUCE || run_.team[waiter.actor].idle) return;
        Worker& w = run_.team[waiter.actor];
        w.blocked = then == Then::PROCEED || then == Then::ATOMIC;
        if (then == Then::ENQUEUE) {
            run_.clock.hold(w);
        } else {
            run_.clock.suspend(w);
        }
    }

    void end_holding(std::uint32_t word) {
        ns_server& server = objects_[word].server;
        run_.recorder.log(Held{word, server.holder, server.granted_ps, run_.clock.now_ps()});
        ns_server_end_holding(&server, run_.clock.now_ps());
    }

    // The time that a worker has waited for a lock is overhead.
    void end_lock_wait(std::uint32_t actor, std::int64_t since_ps) {
        Worker& w = run_.team[actor];
        w.counters.overhead_ps += run_.clock.now_ps() - since_ps;
        w.began_ps = run_.clock.now_ps();
        run_.recorder.overhead(w);
    }

    // The line of a worker has the worker's home node. The line of a node has the home node of a worker of the node.
    void add_barrier(Object& object) {
        object.state = static_cast<std::uint32_t>(barriers_.size());
        Barrier& barrier = barriers_.emplace_back();
        barrier.of_node.assign(run_.plan.nodes, {.home = 0, .owner = NS_NOBODY, .local = 0, .remote = 0});
        for (std::size_t worker = 0; worker < run_.plan.workers; ++worker) {
            const std::int32_t home = words_.worker_home[worker];
            barrier.of_worker.push_back({.home = home, .owner = NS_NOBODY, .local = 0, .remote = 0});
            barrier.of_node[static_cast<std::size_t>(run_.plan.node[worker])].home = home;
        }
    }

    [[gnu::noinline]] bool arrive(Worker& w, std::uint32_t word) {
        spin(w);
        w.counters.idle_barrier_ps -= run_.clock.now_ps();
        w.began_ps = run_.clock.now_ps();
        w.meets = true;
        std::vector<ns_arrival>& arrivals = barriers_[objects_[word].state].gathering.arrivals;
        arrivals.push_back({.time_ps = run_.clock.now_ps(), .leave_ps = 0, .worker = w.id, .node = w.node});
        if (static_cast<std::int64_t>(arrivals.size()) == words_.parties[word]) complete(word);
        return false;
    }

    // All parties of the gathering meeting have come: compute when the barrier opens for these parties.
    void complete(std::uint32_t word) {
        Object& object = objects_[word];
        Barrier& barrier = barriers_[object.state];
        Meeting met = std::exchange(barrier.gathering, {});
        ns_barrier lines{object.line, barrier.of_worker.data(), barrier.of_node.data()};
        met.opens_ps = ns_barrier_open(words_.barrier, &words_.transfers, &lines, met.arrivals.data(),
                                       static_cast<std::uint32_t>(met.arrivals.size()), leaders_.data());
        object.line = lines.shared;
        for (const ns_arrival& party : met.arrivals) expect(party.worker, RELEASE, met.opens_ps);
        const auto place = std::ranges::upper_bound(barrier.complete, met.opens_ps, {}, &Meeting::opens_ps);
        barrier.complete.insert(place, std::move(met));
        schedule(word, RELEASE, barrier.complete.front().opens_ps);
    }

    [[gnu::noinline]] bool await(Worker& w, std::uint32_t word) {
        Condition& condition = conditions_[objects_[word].state];
        if (condition.permits != 0) {
            --condition.permits;
            w.owed_ps += ns_line_move(&words_.transfers, &objects_[word].line, w.id);
            return true;
        }
        (condition.first == NS_NOBODY ? condition.first : after_[condition.last]) = w.id;
        condition.last = w.id;
        after_[w.id] = NS_NOBODY;
        w.blocked = w.rests = true;
        run_.clock.suspend(w);
        memory_.tell_activity(w);
        w.counters.parked_ps -= run_.clock.now_ps();
        w.began_ps = run_.clock.now_ps();
        return false;
    }

    // Let `permits` waiters pass. Sleepers come first, in the order of their arrival, and are woken one after the
    // other: each wake takes time. Permits that remain are for later waiters.
    [[gnu::noinline]] bool signal(Worker& w, std::uint32_t word, std::int64_t permits) {
        Condition& condition = conditions_[objects_[word].state];
        ns_line& line = objects_[word].line;
        std::int64_t spent_ps = 0;
        for (; permits != 0 && condition.first != NS_NOBODY; --permits) {
            Worker& sleeper = run_.team[condition.first];
            condition.first = after_[sleeper.id];
            line.owner = sleeper.id;
            spent_ps = ns_sum(spent_ps, run_.plan.costs.signal_ps + ns_line_move(&words_.transfers, &line, w.id));
            const bool remote = ns_line_wakes_remotely(&words_.transfers, &line, sleeper.id);
            sleeper.blocked = false;
            run_.clock.schedule(sleeper, WAKE,
                                ns_sum(spent_ps, remote ? words_.rules.wake_remote_ps : words_.rules.wake_ps));
        }
        condition.permits = ns_sum(condition.permits, permits);
        w.owed_ps += spent_ps;
        return true;
    }

    ns_lock_kind kind_of(std::uint32_t word) const {  // actors get an atomic word in the order of their arrival
        return words_.role[word] == ATOMIC_WORD ? NS_LOCK_MCS : words_.kind;
    }

    Run& run_;
    MemorySystem& memory_;
    const ns_plan_words& words_;
    std::vector<Object> objects_;  // [words]
    std::vector<Barrier> barriers_;
    std::vector<Condition> conditions_;
    std::vector<std::uint32_t> after_;  // [actors] the actor that went to sleep next at the same condition
    std::vector<ns_arrival> leaders_;   // [workers] scratch
};

}  // namespace numasim
