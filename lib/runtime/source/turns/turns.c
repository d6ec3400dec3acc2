#include "turns/turns.h"

#include <stdlib.h>
#include <string.h>

#include "platform/fiber.h"
#include "policy/draws.h"

/* DRAW_TURN: the class of the random numbers that choose the next worker; numasim/draws.py does not use this class. */
enum { DRAW_TURN = 100, STACK_BYTES = 16 << 20 };
static const int64_t STEP_PS = 1, PAUSE_PS = 1000; /* times of steps and pauses, so that loops up to a time end */

typedef struct {
    ns_fiber *fiber;
    int64_t clock_ps, owed_ps;
    enum ns_rank rank; /* the rank of the next step */
    uint32_t actor;    /* the actor of the next step: the worker, or a lock that the worker gets */
    void *argument;
    const void *bed; /* the word on which the worker sleeps, or NULL */
    bool timed;      /* a timer ends the sleep, at `clock_ps` */
    bool waits;      /* in mode `paced`: the worker waits in a loop, and looks again after the turn of another worker */
    bool returned;
} turn;

struct ns_turns {
    uint32_t workers, left; /* `left`: workers that have not returned */
    bool paced, stuck;
    ns_stream draws;
    ns_fiber *caller;
    uint32_t running; /* the worker whose turn it is */
    int64_t now_ps;   /* the time at which this turn began */
    bool looks;       /* in this turn a worker only looks again in its waiting loop, and has not gone on */
    void (*body)(void *argument);
    turn *turns; /* [workers] */
};

/* The workers that run on this thread; NULL: none. */
static _Thread_local ns_turns *here;
static _Thread_local int64_t last_ps; /* the clock of the worker that ran last */

ns_turns *ns_turns_create(uint32_t workers, uint64_t seed, bool paced) {
    ns_turns *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    *self = (ns_turns){.workers = workers, .paced = paced, .draws = {.base = ns_base(seed, DRAW_TURN, 0)}};
    self->turns = calloc((size_t)workers + 1, sizeof *self->turns);
    bool all = self->turns && !ns_fiber_adopt(&self->caller);
    for (uint32_t id = 0; all && id < workers; id++)
        all = !ns_fiber_create(&self->turns[id].fiber, STACK_BYTES, NULL, NULL);
    if (all) return self;
    ns_turns_destroy(self);
    return NULL;
}

void ns_turns_destroy(ns_turns *self) {
    if (!self) return;
    for (uint32_t id = 0; self->turns && id < self->workers; id++) ns_fiber_destroy(self->turns[id].fiber);
    ns_fiber_destroy(self->caller);
    free(self->turns);
    free(self);
}

uint64_t ns_turns_stack_end(const ns_turns *self, uint32_t worker) {
    return ns_fiber_stack_begin(self->turns[worker].fiber) + NS_LEAST_STACK_BYTES;
}

/* ---- the next turn ----------------------------------------------------------------------------------------------- */

static bool can_go_on(const turn *of) { return !of->returned && !of->waits && (!of->bed || of->timed); }

static bool comes_before(const turn *one, const turn *other) {
    if (one->clock_ps != other->clock_ps) return one->clock_ps < other->clock_ps;
    return one->rank != other->rank ? one->rank < other->rank : one->actor < other->actor;
}

/* Return the worker that has the next turn; self->workers if no worker can go on. */
static uint32_t choose(ns_turns *self) {
    uint32_t candidates = 0, first = self->workers;
    for (uint32_t id = 0; id < self->workers; id++) {
        if (!can_go_on(&self->turns[id])) continue;
        if (!candidates++ || comes_before(&self->turns[id], &self->turns[first])) first = id;
    }
    if (self->paced || candidates < 2) return first;
    uint64_t before = ns_stream_below(&self->draws, candidates);
    for (uint32_t id = 0; id < self->workers; id++)
        if (can_go_on(&self->turns[id]) && !before--) return id;
    return first;
}

/* Let each worker that waits in a loop, except worker `except`, look again at time `now_ps`. */
static void let_look(ns_turns *self, int64_t now_ps, uint32_t except) {
    for (uint32_t id = 0; id < self->workers; id++) {
        turn *each = &self->turns[id];
        if (!each->waits || id == except) continue;
        each->waits = false;
        if (each->clock_ps < now_ps) each->clock_ps = now_ps;
    }
}

/* Give the turn to the next worker, or to the caller of ns_turns_run if no worker can go on. Workers that wait in loops
 * look again only after a turn that may have changed something, not after another worker's look in vain. */
