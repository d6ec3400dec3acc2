#ifndef NUMASIM_QUEUES_QUEUES_H
#define NUMASIM_QUEUES_QUEUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/inline.h"
#include "generated/plan_structs.h"
#include "policy/ranges.h"
#include "policy/round.h"
#include "policy/thresholds.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A double-ended queue of tasks and ranges of items in one growing ring. */

typedef struct {
    ns_items *slot;
    size_t last;       /* number of the last slot: a power of two less one; SIZE_MAX where there is none */
    size_t head, size; /* the slot of the front, the number of entries */
} ns_ring;

/* An empty one without slots. */
void ns_ring_create(ns_ring *self);

/* Double the room: false where there is no memory. */
bool ns_ring_grow(ns_ring *self);
void ns_ring_destroy(ns_ring *self);

/* Entry number `at` from the front. */
static inline ns_items *ns_ring_at(const ns_ring *self, size_t at) {
    return &self->slot[(self->head + at) & self->last];
}

/* The entry at one end of a ring that is not empty. */
static inline ns_items *ns_ring_end(const ns_ring *self, bool back) {
    return ns_ring_at(self, back ? self->size - 1 : 0);
}

static inline bool ns_ring_push_back(ns_ring *self, ns_items entry) {
    if (self->size == self->last + 1 && !ns_ring_grow(self)) return false;
    *ns_ring_at(self, self->size++) = entry;
    return true;
}

/* Remove the entry at one end. */
static inline void ns_ring_drop(ns_ring *self, bool back) {
    self->size--;
    if (!back) self->head = (self->head + 1) & self->last;
}

/* The task queues of a run: contents, lengths, thresholds, watch bits; equal to engine/reference/task_queues.py.
 *
 * A task is a number of the caller's, and stands for an entry of one item. A push can fail where memory is short; then
 * nothing has changed.
 */

/* A task with entries in several queues, of which whoever takes one first has claimed it. */
typedef struct {
    uint64_t task;
    uint32_t entries; /* that are left; 0: the record is free, and `task` is the next free one */
    bool claimed;
} ns_shared;

/* What stands in a queue for the shared task with a number. */
#define NS_SHARED (UINT64_C(1) << 62)

typedef struct {
    const ns_plan *plan;
    bool watched;              /* whether the plan has watches */
    bool owners_announce;      /* whether it has some that the owners of queues write, */
    bool exactly;              /* by equality of lengths */
    ns_ring *ring;             /* [queues] */
    int64_t *length;           /* [queues] */
    int64_t *capacity;         /* [queues] 2^62: without bound */
    int64_t *pushes, *peak;    /* [queues] counted where there are watches */
    ns_thresholds *thresholds; /* [queues] */
    uint64_t *watch;           /* as in an `ns_view` */
    int64_t marked;            /* watch bits that are set */
    int64_t total, peak_total; /* tasks in all queues */
    int64_t entries, peak_entries;
    bool copies; /* whether the plan has copies of tasks */
    ns_shared *shared;
    uint64_t shared_count, shared_room, free_shared; /* `free_shared`: the first free one, or shared_count */
} ns_queues;

/* Empty queues of a plan, which lives as long: false where there is no memory. */
bool ns_queues_create(ns_queues *self, const ns_plan *plan, const ns_threshold_rules *rules);
void ns_queues_destroy(ns_queues *self);

/* The sum of the greatest lengths that the queues have had. */
int64_t ns_queues_peak_sum(const ns_queues *self);

static inline void ns_queues_mark(ns_queues *self, uint32_t q) {
    self->marked += ns_watch_mark(self->plan, self->watch, q, self->length[q], self->thresholds[q]);
}

/* The worker whose queue this is takes a step; how many of its watch bits are set more than before. */
static inline int32_t ns_queues_owner_steps(ns_queues *self, uint32_t q, ns_owner_step step) {
    if (!self->owners_announce) return 0;
    const int32_t more = ns_watch_owner_steps(self->plan, self->watch, q, step, self->length[q], self->thresholds[q]);
    self->marked += more;
    return more;
}

