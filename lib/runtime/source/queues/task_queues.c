#include "queues/task_queues.h"

#include <stdlib.h>

#include "numasim/runtime.h"
#include "platform/waiting.h"

enum { FIRST_SLOTS = 64, FIRST_CAPACITY_BITS = 10, LANE_TASKS = 1 << 20 };

static int create_shared(ns_shared_queue *self, uint64_t capacity) {
    *self = (ns_shared_queue){.capacity = capacity, .mask = FIRST_SLOTS - 1};
    self->slots = malloc(FIRST_SLOTS * sizeof *self->slots);
    if (!self->slots) return NS_ERROR_MEMORY;
    if (pthread_mutex_init(&self->lock, NULL) == 0) return NS_OK;
    free(self->slots);
    self->slots = NULL;
    return NS_ERROR_THREAD;
}

/* Double the capacity. */
static bool grow(ns_shared_queue *self) {
    const uint64_t mask = 2 * self->mask + 1;
    void **slots = malloc((mask + 1) * sizeof *slots);
    if (!slots) return false;
    for (uint64_t at = self->front; at < self->back; at++) slots[at & mask] = self->slots[at & self->mask];
    free(self->slots);
    self->slots = slots;
    self->mask = mask;
    return true;
}

static void tell_length(ns_shared_queue *self) {
    /* relaxed: a thread takes the lock before it relies on the length */
    ns_atomic_u64_store(&self->length, self->back - self->front, memory_order_relaxed);
}

bool ns_shared_queue_push(ns_shared_queue *self, void *task) {
    ns_mutex_lock(&self->lock);
    const uint64_t length = self->back - self->front;
    const bool room = (!self->capacity || length < self->capacity) && (length <= self->mask || grow(self));
    if (room) self->slots[self->back++ & self->mask] = task;
    tell_length(self);
    pthread_mutex_unlock(&self->lock);
    return room;
}

void *ns_shared_queue_take(ns_shared_queue *self, enum ns_queue_end end, bool (*may)(void *context, void *task),
                           void *context) {
    void *task = NULL;
    ns_mutex_lock(&self->lock);
    if (self->back > self->front) {
        void *first = self->slots[(end == NS_BACK ? self->back - 1 : self->front) & self->mask];
        if (!may || may(context, first)) {
            task = first;
            self->back -= end == NS_BACK;
            self->front += end == NS_FRONT;
        }
    }
    tell_length(self);
    pthread_mutex_unlock(&self->lock);
    return task;
}

static bool row_names(const ns_plan *plan, uint32_t row, uint32_t q) {
    for (uint32_t at = plan->seg[plan->row[row]]; at < plan->seg[plan->row[row + 1]]; at++) {
        if (plan->queue[at] == q) return true;
    }
    return false;
}

/* Return whether level `index` of the plan lets no worker but `owner` probe queue `q`. */
static bool is_for_owner_alone(const ns_plan *plan, uint32_t index, uint32_t q, uint32_t owner) {
    const ns_level *level = &plan->level[index];
    const uint32_t end = index + 1 < plan->levels ? level[1].row : plan->rows - 1;
    for (uint32_t row = level->row; row < end; row++) {
        const bool owners = level->anchor == NS_ANCHOR_ME && row - level->row == owner;
        if (!owners && row_names(plan, row, q)) return false;
    }
    return true;
}

bool ns_task_queue_is_deque(const ns_full_plan *plan, uint32_t q) {
    const ns_plan *steal = &plan->steal;
    const ns_queue *queue = &steal->queues[q];
    const uint32_t owner = (uint32_t)queue->owner;
    const bool ends = queue->own_end == NS_BACK && queue->steal_end == NS_FRONT;
    const bool bound = queue->capacity && queue->full != NS_FULL_INLINE;
    if (!ends || bound || steal->own[owner] != q || plan->join == NS_JOIN_STRICT) return false;
    for (uint32_t index = 0; index < steal->levels; index++) {
        const bool steals = index < steal->steal_levels && (steal->level[index].flags & NS_FLAG_ATTEMPT);
        if (!steals && !is_for_owner_alone(steal, index, q, owner)) return false;
    }
    return true;
}

int ns_task_queue_create(ns_task_queue *self, const ns_full_plan *plan, uint32_t q, ns_lane_owned *lane) {
    const ns_queue *queue = &plan->steal.queues[q];
    const int64_t capacity = queue->capacity ? queue->capacity : INT64_C(1) << 62;
    *self = (ns_task_queue){.kind = lane ? NS_LANE : ns_task_queue_is_deque(plan, q) ? NS_DEQUE : NS_SHARED_QUEUE};
    ns_task_queue_set_thresholds(self, ns_thresholds_first(&plan->thresholds, capacity));
    if (self->kind == NS_LANE) return ns_lane_create(&self->lane, lane, LANE_TASKS);
    if (self->kind == NS_DEQUE) return ns_deque_create(&self->deque, FIRST_CAPACITY_BITS);
    const bool bound = queue->capacity && queue->full != NS_FULL_GROW;
    return create_shared(&self->shared, bound ? (uint64_t)queue->capacity : 0);
}

void ns_task_queue_destroy(ns_task_queue *self) {
    switch (self->kind) {
        case NS_LANE: ns_lane_destroy(&self->lane); break;
        case NS_DEQUE: ns_deque_destroy(&self->deque); break;
        default:
            if (self->shared.slots) pthread_mutex_destroy(&self->shared.lock);
            free(self->shared.slots);
    }
}

void ns_task_queue_set_thresholds(ns_task_queue *self, ns_thresholds thresholds) {
    /* relaxed: the next push or pop corrects the watch bits */
    ns_atomic_u64_store(&self->high, (uint64_t)thresholds.high, memory_order_relaxed);
    ns_atomic_u64_store(&self->low, (uint64_t)thresholds.low, memory_order_relaxed);
}

ns_thresholds ns_task_queue_thresholds(const ns_task_queue *self) {
    return (ns_thresholds){(int64_t)ns_atomic_u64_load(&self->high, memory_order_relaxed), /* relaxed: as above */
                           (int64_t)ns_atomic_u64_load(&self->low, memory_order_relaxed)};
}