static void go_on(ns_turns *self, ns_fiber *from) {
    const turn *mine = &self->turns[self->running];
    last_ps = mine->clock_ps;
    if (!mine->waits || !self->looks) let_look(self, self->now_ps, self->running);
    uint32_t next = choose(self);
    if (next == self->workers) {
        let_look(self, self->now_ps + PAUSE_PS, self->workers);
        next = choose(self);
    }
    self->running = next;
    self->now_ps = self->turns[next].clock_ps;
    self->looks = self->turns[next].rank == NS_RANK_LOOP;
    if (next < self->workers && self->turns[next].fiber == from) return;
    self->stuck = next == self->workers && self->left;
    ns_fiber_switch(from, next < self->workers ? self->turns[next].fiber : self->caller);
}

/* End the turn. The worker's next step comes after `ps` and the time that it owes, with this rank and actor. */
static void end_turn_as(ns_turns *self, int64_t ps, enum ns_rank rank, uint32_t actor) {
    turn *mine = &self->turns[self->running];
    mine->clock_ps += mine->owed_ps + ps;
    mine->owed_ps = 0;
    mine->rank = rank;
    mine->actor = actor;
    go_on(self, mine->fiber);
}

static void end_turn(ns_turns *self, int64_t ps, enum ns_rank rank) { end_turn_as(self, ps, rank, self->running); }

/* ---- called by the code of threads ------------------------------------------------------------------------------- */

void ns_turns_step(void) {
    if (here && !here->paced) end_turn(here, STEP_PS, NS_RANK_POLL);
}

void ns_turns_pause(bool begins) {
    if (!here) return;
    here->turns[here->running].waits = here->paced;
    here->looks = here->looks && !begins;
    end_turn(here, here->paced ? 0 : PAUSE_PS, NS_RANK_LOOP);
}

void ns_turns_pass(int64_t ps) {
    if (!here || (here->paced && ps <= 0)) return;
    end_turn(here, ps > STEP_PS ? ps : STEP_PS, NS_RANK_POLL);
}

void ns_thread_pay(int64_t ps, enum ns_rank rank) {
    if (here && here->paced) end_turn(here, ps, rank);
}

void ns_thread_pay_lock(int64_t ps, uint32_t lock) {
    if (here && here->paced) end_turn_as(here, ps, NS_RANK_GRANT, lock);
}

void ns_thread_owe(int64_t ps) {
    if (here && here->paced) here->turns[here->running].owed_ps += ps;
}

void ns_thread_settle(void) {
    if (here && here->turns[here->running].owed_ps) end_turn(here, 0, NS_RANK_PUT);
}

int64_t ns_turns_now_ps(void) { return here ? here->turns[here->running].clock_ps : last_ps; }

void ns_turns_lock(pthread_mutex_t *lock) {
    ns_turns_step();
    for (bool begins = true; pthread_mutex_trylock(lock); begins = false) ns_turns_pause(begins);
}

void ns_turns_sleep(const void *word, uint32_t value, int64_t ps) {
    uint32_t found;
    ns_turns_step();
    memcpy(&found, word, sizeof found);
    if (!here || found != value) return;
    turn *mine = &here->turns[here->running];
    mine->bed = word;
    mine->timed = ps > 0;
    end_turn(here, ps, NS_RANK_WAKE);
    mine->bed = NULL;
    mine->timed = false;
}

void ns_turns_wake(const void *word, uint32_t count) {
    ns_turns_step();
    if (!here) return;
    const int64_t now_ps = ns_turns_now_ps() + here->turns[here->running].owed_ps;
    for (uint32_t id = 0; id < here->workers && count; id++) {
        turn *each = &here->turns[id];
        if (each->bed != word) continue;
        each->bed = NULL;
        if (each->timed || each->clock_ps < now_ps) each->clock_ps = now_ps;
        each->timed = false;
        each->rank = NS_RANK_WAKE;
        count--;
    }
}

/* ---- called by the pool ------------------------------------------------------------------------------------------ */

static void run_body(void *argument) {
    ns_turns *self = argument;
    const uint32_t mine = self->running;
    self->body(self->turns[mine].argument);
    self->turns[mine].returned = true;
    self->left--;
    go_on(self, self->turns[mine].fiber);
}

bool ns_turns_run(ns_turns *self, void (*body)(void *argument), void *const *argument) {
    self->body = body;
    self->left = self->workers;
    self->now_ps = last_ps;
    for (uint32_t id = 0; id < self->workers; id++) {
        turn *each = &self->turns[id];
        *each = (turn){.fiber = each->fiber, .argument = argument[id], .clock_ps = last_ps};
        each->rank = NS_RANK_POLL;
        each->actor = id;
        ns_fiber_reuse(each->fiber, run_body, self);
    }
    ns_turns *const outer = here;
    here = self;
    go_on(self, self->caller);
    here = outer;
    return !self->stuck;
}
