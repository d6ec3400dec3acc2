/* Dependences among the children of one task, found by the addresses that the children name, as `depend` of OpenMP 5.2
 * (section 15.9.5) defines them: a reader waits for the last writer; a writer waits for the readers since the last
 * write, or for the last writer if there are no readers.
 *
 * Only the parent looks addresses up, from the first such child to the next join. Parent and children share a list and
 * a count for each child: an ns_dependent. A child has a list of the siblings that wait for it. The parent pushes onto
 * this list, and the end of the child closes it: a later sibling need not wait. A child also counts the siblings that
 * it waits for. These siblings count down while the parent is still looking addresses up. So the count begins far above
 * the number of siblings, and the parent subtracts the difference once the parent knows the number.
 */
#ifndef NS_DEPENDENCES_H
#define NS_DEPENDENCES_H

#include "numasim/runtime.h"
#include "platform/atomics.h"

/* ---- what parent and children share ------------------------------------------------------------------------------ */

typedef struct ns_dependent ns_dependent;

/* An entry in the list of a child: `task` waits for this child. */
typedef struct ns_waiting {
    ns_dependent *task;
    struct ns_waiting *next;
} ns_waiting;

struct ns_dependent {
    ns_atomic_pointer waiting;     /* list of ns_waiting, the newest first; or a mark that the child has ended */
    ns_atomic_u32 left;            /* children that this child waits for, and what the parent has yet to subtract */
    uint32_t row;                  /* in a task graph, if there is one */
    const ns_dependent *newest_of; /* the newest child that waits for this child; only the parent uses it */
};

/* Make a child that waits for no other so far. */
void ns_dependent_create(ns_dependent *self);

/* The parent lets `self` wait for `other`, by `entry` in the list of `other`. Returns false if `other` has already
 * ended; the caller then sees all that `other` did. */
bool ns_dependent_wait_for(ns_dependent *self, ns_dependent *other, ns_waiting *entry);

/* The parent tells that `self` waits for `others` children in all. Returns whether all of them have ended, so that
 * `self` can begin. */
bool ns_dependent_is_free(ns_dependent *self, uint32_t others);

/* `self` has ended. Returns the list of the children that wait for it. */
ns_waiting *ns_dependent_end(ns_dependent *self);

/* A child that `self` waits for has ended. Returns whether it was the last one, so that `self` can begin. */
bool ns_dependent_release(ns_dependent *self);

/* ---- what only the parent uses ----------------------------------------------------------------------------------- */

/* Memory that is allocated in pieces and freed as a whole. All zero is an empty arena. */
typedef struct {
    void *newest; /* chunk */
    size_t used, room;
} ns_arena;

/* Allocate `bytes` bytes, aligned as by malloc, which are not set. Returns NULL if memory is short. */
void *ns_arena_take(ns_arena *self, size_t bytes);

typedef struct ns_reader ns_reader;
struct ns_reader {
    ns_dependent *task;
    ns_reader *next;
};

typedef struct {
    const void *address; /* NULL: an unused entry */
    ns_dependent *writer;
    ns_reader *readers; /* since the last write, the newest first */
} ns_dependence_entry;

/* All zero is a table without dependences. */
typedef struct {
    ns_arena arena;                   /* all that lives until the join */
    ns_dependence_entry *entries;     /* [entry_room] a hash table */
    uint32_t entry_count, entry_room; /* a power of two */
    ns_reader *free;
    ns_dependent **before; /* [before_count] the children that the newest child waits for, each once */
    uint32_t before_count, before_room;
} ns_dependences;

/* Returns the dependences of the children of `whole`, a task that is in no lane; NULL if there are none so far. */
static inline ns_dependences *ns_dependences_of(const ns_task *whole) { return (ns_dependences *)(void *)whole->first; }

/* Returns the dependences of the children of `whole`, made here at the first call; NULL if memory is short. */
ns_dependences *ns_dependences_open(ns_task *whole);

/* All children of `whole` have ended: free their dependences. */
void ns_dependences_close(ns_task *whole);

/* Free all memory but that of `self`. */
void ns_dependences_destroy(ns_dependences *self);

/* Add the next child, and set `before` to the children that it waits for, until the next call. Returns false if
 * memory is short. */
bool ns_dependences_find(ns_dependences *self, ns_dependent *task, const ns_dependence *dependences, uint32_t count);

#endif
