/* Included before sources of the library, so that these sources allocate in the arena. */
#pragma once

#include <stdlib.h>

void *ns_arena_allocate(size_t count, size_t bytes);
void ns_arena_free(void *memory);

#define calloc ns_arena_allocate
#define free ns_arena_free
