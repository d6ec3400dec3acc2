#include "sync/sleepers.h"

#include "numasim/runtime.h"
#include "platform/near_memory.h"
#include "platform/waiting.h"

static const uint64_t ONE_SLEEPER = UINT64_C(1) << 32;

/* What a worker does. */
enum doing { AT_WORK, SEARCHING, LYING_DOWN /* or asleep */ };

static enum ns_reach reach_of(const ns_takers *takers, uint32_t worker) {
    return takers ? takers->reach(takers->context, worker) : NS_REACH_ALWAYS;
}

int ns_sleepers_create(ns_sleepers **made, const ns_idle *rule, uint32_t workers) {
    ns_sleepers *self = *made = ns_near_memory_allocate(sizeof *self, -1);
    if (!self) return NS_ERROR_MEMORY;
    self->rule = rule;
    self->workers = workers;
    self->sleeper = ns_near_memory_allocate(workers * sizeof *self->sleeper, -1);
    self->order = ns_near_memory_allocate(workers * sizeof *self->order, -1);
    self->doing = ns_near_memory_allocate(workers * sizeof *self->doing, -1);
    bool all = self->sleeper && self->order && self->doing;
    for (uint32_t worker = 0; all && worker < workers; worker++) {
        self->sleeper[worker] = ns_near_memory_allocate(sizeof(ns_sleeper), -1);
        all = self->sleeper[worker];
    }
    return all ? NS_OK : NS_ERROR_MEMORY;
}

void ns_sleepers_destroy(ns_sleepers *self) {
    if (!self) return;
    for (uint32_t worker = 0; self->sleeper && worker < self->workers; worker++)
        ns_near_memory_free(self->sleeper[worker], sizeof(ns_sleeper));
    ns_near_memory_free(self->sleeper, self->workers * sizeof *self->sleeper);
    ns_near_memory_free(self->order, self->workers * sizeof *self->order);
    ns_near_memory_free(self->doing, self->workers * sizeof *self->doing);
    ns_near_memory_free(self, sizeof *self);
}

/* ---- searching --------------------------------------------------------------------------------------------------- */

/* Store what the worker does, if the plan says who can take from which queue. */
static void mark(ns_sleepers *self, uint32_t worker, enum doing doing) {
    /* relaxed: the change of the census that follows, and the fence after it, order this store */
    if (self->rule->reach.count) ns_atomic_u32_store(&self->doing[worker], doing, memory_order_relaxed);
}

/* Return whether the plan's cap on searching workers allows one more, while `busy` workers are at work. */
static bool has_room(const ns_sleepers *self, uint32_t searching, uint32_t busy) {
    const ns_idle *rule = self->rule;
    if (!rule->cap) return true;
    if (rule->cap_of == NS_CAP_COUNT) return searching < rule->cap;
    const uint32_t some = rule->cap_of == NS_CAP_SHARE ? self->workers : busy;
    return searching == 0 ? some > 0 : rule->cap < (some + searching - 1) / searching; /* cap * searching < some */
}

bool ns_sleepers_try_search(ns_sleepers *self, uint32_t worker, uint32_t busy) {
    uint64_t seen = ns_atomic_u64_load(&self->census, memory_order_relaxed); /* relaxed: checked by the swap */
    mark(self, worker, SEARCHING);
    do {
        if (has_room(self, ns_census_searching(seen), busy)) continue;
        mark(self, worker, AT_WORK);
        return false;
    } while (
        !ns_atomic_u64_compare_exchange(&self->census, &seen, seen + 1, memory_order_seq_cst, memory_order_relaxed));
    return true;
}

void ns_sleepers_search(ns_sleepers *self, uint32_t worker, bool takes_any) {
    if (takes_any) mark(self, worker, SEARCHING);
    /* seq_cst: all threads agree on the order in which the census changes. Pushing workers may see this change late:
     * then they wake a sleeper that need not be woken */
    ns_atomic_u64_fetch_add(&self->census, 1, memory_order_seq_cst);
}

uint64_t ns_sleepers_stop_searching(ns_sleepers *self, uint32_t worker) {
    mark(self, worker, AT_WORK);
    /* seq_cst: a pushing worker that relies on this worker has read the census before this change. So this worker knows
     * whether it was the last searching worker, and whether other workers sleep */
    return ns_atomic_u64_fetch_add(&self->census, UINT64_MAX, memory_order_seq_cst) - 1;
}

