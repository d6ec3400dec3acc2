#include "serial/deferred.h"

#include <stdlib.h>
#include <string.h>

/* `entries` with room for `needed`; NULL, and nothing changed, where memory is short. */
static void *with_room(void *entries, size_t *room, size_t needed, size_t size) {
    size_t more = *room ? *room : 64;
    if (entries && *room >= needed) return entries;
    while (more < needed) more *= 2;
    void *moved = realloc(entries, more * size);
    if (moved) *room = more;
    return moved;
}

/* Where the arguments of one more begin: where any type may. */
static size_t end_of(const ns_deferred *self) {
    const size_t unit = _Alignof(max_align_t);
    if (!self->count) return 0;
    const ns_deferred_task *last = &self->task[self->count - 1];
    return (last->begin + last->bytes + unit - 1) / unit * unit;
}

bool ns_deferred_push(ns_deferred *self, const ns_work_order *order) {
    const size_t begin = end_of(self);
    ns_deferred_task *task = with_room(self->task, &self->task_room, self->count + 1, sizeof *task);
    if (task) self->task = task;
    char *bytes = with_room(self->bytes, &self->byte_room, begin + order->bytes, 1);
    if (bytes) self->bytes = bytes;
    if (!task || !bytes) return false;
    task[self->count++] = (ns_deferred_task){order->body, begin, order->bytes};
    if (order->bytes) memcpy(bytes + begin, order->arguments, order->bytes);
    return true;
}

ns_work_order ns_deferred_get(const ns_deferred *self, size_t at) {
    const ns_deferred_task *task = &self->task[at];
    return (ns_work_order){.body = task->body, .arguments = self->bytes + task->begin, .bytes = task->bytes};
}
