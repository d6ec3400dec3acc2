#include "turns/turns.h"

#include <stdlib.h>
#include <string.h>

#include "platform/fiber.h"
#include "policy/draws.h"

/* The class of the draws that choose the next worker. No class of the simulator (numasim/draws.py) has this number. */
enum { DRAW_TURN = 100, STACK_BYTES = 16 << 20 };
static const int64_t STEP_PS = 1, PAUSE_PS = 1000; /* loops that wait come to an end on every clock */

typedef struct {
    ns_fiber *fiber;
    int64_t clock_ps;
    void *argument;
    const void *bed; /* the word on which the worker sleeps, or NULL */
    bool timed;      /* its sleep ends by itself, at its clock */
    bool returned;
} turn;

struct ns_turns {
    uint32_t workers, left; /* `left`: workers that have not returned */
    bool paced, stuck;
    ns_stream draws;
    ns_fiber *caller;
    uint32_t running; /* the worker whose turn it is */
    void (*body)(void *argument);
    turn *turns; /* [workers] */
};

/* The turns that run on this thread; NULL: none. The code of threads runs on no other thread then. */
static _Thread_local ns_turns *here;
static _Thread_local int64_t last_ps; /* the last clock */

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

static bool can_go_on(const turn *of) { return !of->returned && (!of->bed || of->timed); }

/* Return the worker that has the next turn; `workers` if none can go on. */
static uint32_t choose(ns_turns *self) {
    uint32_t candidates = 0, chosen = self->workers;
    int64_t first_ps = INT64_MAX;
    for (uint32_t id = 0; id < self->workers; id++) {
        const turn *each = &self->turns[id];
        if (!can_go_on(each) || (self->paced && each->clock_ps > first_ps)) continue;
        if (self->paced && each->clock_ps < first_ps) {
            first_ps = each->clock_ps;
            candidates = 0;
        }
        candidates++;
        if (candidates == 1) chosen = id;
    }
    if (candidates < 2) return chosen;
    uint64_t before = ns_stream_below(&self->draws, candidates);
    for (uint32_t id = chosen; id < self->workers; id++) {
        const turn *each = &self->turns[id];
        if (!can_go_on(each) || (self->paced && each->clock_ps != first_ps)) continue;
        if (!before--) return id;
    }
    return chosen;
}

/* Give the turn to the next worker, or to the caller if no worker can go on. */
static void go_on(ns_turns *self, ns_fiber *from) {
    const uint32_t before = self->running, next = choose(self);
    last_ps = self->turns[before].clock_ps;
    self->running = next;
    if (next < self->workers && self->turns[next].fiber == from) return;
    self->stuck = next == self->workers && self->left;
    ns_fiber_switch(from, next < self->workers ? self->turns[next].fiber : self->caller);
}

static void end_turn(ns_turns *self, int64_t ps) {
    turn *mine = &self->turns[self->running];
    mine->clock_ps += ps;
    go_on(self, mine->fiber);
}

/* ---- called by the code of threads ------------------------------------------------------------------------------- */

void ns_turns_step(void) {
    if (here) end_turn(here, STEP_PS);
}

void ns_turns_pause(void) {
    if (here) end_turn(here, PAUSE_PS);
}

void ns_turns_pass(int64_t ps) {
    if (here) end_turn(here, ps > STEP_PS ? ps : STEP_PS);
}

void ns_turns_charge(int64_t ps) {
    if (here && here->paced && ps > 0) end_turn(here, ps);
}

int64_t ns_turns_now_ps(void) { return here ? here->turns[here->running].clock_ps : last_ps; }

void ns_turns_lock(pthread_mutex_t *lock) {
    ns_turns_step();
    while (pthread_mutex_trylock(lock)) ns_turns_pause();
}

void ns_turns_sleep(const void *word, uint32_t value, int64_t ps) {
    uint32_t found;
    ns_turns_step();
    memcpy(&found, word, sizeof found);
    if (!here || found != value) return;
    turn *mine = &here->turns[here->running];
    mine->bed = word;
    mine->timed = ps > 0;
    end_turn(here, ps);
    mine->bed = NULL;
    mine->timed = false;
}

void ns_turns_wake(const void *word, uint32_t count) {
    ns_turns_step();
    if (!here) return;
    const int64_t now_ps = ns_turns_now_ps();
    for (uint32_t id = 0; id < here->workers && count; id++) {
        turn *each = &here->turns[id];
        if (each->bed != word) continue;
        each->bed = NULL;
        if (each->timed || each->clock_ps < now_ps) each->clock_ps = now_ps;
        each->timed = false;
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
    for (uint32_t id = 0; id < self->workers; id++) {
        turn *each = &self->turns[id];
        *each = (turn){.fiber = each->fiber, .argument = argument[id], .clock_ps = last_ps};
        ns_fiber_reuse(each->fiber, run_body, self);
    }
    ns_turns *const outer = here;
    here = self;
    go_on(self, self->caller);
    here = outer;
    return !self->stuck;
}
