/* The log of each thread: events (events.h) go into a buffer that fits the processor's cache. A full buffer is written
 * to a file. The times of events are in ticks, a counter of the processor. A pause is the time that the recorder itself
 * took for longer work; an absence is the time that the thread was without a processor. A team is the threads of a
 * parallel region; with turns (turns.h), one thread of a team works at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "events.h"

enum { NS_LOG_WORDS = 8192, NS_LOG_SPARE = 264 }; /* 64 KiB; room for the longest event, an absence and pauses */
enum { NS_LONG_TICKS = 1 << 16 }; /* 20 to 70 us: after longer times without an event the clocks are read again */

struct ns_team;

typedef struct ns_event_log {
    uint64_t *next;            /* where the next word will be stored */
    uint64_t *full;            /* if `next` has come to this address, the buffer is written before the next event */
    uint64_t numbers;          /* how many numbers (of tasks, regions, implicit tasks) the thread has given */
    uint64_t first;            /* the number before the first of these numbers; 0: the thread has no number yet */
    uint64_t seen;             /* the time of the last event, in ticks */
    uint64_t wall_ns, busy_ns; /* the wall clock of the system and the CPU clock of the thread, when last read */
    int64_t waits;             /* how often the thread had given up its processor when the clocks were last read */
    int file;
    bool in_place;               /* whether the thread executes the task made last at once, as with `if(0)` */
    bool knows_team;             /* whether the program has asked for the size of the team since the last barrier */
    struct ns_team *team;        /* the team to which the thread belongs, or NULL */
    uint32_t index;              /* the thread's number in `team` */
    bool leaves;                 /* whether the thread is at the end of its region, and may stay there for ever */
    uint32_t depth;              /* the number of tasks in `stack` */
    uint64_t stack[NS_STACK];    /* the tasks that the running task has interrupted, the last one at the end */
    struct ns_event_log *others; /* the next log in the list of all logs */
    uint64_t words[NS_LOG_WORDS];
} ns_event_log;

extern _Thread_local ns_event_log *ns_log;

/* Make the log of this thread. Return NULL if nothing is recorded. */
ns_event_log *ns_log_start(void);
/* Write the buffer to the file, and put a pause event for the time of this. */
void ns_log_flush(ns_event_log *self);
/* Give the thread a number. */
void ns_log_number(ns_event_log *self);
/* Read the clocks, put an event if this thread had an absence since the last reading, and put a pause event. */
void ns_note_away(ns_event_log *self, uint64_t ticks);

/* Return whether this process records: the environment asks for a recording, and the recording has not ended. */
bool ns_log_is_on(void);
/* Note that the process uses OpenMP. A process that does not use OpenMP writes no recording at its end. */
void ns_log_open(void);
/* End the recording, and write the remaining events of all threads to their files. */
void ns_log_finish(void);

/* Whether the thread executes the next task that it makes at once; and the address in the program where it makes the
 * task (NULL: use the address that the runtime reports). Set in entrances.c. */
extern _Thread_local bool ns_in_place;
extern _Thread_local const void *ns_place;

/* Put an event for each variable (the first time only), and an event for each large block of memory of which more or
 * fewer sampled pages exist than at the last call (memory.c). */
void ns_note_touched(ns_event_log *log);

static inline uint64_t ns_clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline uint64_t ns_now_ns(void) { return ns_clock_ns(CLOCK_MONOTONIC); }

/* Return the time in ticks, from the cheapest counter of the processor that runs at a constant rate and is the same on
 * all threads. */
static inline uint64_t ns_ticks(void) {
#if defined(__x86_64__)
    return __rdtsc();
#else
    return ns_now_ns();
#endif
}

static inline ns_event_log *ns_log_of_thread(void) {
    ns_event_log *self = ns_log;
    if (__builtin_expect(!self, 0)) self = ns_log_start();
    if (__builtin_expect(self && self->next >= self->full, 0)) ns_log_flush(self);
    return self;
}

/* Put an event into the log, without a check of the clocks. The log may belong to another thread. */
static inline void ns_put_plain(ns_event_log *self, uint64_t ticks, enum ns_event_kind kind, uint32_t argument) {
    *self->next++ = ticks << 16 | (uint64_t)(argument & 255u) << 8 | (uint64_t)kind << 1 | 1u;
}

/* Put an event into the log of this thread; after a long time without events, read the clocks first. */
static inline void ns_put(ns_event_log *self, uint64_t ticks, enum ns_event_kind kind, uint32_t argument) {
    if (__builtin_expect((int64_t)(ticks - self->seen) > NS_LONG_TICKS, 0)) ns_note_away(self, ticks);
    self->seen = ticks;
    ns_put_plain(self, ticks, kind, argument);
}

/* Put an event into the log of this thread. Return the log; NULL if nothing is recorded. */
static inline ns_event_log *ns_note(uint64_t ticks, enum ns_event_kind kind, uint32_t argument) {
    ns_event_log *self = ns_log_of_thread();
    if (self) ns_put(self, ticks, kind, argument);
    return self;
}

static inline void ns_put_operand(ns_event_log *self, uint64_t operand) { *self->next++ = operand << 1; }

static inline void ns_put_each(ns_event_log *self, const uint64_t *operands, size_t count) {
    for (size_t at = 0; at < count; at++) ns_put_operand(self, operands[at]);
}

/* Put several operands. */
#define ns_put_operands(self, ...) \
    ns_put_each(self, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static inline uint64_t ns_new_number(ns_event_log *self) {
    if (__builtin_expect(!self->first, 0)) ns_log_number(self);
    return self->first + ++self->numbers;
}
