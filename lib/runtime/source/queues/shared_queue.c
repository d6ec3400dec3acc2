#include "queues/shared_queue.h"

#include <stdlib.h>

#include "numasim/runtime.h"

enum { FIRST_SLOTS = 64 };

int ns_shared_queue_create(ns_shared_queue *self, uint64_t capacity) {
    *self = (ns_shared_queue){.capacity = capacity, .mask = FIRST_SLOTS - 1};
    self->slots = malloc(FIRST_SLOTS * sizeof *self->slots);
    if (!self->slots) return NS_ERROR_MEMORY;
    if (pthread_mutex_init(&self->lock, NULL) == 0) return NS_OK;
    free(self->slots);
    self->slots = NULL;
    return NS_ERROR_THREAD;
}

void ns_shared_queue_destroy(ns_shared_queue *self) {
    if (!self->slots) return;
    pthread_mutex_destroy(&self->lock);
    free(self->slots);
}

/* Double the room. */
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
    /* relaxed: a thread takes the lock before it acts on the length */
    ns_atomic_u64_store(&self->length, self->back - self->front, memory_order_relaxed);
}

bool ns_shared_queue_push(ns_shared_queue *self, void *task) {
    pthread_mutex_lock(&self->lock);
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
    pthread_mutex_lock(&self->lock);
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
