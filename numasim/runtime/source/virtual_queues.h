/* The task queues of a run in virtual time: contents, lengths, watch bits and thresholds (strategy grammar; thesis eq.
 * 3.3 and 3.4). Equal to numasim/engine/queues.py.
 */
#ifndef NS_VIRTUAL_QUEUES_H
#define NS_VIRTUAL_QUEUES_H

#include "plan_tables.h"
#include "policy/round.h"

enum { VIRTUAL_FRONT, VIRTUAL_BACK }; /* the ends of a queue; tasks are pushed at the back */

typedef struct {
    void **task; /* [room], a ring */
    uint32_t room, first;
} ns_virtual_ring;

typedef struct {
    const ns_plan_tables *tables;
    ns_virtual_ring *ring;     /* [queues] */
    int64_t *length;           /* [queues] */
    int64_t *pushes, *peak;    /* [queues] counted where there are watches or thresholds */
    int64_t *capacity;         /* [queues] 2^62: without bound */
    ns_thresholds *thresholds; /* [queues] */
    uint8_t *watch;            /* [watches][queues] */
    uint32_t iteration;
} ns_virtual_queues;

/* Empty queues of a plan: 0 or NS_ERROR_MEMORY. */
int ns_virtual_queues_create(ns_virtual_queues *self, const ns_plan_tables *tables);
void ns_virtual_queues_destroy(ns_virtual_queues *self);

/* What decisions see of them now. */
static inline ns_view ns_virtual_queues_view(const ns_virtual_queues *self) {
    return (ns_view){.length = self->length, .watch = self->watch, .iteration = self->iteration};
}

/* Put a task at the back: 0 or NS_ERROR_MEMORY. */
int ns_virtual_queues_push(ns_virtual_queues *self, uint32_t queue, void *task);

/* Take the task at that end of a queue that is not empty, or only look at it. */
void *ns_virtual_queues_pop(ns_virtual_queues *self, uint32_t queue, uint8_t end);
void *ns_virtual_queues_peek(const ns_virtual_queues *self, uint32_t queue, uint8_t end);

void ns_virtual_queues_set_thresholds(ns_virtual_queues *self, uint32_t queue, ns_thresholds thresholds);

#endif
