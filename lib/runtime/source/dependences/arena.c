#include "dependences/arena.h"

#include <stdlib.h>

typedef struct {
    _Alignas(max_align_t) void *before; /* the chunk made before it */
} chunk;

enum { FIRST_BYTES = 2048, MOST_BYTES = 1 << 18 };

void *ns_arena_take(ns_arena *self, size_t bytes) {
    const size_t unit = _Alignof(max_align_t), taken = (bytes + unit - 1) / unit * unit;
    if (self->room - self->used < taken) {
        size_t room = self->room ? 2 * self->room : FIRST_BYTES;
        if (room > MOST_BYTES) room = MOST_BYTES;
        if (room < taken) room = taken;
        chunk *made = malloc(sizeof *made + room);
        if (!made) return NULL;
        made->before = self->newest;
        *self = (ns_arena){.newest = made, .room = room};
    }
    char *const first = (char *)self->newest + sizeof(chunk);
    self->used += taken;
    return first + self->used - taken;
}

void ns_arena_destroy(ns_arena *self) {
    for (chunk *each = self->newest, *before; each; each = before) {
        before = each->before;
        free(each);
    }
    *self = (ns_arena){0};
}
