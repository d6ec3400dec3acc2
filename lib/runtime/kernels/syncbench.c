/* Repeated synchronisation constructs of OpenMP, as in EPCC syncbench (thesis section 6.4.1, Table 6.4). Each construct
 * surrounds a delay. The bodies are as in numasim/workload/families/syncbench.py, which lists the parts of each
 * construct. One difference: successive segments of that file are one segment here.
 *
 * Every worker adds up observed values: the rounds that other workers publish, the tickets of the shared counter, and
 * the numbers counted inside the lock. The correct sum is known in advance. A wrong sum shows wrong synchronisation. */
#include <stdio.h>

#include "kernels/kernel.h"

enum { PARALLEL, FOR, PARALLEL_FOR, BARRIER, SINGLE, CRITICAL, LOCK, ATOMIC, REDUCTION };
enum { LINE_BYTES = 64 };

/* The sum of the values that one worker has observed, in a cache line that only this worker touches. */
typedef struct {
    _Alignas(LINE_BYTES) int64_t sum;
} seen;
_Static_assert(sizeof(seen) == LINE_BYTES, "sums of different workers share no cache line");

typedef struct {
    ns_state_memory memory;
    int64_t construct, repetitions, delay_ps, serial_ps, own_ps, most_lines, rounds;
    uint32_t workers, lines;
    int64_t delay; /* `turns_per_ms` of `ns_delay_take` */
    uint32_t lock, counter, barrier;
    uint32_t *woken;   /* [workers] the condition of each worker */
    uint32_t *line;    /* [lines] */
    int64_t published; /* worker 0 writes this before it wakes the other workers */
    int64_t guarded;   /* only the lock's holder changes this */
    seen *seen;        /* [workers] the sum of each worker */
    int64_t twin;
} state;

static const ns_parameter PARAMETERS[] = {
    {"construct", NS_CHOICE, "parallel", 0, 0,
     NS_CHOICES("parallel", "for", "parallel-for", "barrier", "single", "critical", "lock", "atomic", "reduction"),
     "what is repeated", NS_AT(construct)},
    {"repetitions", NS_INTEGER, "100", 1, 8000000, NULL, "how often the construct is repeated", NS_AT(repetitions)},
    {"delay_ns", NS_TIME, "100", 0, 1000000000000, NULL, "the delay that the construct surrounds", NS_AT(delay_ps)},
    {"serial_ns", NS_TIME, "5000", 0, 1000000000000, NULL, "the work of worker 0 alone before each parallel region",
     NS_AT(serial_ps)},
    {"construct_ns", NS_TIME, "0", 0, 1000000000000, NULL,
     "the time of the runtime itself for a construct, without locks and cache lines", NS_AT(own_ps)},
    {"construct_lines", NS_INTEGER, "0", 0, 64, NULL,
     "how many cache lines the runtime writes inside a critical section", NS_AT(most_lines)},
};

static void take(ns_task *self, const state *of, int64_t picoseconds) {
    ns_delay_take(of->delay, picoseconds);
    ns_work(self, picoseconds);
}

/* Spend the time that an OpenMP runtime itself needs for a construct. */
static void take_own(ns_task *self, const state *of) {
    if (of->own_ps) take(self, of, of->own_ps);
}

/* Spend the runtime's time inside a critical section, and write the cache lines that the runtime writes there. */
static void take_own_and_write(ns_task *self, const state *of) {
    take_own(self, of);
    for (uint32_t line = 0; line < of->lines; line++) ns_word_add(self, of->line[line], 1);
}

static void fork_team(ns_task *self, state *of, uint32_t id, int64_t round) {
    if (id) {
        ns_word_await(self, of->woken[id]);
    } else {
        take(self, of, of->serial_ps);
        take_own(self, of);
        of->published = round;
        for (uint32_t other = 1; other < of->workers; other++) ns_word_signal(self, of->woken[other]);
    }
    of->seen[id].sum += of->published;
}

static void meet(ns_task *self, const state *of) { ns_word_arrive(self, of->barrier); }

static void run_parallel(ns_task *self, state *of, uint32_t id, int64_t round) {
    fork_team(self, of, id, round);
    take(self, of, of->delay_ps);
    meet(self, of);
}

static void run_chunk(ns_task *self, state *of, uint32_t id) {
    of->seen[id].sum += ns_word_add(self, of->counter, 1);
    take(self, of, of->delay_ps);
    meet(self, of);
}

static void run_for(ns_task *self, state *of, uint32_t id, int64_t round) {
    take_own(self, of);
    run_chunk(self, of, id);
}

static void run_parallel_for(ns_task *self, state *of, uint32_t id, int64_t round) {
    fork_team(self, of, id, round);
    run_chunk(self, of, id);
}

static void run_barrier(ns_task *self, state *of, uint32_t id, int64_t round) {
    of->seen[id].sum += round;
    take(self, of, of->delay_ps);
    take_own(self, of);
    meet(self, of);
}

static void run_single(ns_task *self, state *of, uint32_t id, int64_t round) {
    take_own(self, of);
    of->seen[id].sum += ns_word_add(self, of->counter, 1);
    if (!id) take(self, of, of->delay_ps);
    meet(self, of);
}

static void run_critical(ns_task *self, state *of, uint32_t id, int64_t round) {
    ns_word_lock(self, of->lock);
    take_own_and_write(self, of);
    of->guarded++;
    take(self, of, of->delay_ps);
    ns_word_unlock(self, of->lock);
}

