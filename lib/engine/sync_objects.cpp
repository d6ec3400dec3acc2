#include "sync_objects.hpp"

#include <new>

namespace numasim {

ns_sync* SyncObjects::make() {
    const ns_sync_listener listener{
        .context = this,
        .expected = [](void* self, std::uint32_t actor, ns_rank rank,
                       std::int64_t due_ps) { static_cast<SyncObjects*>(self)->expect(actor, rank, due_ps); },
        .held =
            [](void* self, std::uint32_t word, std::uint32_t actor, std::int64_t start_ps) {
                const SyncObjects& sync = *static_cast<SyncObjects*>(self);
                sync.run_.recorder.log(Held{word, actor, start_ps, sync.run_.clock.now_ps()});
            },
        .released =
            [](void* self, std::uint32_t actor, std::int64_t leave_ps) {
                const SyncObjects& sync = *static_cast<SyncObjects*>(self);
                sync.run_.team[actor].counters.idle_barrier_ps += leave_ps;
                sync.run_.clock.schedule(sync.run_.team[actor], WAKE, leave_ps - sync.run_.clock.now_ps());
            },
        .woken =
            [](void* self, std::uint32_t actor, std::int64_t delay_ps) {
                const SyncObjects& sync = *static_cast<SyncObjects*>(self);
                sync.run_.team[actor].blocked = false;
                sync.run_.clock.schedule(sync.run_.team[actor], WAKE, delay_ps);
            },
    };
    ns_sync* const made = ns_sync_create(&run_.plan, run_.clock.tree(), run_.clock.word(0), listener);
    if (made == nullptr) throw std::bad_alloc();
    return made;
}

std::vector<ns_sync_counts> SyncObjects::counts() const {
    std::vector<ns_sync_counts> counts;
    for (std::uint32_t word = 0; word < run_.plan.words.role.size(); ++word) {
        counts.push_back(ns_sync_count(sync_.get(), word));
    }
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
        default: return signal(w, word, run_.plan.words.parties[word]);
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
    run_.clock.suspend(w);
    memory_.tell_activity(w);
}

void SyncObjects::stop_spinning(Worker& w) {
    w.spins = false;
    memory_.tell_activity(w);
}

void SyncObjects::request(std::uint32_t word, std::uint32_t actor, Then then) {
    if (!ns_sync_request(sync_.get(), word, actor, static_cast<std::uint32_t>(then), run_.clock.now_ps())) {
        throw std::bad_alloc();
    }
}

// A worker that waits, and does not search, will go on at `due_ps` through the event of a word.
void SyncObjects::expect(std::uint32_t actor, Rank rank, std::int64_t due_ps) {
    if (due_ps > LATEST_PS) refuse_time();
    if (actor == run_.clock.producer() || run_.team[actor].idle) return;
    run_.team[actor].blocked = false;
    run_.clock.expect(run_.team[actor], rank, due_ps);
}

ns_waiter SyncObjects::grant(std::uint32_t word) {
    const ns_waiter waiter = ns_sync_grant(sync_.get(), word, run_.clock.now_ps());
    if (waiter.actor != run_.clock.producer()) end_lock_wait(waiter.actor, waiter.since_ps);
    run_.detail(GRANT, word, word, waiter.actor);
    return waiter;
}

// What a worker has waited for a lock was overhead.
void SyncObjects::end_lock_wait(std::uint32_t actor, std::int64_t since_ps) {
    Worker& w = run_.team[actor];
    w.counters.overhead_ps += run_.clock.now_ps() - since_ps;
    w.began_ps = run_.clock.now_ps();
    run_.recorder.overhead(w);
}

void SyncObjects::release(std::uint32_t word, std::uint32_t actor) {
    ns_sync_release(sync_.get(), word, actor, run_.clock.now_ps());
}

void SyncObjects::free_search_locks() {
    for (Worker& w : run_.team) w.held_count = 0;
    ns_sync_free_search(sync_.get(), run_.plan.words.declared, run_.clock.now_ps(),
                        [](void* self, std::uint32_t actor, std::int64_t since_ps) {
                            SyncObjects& sync = *static_cast<SyncObjects*>(self);
                            sync.end_lock_wait(actor, since_ps);
                            sync.run_.clock.cut_short(sync.run_.team[actor]);
                        });
}

// ---- barriers and conditions ---------------------------------------------------------------------------------------

bool SyncObjects::arrive(Worker& w, std::uint32_t word) {
    spin(w);
    w.counters.idle_barrier_ps -= run_.clock.now_ps();
    w.began_ps = run_.clock.now_ps();
    w.meets = true;
    ns_sync_arrive(sync_.get(), word, w.id, run_.clock.now_ps());
    return false;
}

void SyncObjects::open(std::uint32_t word) {
    const std::int64_t episode = ns_sync_open(sync_.get(), word);
    run_.step(RELEASE, 1 + word, episode, 0);
}

bool SyncObjects::await(Worker& w, std::uint32_t word) {
    std::int64_t owed_ps = 0;
    if (ns_sync_await(sync_.get(), word, w.id, &owed_ps)) {
        w.owed_ps += owed_ps;
        return true;
    }
    w.blocked = w.rests = true;
    run_.clock.suspend(w);
    memory_.tell_activity(w);
    w.counters.parked_ps -= run_.clock.now_ps();
    w.began_ps = run_.clock.now_ps();
    return false;
}

bool SyncObjects::signal(Worker& w, std::uint32_t word, std::int64_t permits) {
    w.owed_ps += ns_sync_signal(sync_.get(), word, w.id, permits);
    return true;
}

}  // namespace numasim
