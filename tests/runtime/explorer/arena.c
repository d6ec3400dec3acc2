#include <stdio.h>
#include <string.h>

#include "explore.h"
#include "platform/near_memory.h"

enum { ARENA_BYTES = 1 << 16, LINE_BYTES = 128 };

static _Alignas(4096) unsigned char memory[ARENA_BYTES];
static size_t used;

void ns_arena_clear(void) {
    memset(memory, 0, used);
    used = 0;
}

bool ns_arena_holds(const void *location) {
    const uintptr_t at = (uintptr_t)location, first = (uintptr_t)memory;
    return at >= first && at < first + ARENA_BYTES;
}

const uint64_t *ns_arena_words(size_t *count) {
    *count = used / sizeof(uint64_t);
    return (const uint64_t *)(const void *)memory;
}

void ns_arena_describe(const void *location, char *text, size_t bytes) {
    if (ns_arena_holds(location))
        snprintf(text, bytes, "byte %zu", (size_t)((uintptr_t)location - (uintptr_t)memory));
    else
        snprintf(text, bytes, "its stack %lx", (unsigned long)((uintptr_t)location & 0xffff));
}

void *ns_near_memory_allocate(size_t bytes, int32_t node) {
    (void)node;
    const size_t whole = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    if (used + whole > ARENA_BYTES) return NULL;
    used += whole;
    return memory + used - whole;
}

void ns_near_memory_free(void *freed, size_t bytes) { (void)freed, (void)bytes; }

void *ns_arena_allocate(size_t count, size_t bytes);
void *ns_arena_allocate(size_t count, size_t bytes) { return ns_near_memory_allocate(count * bytes, 0); }

void ns_arena_free(void *freed);
void ns_arena_free(void *freed) { (void)freed; }
