#include "base/pieces.h"

#include <stdlib.h>

/* The head of a block of memory, with a link to the block that was allocated before. */
typedef struct {
    _Alignas(max_align_t) void *before;
} head;

void *ns_pieces_take(ns_pieces *self, uint64_t count, size_t bytes) {
    head *made = count < (SIZE_MAX - sizeof(head)) / bytes ? calloc(1, sizeof *made + (size_t)count * bytes) : NULL;
    self->is_short |= !made;
    if (!made) return NULL;
    made->before = self->newest;
    self->newest = made;
    return made + 1;
}

void ns_pieces_release(ns_pieces *self) {
    while (self->newest) {
        head *last = self->newest;
        self->newest = last->before;
        free(last);
    }
}
