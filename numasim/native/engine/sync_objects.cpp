#include "engine/sync_objects.hpp"

#include <algorithm>
#include <utility>

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

std::vector<WordCounts> SyncObjects::counts() const {
    std::vector<WordCounts> counts;
    std::transform(words_.begin(), words_.end(), std::back_inserter(counts), counts_of);
    return counts;
}

bool SyncObjects::use(Worker& w, std::uint8_t code, std::uint32_t word) {
    switch (code) {
        case LOCK: return request_and_wait(w, word, Then::PROCEED);
        case UNLOCK: release(word, w.id); return true;
        case ATOMIC: return request_and_wait(w, word, Then::ATOMIC);
        case BARRIER: return arrive(w, word);
        case AWAIT: return await(w, word);
        case SIGNAL: return signal(w, word, 1);
        default: return signal(w, word, plan_.words.parties[word]);
    }
}

// ---- locks --------------------------------------------------------------------------------------------------------

bool SyncObjects::request_and_wait(Worker& w, std::uint32_t word, Then then) {
    spin(w);
    request(word, w.id, then);
    return false;
}

// Wait without an event, and keep the core busy with it.
void SyncObjects::spin(Worker& w) {
    w.blocked = w.spins = true;
    clock_.suspend(w);
    memory_.tell_activity(w);
}

void SyncObjects::stop_spinning(Worker& w) {
    w.spins = false;
    memory_.tell_activity(w);
}

void SyncObjects::request(std::uint32_t word, std::uint32_t actor, Then then) {
    Server& server = words_[word].server;
    server.enqueue({clock_.now_ps(), actor, static_cast<std::uint32_t>(then)});
    if (server.busy) return;
    server.busy = true;
    promise(word, {0, ns_line_to_ps(&plan_.words.transfers, &words_[word].line, actor)});
}

// Schedule the grant to the chosen waiter.
void SyncObjects::promise(std::uint32_t word, ns_grant grant) {
    Server& server = words_[word].server;
    const auto chosen = server.waiters.begin() + grant.place;
    server.next = *chosen;
    server.waiters.erase(chosen);
    server.promised = true;
    const std::int64_t due = clock_.after(grant.delay_ps);
    clock_.set(clock_.word(word), due, GRANT, word);
    if (server.next.actor < team_.size()) expect(team_[server.next.actor], GRANT, due);
}

// A worker that waits, and does not search, will go on at `due` through the event of another actor.
void SyncObjects::expect(Worker& w, Rank rank, std::int64_t due) {
    if (w.idle) return;
    w.blocked = false;
    clock_.expect(w, rank, due);
}

ns_waiter SyncObjects::grant(std::uint32_t word) {
    SharedWord& shared = words_[word];
    Server& server = shared.server;
    const ns_waiter waiter = server.next;
    const std::int64_t waited = clock_.now_ps() - waiter.since_ps;
    clock_.clear(clock_.word(word));
    server.promised = false;
    server.holder = waiter.actor;
    server.granted_ps = clock_.now_ps();
    ++server.acquisitions;
    server.wait_ps += waited;
    ns_line_move(&plan_.words.transfers, &shared.line, waiter.actor);
    if (waiter.actor != clock_.producer()) end_lock_wait(waiter);
    recorder_.detail(GRANT, word, word, waiter.actor);
    return waiter;
}

// What a worker has waited for a lock was overhead.
void SyncObjects::end_lock_wait(const ns_waiter& waiter) {
    const std::int64_t waited = clock_.now_ps() - waiter.since_ps;
    Worker& w = team_[waiter.actor];
    w.counters.add_overhead(waited);
    if (recorder_.watch() == nullptr) return;
    w.began_ps = clock_.now_ps();
    recorder_.watch()->overhead(w, clock_.now_ps());
}

// Let go of a lock; it goes to one of those that wait for it, if any.
void SyncObjects::release(std::uint32_t word, std::uint32_t actor) {
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
                               static_cast<std::uint32_t>(server.waiters.size()), clock_.now_ps(), &server.run));
}

void SyncObjects::end_holding(std::uint32_t word) {
    Server& server = words_[word].server;
    server.hold_ps += clock_.now_ps() - server.granted_ps;
    recorder_.log(Held{word, server.holder, server.granted_ps, clock_.now_ps()});
    server.holder = NS_NOBODY;
}

// ---- locks of the search ------------------------------------------------------------------------------------------

// Nobody searches any more: take the locks of the search from whoever has them or waits for them.
void SyncObjects::free_search_locks() {
    for (Worker& w : team_) w.held.clear();
    for (std::uint32_t word = plan_.words.declared; word < words_.size(); ++word) free_search_lock(word);
}

