#include "search/search_locks.h"

#include <stdlib.h>

#include "numasim/runtime.h"

static int make(ns_search_locks *self, const ns_fields *plan, const int32_t *words, uint64_t count, uint32_t nodes) {
    const char *kind = ns_fields_text(plan, "lock_kind");
    const int64_t batch = ns_fields_integer(plan, "lock_batch", 0);
    const ns_numa_lock_options options = {.kind = *kind ? kind : NULL,
                                          .nodes = nodes,
                                          .home = NS_NUMA_ANYWHERE,
                                          .batch = batch < UINT32_MAX ? (uint32_t)batch : UINT32_MAX};
    for (uint64_t at = 0; at < count; at++) {
        if (words[at] == NS_NO_LOCK || self->lock[words[at]]) continue;
        const int error = ns_numa_lock_create(&self->lock[words[at]], &options);
        if (error) return error;
    }
    return NS_OK;
}

int ns_search_locks_create(ns_search_locks *self, ns_field_reader *reader, const ns_plan *steal) {
    uint64_t words = 0, by_level = 0, by_queue = 0;
    *self = (ns_search_locks){.queues = steal->queue_count};
    ns_field_reader_array(reader, "word_role", NS_FIELD_U8, NS_ANY_COUNT, &words);
    const int64_t last = (int64_t)words - 1;
    const int32_t *level = ns_field_reader_i32(reader, "level_lock", NS_ANY_COUNT, NS_NO_LOCK, last, &by_level);
    const int32_t *queue = ns_field_reader_i32(reader, "queue_lock", NS_ANY_COUNT, NS_NO_LOCK, last, &by_queue);
    const bool fits = (!by_level || by_level == (uint64_t)steal->queue_count * steal->steal_levels) &&
                      (!by_queue || by_queue == steal->queue_count);
    if (!ns_field_reader_require(reader, fits, "level_lock or queue_lock is not for all levels and queues")) {
        return reader->error;
    }
    self->lock = calloc(words + 1, sizeof(ns_numa_lock *));
    if (!self->lock) return NS_ERROR_MEMORY;
    self->count = (uint32_t)words;
    self->level_lock = by_level ? level : NULL;
    self->queue_lock = by_queue ? queue : NULL;
    const int error = make(self, reader->fields, level, by_level, steal->nodes);
    return error ? error : make(self, reader->fields, queue, by_queue, steal->nodes);
}

void ns_search_locks_destroy(ns_search_locks *self) {
    for (uint32_t at = 0; at < self->count; at++) {
        if (self->lock[at]) ns_numa_lock_destroy(self->lock[at]);
    }
    free(self->lock);
}

void ns_search_locks_pass(const ns_search_locks *self, int32_t *held, int32_t next, uint32_t node) {
    if (*held == next) return;
    if (*held != NS_NO_LOCK) ns_numa_lock_release(self->lock[*held], node);
    if (next != NS_NO_LOCK) ns_numa_lock_acquire(self->lock[next], node);
    *held = next;
}