/* Return whether some worker whose reach to the queue is `least` or better does `asked` now. */
static bool some_are(const ns_sleepers *self, const ns_takers *takers, enum ns_reach least, enum doing asked) {
    for (uint32_t worker = 0; worker < self->workers; worker++) {
        /* relaxed: ordered by the fence of the caller */
        const uint32_t doing = ns_atomic_u32_load(&self->doing[worker], memory_order_relaxed);
        if (doing == asked && reach_of(takers, worker) >= least) return true;
    }
    return false;
}

enum ns_reach ns_sleepers_cover_by(const ns_sleepers *self, const ns_takers *takers) {
    return some_are(self, takers, NS_REACH_ALWAYS, LYING_DOWN) ? NS_REACH_ALWAYS : NS_REACH_SOMETIMES;
}

static bool is_covered(const ns_sleepers *self, const ns_takers *takers, uint64_t census) {
    if (!takers) return ns_census_searching(census);
    return some_are(self, takers, ns_sleepers_cover_by(self, takers), SEARCHING);
}

bool ns_sleepers_somebody_is_sure(const ns_sleepers *self, const ns_takers *takers) {
    uint32_t worker = 0;
    while (worker < self->workers && reach_of(takers, worker) != NS_REACH_ALWAYS) worker++;
    return worker < self->workers;
}

bool ns_sleepers_is_uncovered(const ns_sleepers *self, const ns_takers *takers) {
    return !is_covered(self, takers, ns_atomic_u64_load(&self->census, memory_order_relaxed)); /* relaxed: fenced */
}

/* ---- the list of sleepers, under its lock ------------------------------------------------------------------------ */

/* Add `change` to the census, under the lock of the list. Return the new census. */
static uint64_t count_in(ns_sleepers *self, uint64_t change) {
    return ns_atomic_u64_fetch_add(&self->census, change, memory_order_seq_cst) + change;
}

/* Remove the sleeper at position `place` of the list. `searches`: count it as searching from now on. */
static void remove_at(ns_sleepers *self, uint32_t place, bool searches) {
    const ns_sleeper *sleeper = self->sleeper[self->order[place]];
    mark(self, self->order[place], searches ? SEARCHING : AT_WORK);
    /* relaxed: a worker that reads an old number only looks at the list in vain */
    if (sleeper->awaits) ns_atomic_u32_fetch_add(&self->waits, UINT32_MAX, memory_order_relaxed);
    self->count--;
    for (uint32_t at = place; at < self->count; at++) self->order[at] = self->order[at + 1];
    count_in(self, (searches ? 1 : 0) - ONE_SLEEPER);
}

/* Return the position of the worker in the list; `count` if the worker is not there. */
static uint32_t place_of(const ns_sleepers *self, uint32_t worker) {
    uint32_t place = self->count;
    while (place && self->order[place - 1] != worker) place--;
    return place ? place - 1 : self->count;
}

/* Remove the sleeper at position `place` of the list, and set its state: woken, or called back before its sleep. Return
 * whether the sleeper may be asleep: then the caller must call ns_futex_wake. */
static bool call(ns_sleepers *self, uint32_t place) {
    const uint32_t worker = self->order[place];
    ns_atomic_u32 *state = &self->sleeper[worker]->state;
    remove_at(self, place, self->rule->counted);
    if (self->rule->cancels) {
        uint32_t announced = NS_ANNOUNCED;
        /* release: the sleeper sees the pushed task. The sleeper may fall asleep now: then the swap fails */
        if (ns_atomic_u32_compare_exchange(state, &announced, NS_CALLED, memory_order_release, memory_order_relaxed))
            return false;
    }
    ns_atomic_u32_store(state, NS_WOKEN, memory_order_release); /* release: the sleeper sees the pushed task */
    return true;
}

/* ---- falling asleep ---------------------------------------------------------------------------------------------- */

