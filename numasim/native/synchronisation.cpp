// Waiting for shared words: locks, atomic operations, conditions, barriers (model 5;
// numasim/engine/synchronisation.py).
#include <algorithm>
#include <utility>

#include "engine.hpp"

namespace numasim {

namespace {

WordCounts counts_of(const SharedWord& word) {
    WordCounts counts{word.server.acquisitions, word.line.local, word.line.remote, word.server.wait_ps,
                      word.server.hold_ps};
    for (const auto* lines : {&word.barrier.of_worker, &word.barrier.of_node}) {
        for (const ns_line& line : *lines) {
            counts.local += line.local;
            counts.remote += line.remote;
        }
    }
    return counts;
}

}  // namespace

std::vector<WordCounts> Engine::word_counts() const {
    std::vector<WordCounts> counts;
    std::transform(words_.begin(), words_.end(), std::back_inserter(counts), counts_of);
    return counts;
}

// Execute the op on a shared word that `frame` has come to, after paying what is owed; false: the worker waits.
bool Engine::use_word(Worker& w, Frame& frame) {
    if (w.owed_ps != 0) {
        schedule_overhead(w, PUT, 0);
        return false;
    }
    const std::uint8_t code = plan_.graph.op_code[frame.at];
    const std::uint32_t word = plan_.graph.op_arg[frame.at];
    ++frame.at;
    switch (code) {
        case LOCK: return request_and_wait(w, word, Then::PROCEED);
        case UNLOCK: release_lock(word, w.id); return true;
        case ATOMIC: return request_and_wait(w, word, Then::ATOMIC);
        case BARRIER: return arrive(w, word);
        case AWAIT: return await(w, word);
        case SIGNAL: return signal(w, word, 1);
        default: return signal(w, word, plan_.words.parties[word]);
    }
}

// ---- locks --------------------------------------------------------------------------------------------------------

bool Engine::request_and_wait(Worker& w, std::uint32_t word, Then then) {
    spin(w);
    request(word, w.id, then);
    return false;
}

// Wait without an event, and keep the core busy with it.
void Engine::spin(Worker& w) {
    w.blocked = w.spins = true;
    busy_until_[w.id] = INT64_MAX;
    clock_.clear(w.id);
    if (flows_) tell_activity(w);
}

void Engine::stop_spinning(Worker& w) {
    w.spins = false;
    if (flows_) tell_activity(w);
}

void Engine::request(std::uint32_t word, std::uint32_t actor, Then then) {
    Server& server = words_[word].server;
    server.enqueue({now_, actor, static_cast<std::uint32_t>(then)});
    if (server.busy) return;
    server.busy = true;
    promise(word, {0, ns_line_to_ps(&plan_.words.transfers, &words_[word].line, actor)});
}

// Schedule the grant to the chosen waiter.
void Engine::promise(std::uint32_t word, ns_grant grant) {
    Server& server = words_[word].server;
    const auto chosen = server.waiters.begin() + grant.place;
    server.next = *chosen;
    server.waiters.erase(chosen);
    server.promised = true;
    const std::int64_t due = after(grant.delay_ps);
    clock_.set(word_slot(word), event_key(due, GRANT, word));
    if (server.next.actor < workers_.size()) expect(workers_[server.next.actor], GRANT, due);
}

// A worker that waits, and does not search, will go on at `due` through the event of another actor.
void Engine::expect(Worker& w, Rank rank, std::int64_t due) {
    if (w.idle) return;
    w.blocked = false;
    w.rank = rank;
    w.due_ps = due;
    busy_until_[w.id] = due;
}

void Engine::on_grant(std::uint32_t word) {
    SharedWord& shared = words_[word];
    Server& server = shared.server;
    const ns_waiter waiter = server.next;
    const std::int64_t waited = now_ - waiter.since_ps;
    clock_.clear(word_slot(word));
    server.promised = false;
    server.holder = waiter.actor;
    server.granted_ps = now_;
    ++server.acquisitions;
    server.wait_ps += waited;
    ns_line_move(&plan_.words.transfers, &shared.line, waiter.actor);
    end_lock_wait(waiter);
    record_detail(GRANT, word, word, waiter.actor);
    go_on(static_cast<Then>(waiter.then), word, waiter.actor);
}

// What an actor has waited for a lock was overhead.
void Engine::end_lock_wait(const ns_waiter& waiter) {
    const std::int64_t waited = now_ - waiter.since_ps;
    if (waiter.actor == producer_id()) {
        producers_.back().overhead_ps += waited;
        if (watch_ != nullptr) watch_->tell(Watched::OVERHEAD, waiter.actor, waiter.since_ps, now_);
        return;
    }
    Worker& w = workers_[waiter.actor];
    w.counters.overhead_ps += waited;
    if (watch_ == nullptr) return;
    w.began_ps = now_;
    watch_->overhead(w, now_);
}

void Engine::go_on(Then then, std::uint32_t word, std::uint32_t actor) {
    switch (then) {
        case Then::ATOMIC: release_lock(word, actor); [[fallthrough]];
        case Then::PROCEED: stop_spinning(workers_[actor]); return proceed(workers_[actor]);
        case Then::SEARCH: workers_[actor].held.push_back(word); return pass_locks(workers_[actor]);
        case Then::PUT: return put_locked(workers_[actor], workers_[actor].target);
        default: break;
    }
    Producer& p = producers_.back();
    release_lock(word, actor);
    put_item(p, has_room(static_cast<std::uint32_t>(p.target)) ? p.target : NS_UNKNOWN);
}

// Let go of a lock; it goes to one of those that wait for it, if any.
void Engine::release_lock(std::uint32_t word, std::uint32_t actor) {
    SharedWord& shared = words_[word];
    Server& server = shared.server;
    end_holding(word);
    ns_line_move(&plan_.words.transfers, &shared.line, actor);
    if (server.waiters.empty()) {
        server.busy = false;
        server.run = 0;
        return;
    }
    const ns_lock_kind kind = plan_.words.role[word] == ATOMIC_WORD ? NS_LOCK_MCS : plan_.words.kind;
    promise(word, ns_lock_next(kind, &plan_.words.rules, &plan_.words.transfers, &shared.line, server.waiters.data(),
                               static_cast<std::uint32_t>(server.waiters.size()), now_, &server.run));
}

void Engine::end_holding(std::uint32_t word) {
    Server& server = words_[word].server;
    server.hold_ps += now_ - server.granted_ps;
    if (keep_log_) held_.push_back({word, server.holder, server.granted_ps, now_});
    server.holder = NS_NOBODY;
}

// ---- locks of the search ------------------------------------------------------------------------------------------

// Take the locks of the next probe, that of its level first, and send it; let go of those of the last one.
void Engine::pass_locks(Worker& w) {
    const Words& words = plan_.words;
    const std::int32_t needed[] = {words.level_lock.empty()
                                       ? NO_LOCK
                                       : words.level_lock[std::size_t{w.level} * plan_.steal.queue_count + w.target],
                                   queue_lock(static_cast<std::int32_t>(w.target))};
    for (std::size_t i = 0; i < w.held.size();) {
        const auto word = w.held[i];
        if (std::find(std::begin(needed), std::end(needed), static_cast<std::int32_t>(word)) == std::end(needed)) {
            w.held.erase(w.held.begin() + static_cast<std::ptrdiff_t>(i));
            release_lock(word, w.id);
        } else {
            ++i;
        }
    }
    for (const std::int32_t lock : needed) {
        const auto word = static_cast<std::uint32_t>(lock);
        if (lock == NO_LOCK || std::find(w.held.begin(), w.held.end(), word) != w.held.end()) continue;
        w.rank = POLL;
        if (watch_ != nullptr) tell_idle(w, 0, 0);
        busy_until_[w.id] = INT64_MAX;
        clock_.clear(w.id);
        return request(word, w.id, Then::SEARCH);
    }
    send_probe(w);
}

void Engine::release_held(Worker& w) {
    for (const std::uint32_t word : w.held) release_lock(word, w.id);
    w.held.clear();
}

// Something was found: pay for it, then let go of the locks.
void Engine::leave_search(Worker& w) {
    if (w.owed_ps != 0) return schedule_overhead(w, PUT, 0);
    release_held(w);
    proceed(w);
}

// Nobody searches any more: take the locks of the search from whoever has them or waits for them.
void Engine::free_search_locks() {
    for (Worker& w : workers_) w.held.clear();
    for (std::uint32_t word = plan_.words.declared; word < words_.size(); ++word) free_search_lock(word);
}

void Engine::free_search_lock(std::uint32_t word) {
    Server& server = words_[word].server;
    if (server.promised) server.waiters.push_back(server.next);
    for (const ns_waiter& waiter : server.waiters) {
        end_lock_wait(waiter);
        Worker& w = workers_[waiter.actor];
        w.due_ps = now_;
        w.step_ps = 0;
    }
    if (server.holder != NS_NOBODY) end_holding(word);
    server.waiters.clear();
    server.promised = server.busy = false;
    server.run = 0;
    clock_.clear(word_slot(word));
}

// ---- barriers -----------------------------------------------------------------------------------------------------

bool Engine::arrive(Worker& w, std::uint32_t word) {
    std::vector<ns_arrival>& arrivals = words_[word].barrier.arrivals;
    arrivals.push_back({.time_ps = now_, .leave_ps = 0, .worker = w.id, .node = w.node});
    spin(w);
    w.counters.idle_barrier_ps -= now_;
    w.began_ps = now_;
    w.meets = true;
    if (static_cast<std::int64_t>(arrivals.size()) == plan_.words.parties[word]) open_barrier(word);
    return false;
}

void Engine::open_barrier(std::uint32_t word) {
    SharedWord& shared = words_[word];
    Barrier& barrier = shared.barrier;
    if (barrier.of_worker.empty()) {
        barrier.of_node.resize(plan_.nodes, {0, NS_NOBODY, 0, 0});
        for (const Worker& w : workers_) {
            barrier.of_worker.push_back({plan_.words.worker_home[w.id], NS_NOBODY, 0, 0});
            barrier.of_node[static_cast<std::size_t>(w.node)].home = plan_.words.worker_home[w.id];
        }
    }
    leaders_.resize(std::max(leaders_.size(), barrier.arrivals.size()));
    ns_barrier lines{shared.line, barrier.of_worker.data(), barrier.of_node.data()};
    const std::int64_t opens =
        ns_barrier_open(plan_.words.barrier, &plan_.words.transfers, &lines, barrier.arrivals.data(),
                        static_cast<std::uint32_t>(barrier.arrivals.size()), leaders_.data());
    shared.line = lines.shared;
    if (opens > LATEST_PS) refuse_time();
    for (const ns_arrival& arrival : barrier.arrivals) expect(workers_[arrival.worker], RELEASE, opens);
    const auto later = std::upper_bound(barrier.meetings.begin(), barrier.meetings.end(), opens,
                                        [](std::int64_t time, const Meeting& other) { return time < other.opens_ps; });
    barrier.meetings.insert(later, {opens, std::exchange(barrier.arrivals, {})});
    clock_.set(word_slot(word), event_key(barrier.meetings.front().opens_ps, RELEASE, word));
}

void Engine::on_release(std::uint32_t word) {
    Barrier& barrier = words_[word].barrier;
    const Meeting met = std::move(barrier.meetings.front());
    barrier.meetings.erase(barrier.meetings.begin());
    if (barrier.meetings.empty()) {
        clock_.clear(word_slot(word));
    } else {
        clock_.set(word_slot(word), event_key(barrier.meetings.front().opens_ps, RELEASE, word));
    }
    record_step(RELEASE, 1 + word, barrier.episode++, 0);
    for (const ns_arrival& arrival : met.parties) {
        Worker& w = workers_[arrival.worker];
        w.counters.idle_barrier_ps += arrival.leave_ps;
        schedule(w, WAKE, arrival.leave_ps - now_);
    }
}

// ---- conditions ---------------------------------------------------------------------------------------------------

bool Engine::await(Worker& w, std::uint32_t word) {
    Condition& condition = words_[word].condition;
    if (condition.permits != 0) {
        --condition.permits;
        w.owed_ps += ns_line_move(&plan_.words.transfers, &words_[word].line, w.id);
        return true;
    }
    condition.sleepers.push_back(w.id);
    w.blocked = w.rests = true;
    busy_until_[w.id] = INT64_MAX;
    clock_.clear(w.id);
    if (flows_) tell_activity(w);
    w.counters.parked_ps -= now_;
    w.began_ps = now_;
    return false;
}

// Let `permits` waiters pass: those that sleep, in the order in which they came, then later ones.
bool Engine::signal(Worker& w, std::uint32_t word, std::int64_t permits) {
    Condition& condition = words_[word].condition;
    std::int64_t spent = 0;
    for (; permits != 0 && !condition.sleepers.empty(); --permits) {
        Worker& sleeper = workers_[condition.sleepers.front()];
        condition.sleepers.pop_front();
        words_[word].line.owner = sleeper.id;
        spent = sum_ps(spent, plan_.costs.signal_ps + ns_line_move(&plan_.words.transfers, &words_[word].line, w.id));
        sleeper.blocked = false;
        const bool remote = ns_line_wakes_remotely(&plan_.words.transfers, &words_[word].line, sleeper.id);
        schedule(sleeper, WAKE, sum_ps(spent, remote ? plan_.costs.wake_remote_ps : plan_.costs.wake_ps));
    }
    condition.permits = sum_ps(condition.permits, permits);
    w.owed_ps += spent;
    return true;
}

}  // namespace numasim
