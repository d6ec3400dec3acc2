/* Which tasks of one parent depend on which, by the addresses that they name, as `depend` of OpenMP 5.2
 * (section 15.9.5) has it: who reads waits for the last that wrote, who writes for that one or, where there are such,
 * for those that have read since. Only the parent asks, from its first such child to its next join: nothing here is
 * shared.
 */
#ifndef NS_DEPENDENCES_H
#define NS_DEPENDENCES_H

#include "dependences/arena.h"
#include "dependences/dependent.h"
#include "numasim/runtime.h"

typedef struct ns_reader ns_reader;
struct ns_reader {
    ns_dependent *task;
    ns_reader *next;
};

typedef struct {
    const void *address; /* NULL: none has it */
    ns_dependent *writer;
    ns_reader *readers; /* since it was written, the newest first */
} ns_dependence_entry;

typedef struct {
    ns_arena arena; /* for all that is to live until the join */
    ns_dependence_entry *entries;
    uint32_t entry_count, entry_room; /* a power of two */
    ns_reader *free;
    ns_dependent **before; /* [before_count] those that the task asked for last waits for, each once */
    uint32_t before_count, before_room;
} ns_dependences;

/* The dependences of the children of `whole`, a task that is in no lane: NULL where there are none so far. */
static inline ns_dependences *ns_dependences_of(const ns_task *whole) { return (ns_dependences *)(void *)whole->first; }

/* The same; they are made where there are none, and NULL where memory is short. */
ns_dependences *ns_dependences_open(ns_task *whole);

/* All children of `whole` have ended: forget what they depended on. */
void ns_dependences_close(ns_task *whole);

/* No dependences so far: with all zero. Give back their memory, but not that of `self`. */
void ns_dependences_destroy(ns_dependences *self);

/* The next child: those that it depends on are `before`, which lasts until the next call. False where memory is short.
 */
bool ns_dependences_find(ns_dependences *self, ns_dependent *task, const ns_dependence *dependences, uint32_t count);

#endif
