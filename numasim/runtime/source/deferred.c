#include "deferred.h"

#include <stdlib.h>
#include <string.h>

/* Behind the arguments of each. */
typedef struct {
    ns_body *body;
    size_t bytes;
} waiting;

enum { FIRST_ROOM = 4096 };

/* Of a task with arguments of so many bytes: all begin where any type may. */
static size_t size_of(size_t bytes) {
    const size_t unit = _Alignof(max_align_t), whole = bytes + sizeof(waiting);
    return (whole + unit - 1) / unit * unit;
}

static bool make_room(ns_deferred *self, size_t size) {
    if (self->room - self->used >= size) return true;
    size_t room = self->room ? 2 * self->room : FIRST_ROOM;
    while (room - self->used < size) room *= 2;
    char *bytes = realloc(self->bytes, room);
    if (!bytes) return false;
    self->bytes = bytes;
    self->room = room;
    return true;
}

bool ns_deferred_push(ns_deferred *self, const ns_work_order *order) {
    const size_t size = size_of(order->bytes);
    const waiting last = {order->body, order->bytes};
    if (!make_room(self, size)) return false;
    if (order->bytes) memcpy(self->bytes + self->used, order->arguments, order->bytes);
    self->used += size;
    memcpy(self->bytes + self->used - sizeof last, &last, sizeof last);
    return true;
}

ns_work_order ns_deferred_pop(ns_deferred *self) {
    waiting last;
    memcpy(&last, self->bytes + self->used - sizeof last, sizeof last);
    self->used -= size_of(last.bytes);
    return (ns_work_order){.body = last.body, .arguments = self->bytes + self->used, .bytes = last.bytes};
}