/* Make the worker a sleeper. Return whether no worker searches now. */
static bool announce(ns_sleepers *self, const ns_sleep_order *order) {
    ns_sleeper *mine = self->sleeper[order->worker];
    ns_mcs_acquire(&self->lock);
    mine->awaits = order->awaited;
    mine->target = order->target;
    mine->timed = false;
    /* relaxed, twice: other workers read these words under the lock; `waits` also after a fence, which pairs with the
     * fence below */
    ns_atomic_u32_store(&mine->state, NS_ANNOUNCED, memory_order_relaxed);
    if (order->awaited) ns_atomic_u32_fetch_add(&self->waits, 1, memory_order_relaxed);
    self->order[self->count++] = order->worker;
    mark(self, order->worker, LYING_DOWN);
    const uint64_t now = count_in(self, ONE_SLEEPER - (order->searched ? 1 : 0));
    ns_mcs_release(&self->lock);
    /* The announcement comes before all that the worker reads from here on: queues, its join, the count of pushes. A
     * worker that pushes a task, or ends a join, has a fence between its store and its look for sleepers. */
    ns_fence();
    return !ns_census_searching(now);
}

/* Set the state of a worker that was removed from the list to NS_AWAKE. Return the previous state. */
static enum ns_sleep wake_up(ns_sleeper *mine) {
    /* acquire: sees what the waking worker did, such as its push */
    return (enum ns_sleep)ns_atomic_u32_exchange(&mine->state, NS_AWAKE, memory_order_acquire);
}

/* Withdraw the announced sleep of the worker. Return NS_AWAKE; or NS_CALLED or NS_WOKEN if the worker was already
 * chosen as the sleeper to wake. */
static enum ns_sleep withdraw(ns_sleepers *self, uint32_t worker) {
    ns_mcs_acquire(&self->lock);
    const uint32_t place = place_of(self, worker);
    const bool is_there = place < self->count;
    if (is_there) remove_at(self, place, false);
    ns_mcs_release(&self->lock);
    const enum ns_sleep before = wake_up(self->sleeper[worker]);
    return is_there ? NS_AWAKE : before;
}

enum ns_sleep ns_sleepers_lie_down(ns_sleepers *self, const ns_sleep_order *order) {
    const ns_idle *rule = self->rule;
    const bool is_last = announce(self, order);
    const bool looks =
        rule->recheck == NS_RECHECK_EACH || (rule->recheck == NS_RECHECK_LAST && (is_last || rule->reach.count));
    const bool missed =
        rule->recheck == NS_RECHECK_EVENTS && order->searched && ns_sleepers_pushes(self) != order->pushes;
    if (missed || order->is_over(order->context) || (looks && order->finds(order->context)))
        return withdraw(self, order->worker);
    return NS_ANNOUNCED;
}

enum ns_sleep ns_sleepers_fall_asleep(ns_sleepers *self, uint32_t worker, bool timed) {
    ns_sleeper *mine = self->sleeper[worker];
    uint32_t announced = NS_ANNOUNCED;
    if (timed) {
        ns_mcs_acquire(&self->lock);
        mine->timed = true;
        ns_mcs_release(&self->lock);
    }
    /* relaxed: the fence of `announce` came before; a failed swap is followed by the acquire of wake_up */
    if (ns_atomic_u32_compare_exchange(&mine->state, &announced, NS_ASLEEP, memory_order_relaxed, memory_order_relaxed))
        return NS_ASLEEP;
    return wake_up(mine);
}

enum ns_sleep ns_sleepers_sleep(ns_sleepers *self, uint32_t worker, int64_t ps) {
    ns_sleeper *mine = self->sleeper[worker];
    if (ps) {
        ns_futex_wait_for(&mine->state, NS_ASLEEP, ps);
        return withdraw(self, worker);
    }
    /* relaxed: the acquire of wake_up follows */
    while (ns_atomic_u32_load(&mine->state, memory_order_relaxed) == NS_ASLEEP) ns_futex_wait(&mine->state, NS_ASLEEP);
    return wake_up(mine);
}

uint32_t ns_sleepers_asleep(ns_sleepers *self) {
    uint32_t asleep = 0;
    ns_mcs_acquire(&self->lock);
    for (uint32_t place = 0; place < self->count; place++) {
        const ns_sleeper *each = self->sleeper[self->order[place]];
        /* relaxed: of two workers that fall asleep and then count, the worker that counts last sees both asleep */
        asleep += !each->timed && ns_atomic_u32_load(&each->state, memory_order_relaxed) == NS_ASLEEP;
    }
    ns_mcs_release(&self->lock);
    return asleep;
}

