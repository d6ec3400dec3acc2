/* Arrays that grow by one entry at a time. */
#pragma once

#include <stdint.h>
#include <stdlib.h>

enum { NS_FIRST_CAPACITY = 256 };

typedef struct {
    void *entries; /* freed by the user of the array */
    uint64_t count, capacity;
} ns_growing;

/* Add an entry of `size` uninitialised bytes. Return NULL if memory is short. */
static inline void *ns_growing_add(ns_growing *self, size_t size) {
    if (self->count == self->capacity) {
        const uint64_t capacity = self->capacity ? 2 * self->capacity : NS_FIRST_CAPACITY;
        void *entries = realloc(self->entries, capacity * size);
        if (!entries) return NULL;
        self->entries = entries;
        self->capacity = capacity;
    }
    return (char *)self->entries + self->count++ * size;
}
