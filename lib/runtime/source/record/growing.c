#include "record/growing.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 256 };

void *ns_growing_add(ns_growing *self, size_t size) {
    if (self->count == self->capacity) {
        const uint64_t capacity = self->capacity ? 2 * self->capacity : FIRST_CAPACITY;
        void *entries = realloc(self->entries, capacity * size);
        if (!entries) return NULL;
        self->entries = entries;
        self->capacity = capacity;
    }
    return (char *)self->entries + self->count++ * size;
}