/* ---- waking ------------------------------------------------------------------------------------------------------ */

bool ns_sleepers_pushed(ns_sleepers *self, const ns_takers *takers, bool held) {
    const ns_idle *rule = self->rule;
    /* The push comes before the load of the census. The fence pairs with the fence of `announce`. */
    if (rule->recheck != NS_RECHECK_NONE) ns_fence();
    const uint64_t census = ns_atomic_u64_load(&self->census, memory_order_relaxed); /* relaxed: after the fence */
    /* seq_cst: a worker that reads the old count has announced its sleep, which the second look at the census sees */
    if (rule->recheck == NS_RECHECK_EVENTS && census) {
        ns_atomic_u64_fetch_add(&self->pushes, 1, memory_order_seq_cst);
        ns_fence();
    }
    const uint64_t now = rule->recheck == NS_RECHECK_EVENTS
                             ? ns_atomic_u64_load(&self->census, memory_order_relaxed) /* relaxed: after the fence */
                             : census;
    if (!ns_census_sleeping(now)) return false;
    switch (rule->at) {
        case NS_WAKE_NO_SEARCHER: return !is_covered(self, takers, now);
        case NS_WAKE_EMPTY_QUEUE:
            return !held || (!ns_sleepers_somebody_is_sure(self, takers) && !is_covered(self, takers, now));
        case NS_WAKE_UNCOVERED: return held || !is_covered(self, takers, now);
        case NS_WAKE_EVERY_PUSH: break;
    }
    return true;
}

/* Return the position in the list of the taker to wake next: a sure taker if one sleeps; of several, the lowest worker
 * or the newest sleeper, by the rule `whom`. Return self->count if no taker sleeps. */
static uint32_t choose(const ns_sleepers *self, const ns_takers *takers) {
    uint32_t chosen = self->count;
    enum ns_reach best = NS_REACH_NEVER;
    for (uint32_t place = self->count; place; place--) {
        const uint32_t worker = self->order[place - 1];
        const enum ns_reach reach = reach_of(takers, worker);
        const bool is_lower =
            self->rule->whom == NS_WHOM_LOWEST && chosen < self->count && worker < self->order[chosen];
        if (reach < best || (reach == best && !is_lower)) continue;
        chosen = place - 1;
        best = reach;
    }
    return chosen;
}

/* Wake the taker that `choose` returns. Return false if no taker sleeps. The system call may come after the release of
 * the lock, because the sleeper's word lives as long as the pool. */
static bool wake_one(ns_sleepers *self, const ns_takers *takers) {
    ns_atomic_u32 *word = NULL;
    ns_mcs_acquire(&self->lock);
    const uint32_t place = choose(self, takers);
    const bool is_there = place < self->count;
    if (is_there) {
        ns_sleeper *sleeper = self->sleeper[self->order[place]];
        if (call(self, place)) word = &sleeper->state;
    }
    ns_mcs_release(&self->lock);
    if (word) ns_futex_wake(word, 1);
    return is_there;
}

void ns_sleepers_wake(ns_sleepers *self, const ns_takers *takers, int64_t count) {
    if (self->rule->whom == NS_WHOM_ALL && count > 0) count = self->workers;
    while (count-- > 0 && wake_one(self, takers)) continue;
}

void ns_sleepers_ended(ns_sleepers *self, const void *awaited, uint32_t count) {
    /* The end of the wait was stored before this fence, which pairs with the fence of `announce`: a worker whose
     * announcement is not seen here sees that its wait is over. */
    ns_fence();
    if (!ns_atomic_u32_load(&self->waits, memory_order_relaxed)) return; /* relaxed: after the fence */
    ns_mcs_acquire(&self->lock);
    for (uint32_t place = self->count; place; place--) {
        ns_sleeper *each = self->sleeper[self->order[place - 1]];
        if (each->awaits == awaited && each->target == count && call(self, place - 1)) ns_futex_wake(&each->state, 1);
    }
    ns_mcs_release(&self->lock);
}

void ns_sleepers_wake_all(ns_sleepers *self) {
    while (wake_one(self, NULL)) continue;
}