/* With how much room its owner announces queue `q` as it comes to take a task, and came before with less; -1: never. */
static inline int64_t ns_queues_room_to_announce(const ns_queues *self, uint32_t q) {
    const int64_t room = self->capacity[q] - self->thresholds[q].high;
    if (!self->owners_announce || room < 0) return -1;
    return self->exactly ? room : 0;
}

/* Its owner has announced queue `q`. */
static inline void ns_queues_announce(ns_queues *self, uint32_t q) {
    const ns_thresholds reached = {self->length[q], 0};
    self->marked += ns_watch_owner_steps(self->plan, self->watch, q, NS_OWNER_TAKES, self->length[q], reached);
}

static inline bool ns_queues_have_room(const ns_queues *self, uint32_t q) {
    return self->length[q] < self->capacity[q];
}

/* Put items at the back, at least one. */
static inline bool ns_queues_push(ns_queues *self, uint32_t q, ns_items items) {
    if (!ns_ring_push_back(&self->ring[q], items)) return false;
    self->length[q] += items.count;
    self->total += items.count;
    if (self->total > self->peak_total) self->peak_total = self->total;
    if (++self->entries > self->peak_entries) self->peak_entries = self->entries;
    if (self->watched) {
        self->pushes[q] += items.count;
        if (self->length[q] > self->peak[q]) self->peak[q] = self->length[q];
        ns_queues_mark(self, q);
    }
    return true;
}

static inline bool ns_queues_push_task(ns_queues *self, uint32_t q, uint64_t task) {
    const ns_items one = {task, 1, 1};
    return ns_queues_push(self, q, one);
}

/* Put an entry of a task at the back of each of `count` queues. */
bool ns_queues_push_copies(ns_queues *self, const uint32_t *queues, uint32_t count, uint64_t task);

/* Drop the entries of tasks that others have claimed among the `most` tasks at one end of queue `q`; how many are left
 * of these. */
int64_t ns_queues_sift_copies(ns_queues *self, uint32_t q, bool back, int64_t most);
static inline int64_t ns_queues_sift(ns_queues *self, uint32_t q, bool back, int64_t most) {
    return self->copies ? ns_queues_sift_copies(self, q, back, most) : most;
}

/* The task of an entry that is taken; of one that is only looked at. */
uint64_t ns_queues_claim(ns_queues *self, uint64_t entry);
static inline uint64_t ns_queues_task(const ns_queues *self, uint64_t entry) {
    return entry & NS_SHARED ? self->shared[entry ^ NS_SHARED].task : entry;
}

/* The task that a pop would take from that end of queue `q`, which is not empty. */
static inline uint64_t ns_queues_peek(const ns_queues *self, uint32_t q, bool back) {
    const ns_items *entry = ns_ring_end(&self->ring[q], back);
    const uint64_t next = back ? entry->first + (uint64_t)entry->step * (entry->count - 1) : entry->first;
    return self->copies ? ns_queues_task(self, next) : next;
}

/* Whether the entry at that end is of a task that others have claimed. */
static inline bool ns_queues_is_claimed(const ns_queues *self, uint32_t q, bool back) {
    const uint64_t entry = ns_ring_end(&self->ring[q], back)->first;
    return self->copies && entry & NS_SHARED && self->shared[entry ^ NS_SHARED].claimed;
}

/* Take the task at that end of queue `q`, which is not empty. */
NS_INLINE uint64_t ns_queues_pop(ns_queues *self, uint32_t q, bool back) {
    ns_items *entry = ns_ring_end(&self->ring[q], back);
    uint64_t task = entry->first;
    if (entry->count == 1) {
        self->entries--;
        ns_ring_drop(&self->ring[q], back);
    } else {
        task = back ? ns_items_take_back(entry) : ns_items_take_front(entry);
    }
    self->length[q]--;
    self->total--;
    if (self->watched) ns_queues_mark(self, q);
    return self->copies ? ns_queues_claim(self, task) : task;
}

static inline void ns_queues_set_thresholds(ns_queues *self, uint32_t q, ns_thresholds thresholds) {
    self->thresholds[q] = thresholds;
    ns_queues_mark(self, q);
}

#ifdef __cplusplus
}
#endif

#endif