void SyncObjects::free_search_lock(std::uint32_t word) {
    Server& server = words_[word].server;
    if (server.promised) server.waiters.push_back(server.next);
    for (const ns_waiter& waiter : server.waiters) {
        end_lock_wait(waiter);
        Worker& w = team_[waiter.actor];
        clock_.cut_short(w);
    }
    if (server.holder != NS_NOBODY) end_holding(word);
    server.waiters.clear();
    server.promised = server.busy = false;
    server.run = 0;
    clock_.clear(clock_.word(word));
}

// ---- barriers -----------------------------------------------------------------------------------------------------

bool SyncObjects::arrive(Worker& w, std::uint32_t word) {
    std::vector<ns_arrival>& arrivals = words_[word].barrier.arrivals;
    arrivals.push_back({.time_ps = clock_.now_ps(), .leave_ps = 0, .worker = w.id, .node = w.node});
    spin(w);
    w.counters.add_barrier(-clock_.now_ps());
    w.began_ps = clock_.now_ps();
    w.meets = true;
    if (static_cast<std::int64_t>(arrivals.size()) == plan_.words.parties[word]) meet(word);
    return false;
}

void SyncObjects::meet(std::uint32_t word) {
    SharedWord& shared = words_[word];
    Barrier& barrier = shared.barrier;
    if (barrier.of_worker.empty()) {
        barrier.of_node.resize(plan_.nodes, {0, NS_NOBODY, 0, 0});
        for (const Worker& w : team_) {
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
    for (const ns_arrival& arrival : barrier.arrivals) expect(team_[arrival.worker], RELEASE, opens);
    const auto later = std::upper_bound(barrier.meetings.begin(), barrier.meetings.end(), opens,
                                        [](std::int64_t time, const Meeting& other) { return time < other.opens_ps; });
    barrier.meetings.insert(later, {opens, std::exchange(barrier.arrivals, {})});
    clock_.set(clock_.word(word), barrier.meetings.front().opens_ps, RELEASE, word);
}

void SyncObjects::open(std::uint32_t word) {
    Barrier& barrier = words_[word].barrier;
    const Meeting met = std::move(barrier.meetings.front());
    barrier.meetings.erase(barrier.meetings.begin());
    if (barrier.meetings.empty()) {
        clock_.clear(clock_.word(word));
    } else {
        clock_.set(clock_.word(word), barrier.meetings.front().opens_ps, RELEASE, word);
    }
    recorder_.step(RELEASE, 1 + word, barrier.episode++, 0);
    for (const ns_arrival& arrival : met.parties) {
        Worker& w = team_[arrival.worker];
        w.counters.add_barrier(arrival.leave_ps);
        clock_.schedule(w, WAKE, arrival.leave_ps - clock_.now_ps());
    }
}

// ---- conditions ---------------------------------------------------------------------------------------------------

bool SyncObjects::await(Worker& w, std::uint32_t word) {
    Condition& condition = words_[word].condition;
    if (condition.permits != 0) {
        --condition.permits;
        w.owed_ps += ns_line_move(&plan_.words.transfers, &words_[word].line, w.id);
        return true;
    }
    condition.sleepers.push_back(w.id);
    w.blocked = w.rests = true;
    clock_.suspend(w);
    memory_.tell_activity(w);
    w.counters.add_parked(-clock_.now_ps());
    w.began_ps = clock_.now_ps();
    return false;
}

// Let `permits` waiters pass: those that sleep, in the order in which they came, then later ones.
bool SyncObjects::signal(Worker& w, std::uint32_t word, std::int64_t permits) {
    Condition& condition = words_[word].condition;
    std::int64_t spent = 0;
    for (; permits != 0 && !condition.sleepers.empty(); --permits) {
        Worker& sleeper = team_[condition.sleepers.front()];
        condition.sleepers.pop_front();
        words_[word].line.owner = sleeper.id;
        spent = sum_ps(spent, plan_.costs.signal_ps + ns_line_move(&plan_.words.transfers, &words_[word].line, w.id));
        sleeper.blocked = false;
        const bool remote = ns_line_wakes_remotely(&plan_.words.transfers, &words_[word].line, sleeper.id);
        clock_.schedule(sleeper, WAKE, sum_ps(spent, remote ? plan_.costs.wake_remote_ps : plan_.costs.wake_ps));
    }
    condition.permits = sum_ps(condition.permits, permits);
    w.owed_ps += spent;
    return true;
}

}  // namespace numasim
