/* Dependences among the children of one task, by the addresses that the children name. The rules are as for `depend`
 * of OpenMP 5.2 (section 15.9.5): a reader waits for the last writer; a writer waits for the readers since the last
 * write, or for the last writer if there are no such readers.
 *
 * Only the parent looks up addresses, from its first child with dependences to the next join. Each child has an
 * ns_dependent, which threads share: a list of the siblings that wait for the child, and a count of the siblings for
 * which the child waits. The parent pushes onto the list; the end of the child closes the list, and a later sibling
 * need not wait. A sibling that ends subtracts one from the count, maybe while the parent is still looking up
 * addresses. So the count begins far above the number of siblings, and the parent subtracts the difference when it
 * knows the number. */
#pragma once

#include "base/pieces.h"
#include "numasim/runtime.h"
#include "platform/atomics.h"
#include "record/growing.h"

/* ---- what parent and children share ------------------------------------------------------------------------------ */

typedef struct ns_dependent ns_dependent;

/* An entry in the list of a child. `task` waits for this child. */
typedef struct ns_waiting {
    ns_dependent *task;
    struct ns_waiting *next;
} ns_waiting;

struct ns_dependent {
    ns_atomic_pointer waiting;     /* list of ns_waiting, newest first; or the mark that this child has ended */
    ns_atomic_u32 left;            /* siblings that this child waits for, plus what the parent has yet to subtract */
    uint32_t row;                  /* the child's row in a task graph, if there is a graph */
    const ns_dependent *newest_of; /* the newest child that waits for this child; only the parent uses it */
};

/* Make a child that waits for no sibling. */
void ns_dependent_create(ns_dependent *self);

/* Let `self` wait for `other`, by `entry` in the list of `other`. Called by the parent. Return false if `other` has
 * already ended; the caller then sees all that `other` did. */
bool ns_dependent_wait_for(ns_dependent *self, ns_dependent *other, ns_waiting *entry);

/* Note that `self` waits for `others` children in all. Called by the parent. Return whether all of them have ended, so
 * that `self` can begin. */
bool ns_dependent_is_free(ns_dependent *self, uint32_t others);

/* Note that `self` has ended. Return the list of the children that wait for `self`. */
ns_waiting *ns_dependent_end(ns_dependent *self);

/* Note that a child for which `self` waits has ended. Return whether `self` waits for no other child: it can begin. */
bool ns_dependent_release(ns_dependent *self);

/* ---- the parent's own data --------------------------------------------------------------------------------------- */

/* Memory that is allocated in pieces and freed as a whole. An arena of zero bytes is empty. */
typedef struct {
    ns_pieces pieces;
    char *newest;      /* the newest piece */
    size_t used, room; /* of the newest piece: bytes in use, and bytes */
} ns_arena;

/* Allocate `bytes` uninitialised bytes, aligned as by malloc. Return NULL if memory is short. */
void *ns_arena_take(ns_arena *self, size_t bytes);

/* A child that reads at an address, in a list of such children. */
typedef struct ns_reader ns_reader;
struct ns_reader {
    ns_dependent *task;
    ns_reader *next;
};

typedef struct {
    const void *address;  /* NULL: an unused entry */
    ns_dependent *writer; /* the child that writes there last */
    ns_reader *readers;   /* the readers since the last write, the newest first */
} ns_dependence_entry;

/* The dependences of a task's children. A struct of zero bytes has no dependences. */
typedef struct {
    ns_arena arena;                   /* memory that lives until the join */
    ns_dependence_entry *entries;     /* [entry_room] a hash table */
    uint32_t entry_count, entry_room; /* `entry_room` is a power of two */
    ns_reader *free;                  /* a list of records for reuse */
    ns_growing before; /* array of ns_dependent *: the children for which the newest child waits, each once */
} ns_dependences;

/* Return the dependences of the children of `whole`, which is not a task in a lane; NULL if there are none so far. */
static inline ns_dependences *ns_dependences_of(const ns_task *whole) { return (ns_dependences *)(void *)whole->first; }

/* Return the dependences of the children of `whole`, which the first call makes; NULL if memory is short. */
ns_dependences *ns_dependences_open(ns_task *whole);

/* Free the dependences of the children of `whole`, after all these children have ended. */
void ns_dependences_close(ns_task *whole);

/* Free all memory except the struct `self`. */
void ns_dependences_destroy(ns_dependences *self);

/* Add the next child, `task`. Set `before`, until the next call, to the children for which `task` has to wait. Return
 * false if memory is short. */
bool ns_dependences_find(ns_dependences *self, ns_dependent *task, const ns_dependence *dependences, uint32_t count);
