/* Arrays that grow by an entry at a time. */
#ifndef NS_GROWING_H
#define NS_GROWING_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    void *entries; /* to be freed */
    uint64_t count, capacity;
} ns_growing;

/* One more entry of `size` bytes, which are not set; NULL where memory is short. */
void *ns_growing_add(ns_growing *self, size_t size);

#endif
