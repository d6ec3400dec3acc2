/* The events of each thread: put into a buffer that stays in its cache, written to a file when that is full. */
#ifndef NUMASIM_RECORD_EVENT_LOG_H
#define NUMASIM_RECORD_EVENT_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "events.h"

enum { NS_LOG_WORDS = 8192, NS_LOG_SPARE = 264 }; /* 64 KiB; what the longest event takes, an absence and pauses */
enum { NS_LONG_TICKS = 1 << 16 }; /* between two events: the thread may have been without a processor (20 to 70 us) */

struct ns_team;

typedef struct ns_event_log {
    uint64_t *next;            /* where the next word goes */
    uint64_t *full;            /* from here on the buffer is written before an event */
    uint64_t numbers;          /* tasks, regions and implicit tasks made */
    uint64_t first;            /* the number before the first of them; 0 where the thread has no number so far */
    uint64_t seen;             /* the ticks of the last event */
    uint64_t wall_ns, busy_ns; /* the clocks of the system and of the thread when they were last looked at */
    int64_t waits;             /* how often the thread had given up its processor then */
    int file;
    bool in_place;               /* whether the program executes the task made last in place */
    bool knows_team;             /* the program has asked how many threads the team has, since the last barrier */
    struct ns_team *team;        /* whose turns the thread takes part in; NULL: those of none */
    uint32_t index;              /* its number in that team */
    bool leaves;                 /* it has come to the end of the region, and goes on at some time or never */
    uint32_t depth;              /* of `stack` */
    uint64_t stack[NS_STACK];    /* the tasks during which others were begun */
    struct ns_event_log *others; /* the log of the thread that began to record before */
    uint64_t words[NS_LOG_WORDS];
} ns_event_log;

extern _Thread_local ns_event_log *ns_log;

/* The log of this thread, made if it has none; NULL where nothing is recorded. */
ns_event_log *ns_log_start(void);
void ns_log_flush(ns_event_log *self);
/* Give the thread a number, if it has none. */
void ns_log_number(ns_event_log *self);
/* Note for how long this thread, which owns the log, was without a processor before the event at `ticks`. */
void ns_note_away(ns_event_log *self, uint64_t ticks);

/* Whether this process records: it was asked to, and has not finished. */
bool ns_log_is_on(void);
/* Let what is recorded be written at the end, which is done only for a process that uses OpenMP. */
void ns_log_open(void);
/* End the recording: write what is left of all threads. */
void ns_log_finish(void);

/* Whether the program executes the next task in place, and where the program makes the task; NULL: where the runtime
 * says (entrances.c). */
extern _Thread_local bool ns_in_place;
extern _Thread_local const void *ns_place;

/* Put an event for each variable, the first time, and for each large block of which other pages exist than when the
 * block was last looked at (memory.c). */
void ns_note_touched(ns_event_log *log);

static inline uint64_t ns_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* A count that ascends evenly, on all threads alike, at the least cost that the processor has for it. */
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

/* Put an event of any thread. */
static inline void ns_put_plain(ns_event_log *self, uint64_t ticks, enum ns_event_kind kind, uint32_t argument) {
    *self->next++ = ticks << 16 | (uint64_t)(argument & 255u) << 8 | (uint64_t)kind << 1 | 1u;
}

/* Put an event of this thread. */
static inline void ns_put(ns_event_log *self, uint64_t ticks, enum ns_event_kind kind, uint32_t argument) {
    if (__builtin_expect((int64_t)(ticks - self->seen) > NS_LONG_TICKS, 0)) ns_note_away(self, ticks);
    self->seen = ticks;
    ns_put_plain(self, ticks, kind, argument);
}

static inline void ns_put_operand(ns_event_log *self, uint64_t operand) { *self->next++ = operand << 1; }

static inline uint64_t ns_new_number(ns_event_log *self) {
    if (__builtin_expect(!self->first, 0)) ns_log_number(self);
    return self->first + ++self->numbers;
}

#endif
