#include "driver/bare_loop.h"

#include <stdbool.h>
#include <stdlib.h>

#include "numasim/runtime.h"
#include "platform/ticks.h"

enum { WORKER_BITS = 12, MOST_LEAVES = NS_BARE_MOST_WORKERS, QUEUE_TASKS = 1024, JOIN = 255 };
enum { NEAR_NS = 100, FAR_NS = 300, SPAWN_NS = 50, LEAF_NS = 200, JOIN_NS = 50 };
_Static_assert(NS_BARE_MOST_WORKERS == 1 << WORKER_BITS, "a worker's number fits its bits");

/* A task of fib: a call of fib(n) in the join `frame`, or with n = JOIN the end of that. */
typedef struct {
    uint32_t frame, n;
} call;

typedef struct {
    uint32_t parent, pending;
} frame;

typedef struct {
    int32_t victim; /* whose queue it probes, or -1 */
    bool runs;
    uint32_t node;
    uint64_t first, last; /* of its queue */
    call current;
} worker;

typedef struct {
    uint64_t key[2 * MOST_LEAVES]; /* the winner tree of (time, worker) */
    worker workers[NS_BARE_MOST_WORKERS];
    uint32_t leaves, worker_count;
    uint64_t draws;
    call *calls; /* [workers, QUEUE_TASKS] rings */
    frame *frames;
    uint32_t free_frame, frame_count, frame_room;
    ns_bare_result result;
} loop;

/* SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). */
static inline uint64_t mix(uint64_t z) {
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* A number below `bound` out of the upper half of a random word. */
static inline uint32_t below(uint64_t word, uint32_t bound) { return (uint32_t)((word >> 32) * bound >> 32); }

/* ---- events ------------------------------------------------------------------------------------------------------ */

static inline void schedule(loop *self, uint32_t at, uint64_t key) {
    uint32_t leaf = self->leaves + at;
    self->key[leaf] = key;
    for (; leaf > 1; leaf >>= 1) {
        const uint64_t one = self->key[leaf], other = self->key[leaf ^ 1];
        self->key[leaf >> 1] = one < other ? one : other;
    }
}

/* The event of `key` is over; the next one of its worker is at `time_ns`. */
static inline void go_on(loop *self, uint64_t key, uint64_t time_ns) {
    const uint32_t at = (uint32_t)key & (NS_BARE_MOST_WORKERS - 1);
    self->result.hash += mix(key ^ mix(time_ns));
    schedule(self, at, time_ns << WORKER_BITS | at);
}

/* Worker `at` begins to probe a queue: when it will have looked. */
static inline uint64_t probe(loop *self, uint32_t at, uint64_t now_ns) {
    worker *thief = &self->workers[at];
    const uint32_t drawn = below(mix(self->draws++), self->worker_count - 1);
    thief->victim = (int32_t)(drawn + (drawn >= at));
    return now_ns + (self->workers[thief->victim].node == thief->node ? NEAR_NS : FAR_NS);
}

static loop *create(uint32_t workers, uint32_t nodes) {
    loop *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->worker_count = workers;
    for (self->leaves = 2; self->leaves < workers; self->leaves *= 2) {
    }
    for (uint32_t at = 0; at < 2 * self->leaves; at++) self->key[at] = UINT64_MAX;
    for (uint32_t at = 0; at < workers; at++) {
        self->workers[at] = (worker){.victim = -1, .node = (uint32_t)((uint64_t)at * nodes / workers)};
        schedule(self, at, at);
    }
    return self;
}

static int finish(loop *self, ns_bare_result *result, int64_t began_ps) {
    self->result.took_ps = ns_monotonic_ps() - began_ps;
    *result = self->result;
    free(self->calls);
    free(self->frames);
    free(self);
    return NS_OK;
}

/* ---- independent tasks ------------------------------------------------------------------------------------------- */

static inline uint64_t duration_ns(uint64_t task) { return 500 + below(mix(task ^ UINT64_C(0x5bd1e995)), 1000); }

static void run_independent(loop *self, uint64_t tasks) {
    for (;;) {
        const uint64_t key = self->key[1], now_ns = key >> WORKER_BITS;
        const uint32_t at = (uint32_t)key & (NS_BARE_MOST_WORKERS - 1);
        worker *mine = &self->workers[at];
        uint64_t next_ns;
        self->result.events++;
        if (mine->runs && ++self->result.tasks == tasks) {
            self->result.makespan_ns = now_ns;
            return;
        }
        mine->runs = true;
        worker *victim = mine->victim < 0 ? NULL : &self->workers[mine->victim];
        if (!victim && mine->first < mine->last) {
            next_ns = now_ns + duration_ns(--mine->last);
        } else if (victim && victim->first < victim->last) {
            next_ns = now_ns + duration_ns(victim->first++);
            mine->victim = -1;
            self->result.steals++;
        } else {
            mine->runs = false;
            next_ns = probe(self, at, now_ns);
        }
        go_on(self, key, next_ns);
    }
}

int ns_bare_independent(ns_bare_result *result, uint32_t workers, uint32_t nodes, uint64_t tasks) {
    loop *self = create(workers, nodes);
    if (!self) return NS_ERROR_MEMORY;
    for (uint32_t at = 0; at < workers; at++) {
        self->workers[at].first = at ? self->workers[at - 1].last : 0;
        self->workers[at].last = self->workers[at].first + tasks / workers + (at < tasks % workers);
    }
    const int64_t began_ps = ns_monotonic_ps();
    run_independent(self, tasks);
    return finish(self, result, began_ps);
}

/* ---- fib --------------------------------------------------------------------------------------------------------- */

static inline call *place(loop *self, uint32_t at, uint64_t index) {
    return &self->calls[(uint64_t)at * QUEUE_TASKS + index % QUEUE_TASKS];
}

static inline void push(loop *self, uint32_t at, call pushed) { *place(self, at, self->workers[at].last++) = pushed; }

/* A frame for two calls within that of `parent`; 0 where memory is short. */
static uint32_t new_frame(loop *self, uint32_t parent) {
    uint32_t made = self->free_frame;
    if (made) {
        self->free_frame = self->frames[made].parent;
    } else {
        if (self->frame_count == self->frame_room) {
            const uint32_t room = 2 * self->frame_room;
            frame *more = realloc(self->frames, room * sizeof *more);
            if (!more) return 0;
            self->frames = more;
            self->frame_room = room;
        }
        made = self->frame_count++;
    }
    self->frames[made] = (frame){parent, 2};
    return made;
}

/* A child of `within` has ended on worker `at`; false: it was the whole. */
static bool end_child(loop *self, uint32_t at, uint32_t within) {
    if (!within) return false;
    if (--self->frames[within].pending == 0) push(self, at, (call){within, JOIN});
    return true;
}

/* The call that worker `at` runs ends: 1, 0 where it was the last one, or an error. */
static int end_call(loop *self, uint32_t at) {
    const call ended = self->workers[at].current;
    self->result.tasks++;
    if (ended.n == JOIN) {
        const uint32_t parent = self->frames[ended.frame].parent;
        self->frames[ended.frame].parent = self->free_frame;
        self->free_frame = ended.frame;
        return end_child(self, at, parent);
    }
    if (ended.n < 2) return end_child(self, at, ended.frame);
    const uint32_t made = new_frame(self, ended.frame);
    if (!made) return NS_ERROR_MEMORY;
    push(self, at, (call){made, ended.n - 1});
    push(self, at, (call){made, ended.n - 2});
    return 1;
}

static inline uint64_t call_ns(call of) { return of.n == JOIN ? JOIN_NS : of.n < 2 ? LEAF_NS : SPAWN_NS; }

static int run_fib(loop *self) {
    for (;;) {
        const uint64_t key = self->key[1], now_ns = key >> WORKER_BITS;
        const uint32_t at = (uint32_t)key & (NS_BARE_MOST_WORKERS - 1);
        worker *mine = &self->workers[at];
        self->result.events++;
        if (mine->runs) {
            const int goes_on = end_call(self, at);
            self->result.makespan_ns = now_ns;
            if (goes_on <= 0) return goes_on;
        }
        mine->runs = true;
        uint64_t next_ns;
        worker *victim = mine->victim < 0 ? NULL : &self->workers[mine->victim];
        if (!victim && mine->first != mine->last) {
            mine->current = *place(self, at, --mine->last);
            next_ns = now_ns + call_ns(mine->current);
        } else if (victim && victim->first != victim->last) {
            mine->current = *place(self, (uint32_t)mine->victim, victim->first++);
            mine->victim = -1;
            next_ns = now_ns + call_ns(mine->current);
            self->result.steals++;
        } else {
            mine->runs = false;
            next_ns = probe(self, at, now_ns);
        }
        go_on(self, key, next_ns);
    }
}

int ns_bare_fib(ns_bare_result *result, uint32_t workers, uint32_t nodes, uint32_t n) {
    loop *self = create(workers, nodes);
    if (!self) return NS_ERROR_MEMORY;
    self->frame_count = 1; /* frame 0 is none */
    self->frame_room = 1 << 16;
    self->frames = malloc(self->frame_room * sizeof *self->frames);
    self->calls = malloc((size_t)workers * QUEUE_TASKS * sizeof *self->calls);
    int error = self->frames && self->calls ? NS_OK : NS_ERROR_MEMORY;
    const int64_t began_ps = ns_monotonic_ps();
    if (!error) {
        push(self, 0, (call){0, n});
        error = run_fib(self);
    }
    finish(self, result, began_ps);
    return error;
}
