/* Arrays that grow by one entry at a time. */
#ifndef NS_GROWING_H
#define NS_GROWING_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    void *entries; /* freed by the user */
    uint64_t count, capacity;
} ns_growing;

/* Add an entry of `size` bytes, which are not set. Returns NULL where memory is short. */
void *ns_growing_add(ns_growing *self, size_t size);

#endif