static void run_atomic(ns_task *self, state *of, uint32_t id, int64_t round) {
    ns_word_lock(self, of->lock);
    take_own_and_write(self, of);
    of->seen[id].sum += ns_word_add(self, of->counter, 1);
    ns_word_unlock(self, of->lock);
}

static void run_reduction(ns_task *self, state *of, uint32_t id, int64_t round) {
    fork_team(self, of, id, round);
    take(self, of, of->delay_ps);
    ns_word_lock(self, of->lock);
    of->guarded += round;
    of->seen[id].sum += ns_word_add(self, of->counter, 1);
    ns_word_unlock(self, of->lock);
    meet(self, of);
}

/* For each construct: its body, whether workers divide the repetitions among themselves, and which values a worker adds
 * to its sum. */
static const struct {
    void (*run)(ns_task *self, state *of, uint32_t id, int64_t round);
    bool shared_out, adds_round, adds_ticket, counts, reduces;
} CONSTRUCTS[] = {
    [PARALLEL] = {run_parallel, .adds_round = true},
    [FOR] = {run_for, .adds_ticket = true},
    [PARALLEL_FOR] = {run_parallel_for, .adds_round = true, .adds_ticket = true},
    [BARRIER] = {run_barrier, .adds_round = true},
    [SINGLE] = {run_single, .adds_ticket = true},
    [CRITICAL] = {run_critical, .shared_out = true, .counts = true},
    [LOCK] = {run_critical, .shared_out = true, .counts = true},
    [ATOMIC] = {run_atomic, .shared_out = true, .adds_ticket = true},
    [REDUCTION] = {run_reduction, .adds_round = true, .adds_ticket = true, .reduces = true},
};

static void run_part(ns_task *self, void *arguments) {
    state *of = *(state **)arguments;
    for (int64_t round = 0; round < of->rounds; round++) {
        CONSTRUCTS[of->construct].run(self, of, ns_task_worker(self), round);
    }
}

static int create(void *whole, ns_setting *setting) {
    const int64_t workers = setting->workers;
    state *self = whole;
    const bool shared_out = CONSTRUCTS[self->construct].shared_out;
    self->rounds = shared_out ? (self->repetitions + workers - 1) / workers : self->repetitions;
    self->workers = setting->workers;
    self->lines = shared_out ? (uint32_t)self->most_lines : 0;
    if (setting->waits) self->delay = ns_delay_calibrate();
    self->woken = ns_state_take(&self->memory, workers * (int64_t)sizeof *self->woken);
    self->line = ns_state_take(&self->memory, self->lines * (int64_t)sizeof *self->line);
    self->seen = ns_state_take(&self->memory, workers * (int64_t)sizeof *self->seen);
    if (!self->woken || !self->line || !self->seen) return NS_ERROR_MEMORY;
    for (int64_t id = 0; id < workers; id++) self->seen[id].sum = 0;
    return NS_OK;
}

/* Create the words (synchronisation objects). A condition is on the node of the worker that waits for it. All other
 * words are on the node of worker 0. */
static int attach(void *whole, ns_pool *pool) {
    state *self = whole;
    int error = ns_word_attach(pool, "lock", NS_WORD_LOCK, 0, 1, &self->lock);
    if (!error) error = ns_word_attach(pool, "counter", NS_WORD_ATOMIC, 0, 1, &self->counter);
    if (!error) error = ns_word_attach(pool, "barrier", NS_WORD_BARRIER, 0, self->workers, &self->barrier);
    for (uint32_t id = 0; id < self->workers && !error; id++) {
        char name[32];
        snprintf(name, sizeof name, "thread %u", id);
        error = ns_word_attach(pool, name, NS_WORD_CONDITION, id, 1, &self->woken[id]);
    }
    for (uint32_t line = 0; line < self->lines && !error; line++) {
        char name[32];
        snprintf(name, sizeof name, "line %u", line);
        error = ns_word_attach(pool, name, NS_WORD_ATOMIC, 0, 1, &self->line[line]);
    }
    return error;
}

/* Compute the sums of all workers on one thread, without synchronisation. */
static void run_twin(void *whole) {
    state *self = whole;
    int64_t ticket = 0;
    for (int64_t round = 0; round < self->rounds; round++) {
        for (uint32_t id = 0; id < self->workers; id++, ticket++) {
            if (CONSTRUCTS[self->construct].adds_round) self->twin += round;
            if (CONSTRUCTS[self->construct].adds_ticket) self->twin += ticket;
            if (CONSTRUCTS[self->construct].counts) self->twin++;
            if (CONSTRUCTS[self->construct].reduces) self->twin += round;
            ns_delay_take(self->delay, self->delay_ps);
        }
    }
}

static bool matches(const void *whole) {
    const state *self = whole;
    int64_t sum = self->guarded;
    for (uint32_t id = 0; id < self->workers; id++) sum += self->seen[id].sum;
    return sum == self->twin;
}

const ns_kernel ns_syncbench_kernel = {
    .name = "syncbench",
    .meaning = "the synchronisation constructs of OpenMP, each repeated (thesis section 6.4.1)",
    NS_KERNEL_COMMON,
    .create = create,
    .attach = attach,
    .part = run_part,
};
