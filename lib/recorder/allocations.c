/* The functions that allocate memory, in place of those of the C library, which do the work: their blocks become
 * events, so that the addresses of dependences and of declared accesses are places in blocks of known sizes.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "event_log.h"
#include "pages.h"

enum { SMALLEST = 64 }; /* bytes: smaller blocks are no more than a cache line */

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *block, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void *block);
extern size_t malloc_usable_size(void *block);

static void *noted(void *block, size_t bytes) {
    if (!block || bytes < SMALLEST || !ns_log_is_on()) return block;
    const uint64_t now = ns_ticks();
    ns_event_log *log = ns_log_of_thread();
    if (!log) return block;
    ns_put(log, now, NS_EVENT_ALLOCATE, 0);
    ns_put_operand(log, (uint64_t)(uintptr_t)block);
    ns_put_operand(log, bytes);
    if (bytes >= NS_LARGE_BYTES) ns_block_begin(block, bytes);
    return block;
}

static void note_release(void *block) {
    if (!block || !ns_log_is_on()) return;
    const size_t bytes = malloc_usable_size(block);
    if (bytes < SMALLEST) return;
    const uint64_t now = ns_ticks();
    ns_event_log *log = ns_log_of_thread();
    if (!log) return;
    ns_put(log, now, NS_EVENT_RELEASE, 0);
    ns_put_operand(log, (uint64_t)(uintptr_t)block);
    if (bytes >= NS_LARGE_BYTES) ns_block_end(block);
}

void *malloc(size_t bytes) { return noted(__libc_malloc(bytes), bytes); }

void *calloc(size_t count, size_t bytes) { return noted(__libc_calloc(count, bytes), count * bytes); }

void *realloc(void *block, size_t bytes) {
    note_release(block);
    return noted(__libc_realloc(block, bytes), bytes);
}

void *memalign(size_t alignment, size_t bytes);
void *memalign(size_t alignment, size_t bytes) { return noted(__libc_memalign(alignment, bytes), bytes); }

void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void **block, size_t alignment, size_t bytes) {
    if (alignment % sizeof(void *) || !alignment || (alignment & (alignment - 1))) return EINVAL;
    void *made = memalign(alignment, bytes);
    if (!made) return ENOMEM;
    *block = made;
    return 0;
}

void free(void *block) {
    note_release(block);
    __libc_free(block);
}
