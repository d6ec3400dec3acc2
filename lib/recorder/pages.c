#include "pages.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_BLOCKS = 4096, SAMPLES = 16, NOT_LOOKED_AT = -1 };

typedef struct {
    uintptr_t address;
    size_t bytes;
    int touched; /* of its samples */
} block;

static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
static block blocks[MOST_BLOCKS]; /* further blocks are not looked at */
static size_t count;

void ns_block_begin(const void *address, size_t bytes) {
    pthread_mutex_lock(&changing);
    if (count < MOST_BLOCKS) blocks[count++] = (block){(uintptr_t)address, bytes, NOT_LOOKED_AT};
    pthread_mutex_unlock(&changing);
}

void ns_block_end(const void *address) {
    pthread_mutex_lock(&changing);
    for (size_t i = count; i > 0; i--) {
        if (blocks[i - 1].address != (uintptr_t)address) continue;
        blocks[i - 1] = blocks[--count];
        break;
    }
    pthread_mutex_unlock(&changing);
}

/* How many of SAMPLES pages in the middle of equal parts of a block exist. */
static int touched_samples(const block *self) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    int found = 0;
    for (uintptr_t i = 0; i < SAMPLES; i++) {
        const uintptr_t at = self->address + self->bytes / (2 * SAMPLES) * (2 * i + 1);
        unsigned char exists = 0;
        if (mincore((void *)(at & ~(page - 1)), 1, &exists) == 0) found += exists & 1;
    }
    return found;
}

static void note(ns_event_log *log, block *self) {
    if (self->touched == SAMPLES || log->next >= log->full) return;
    const int found = touched_samples(self);
    if (found == self->touched) return;
    self->touched = found;
    ns_put(log, ns_ticks(), NS_EVENT_TOUCHED, (uint32_t)found);
    ns_put_operand(log, self->address);
}

uint64_t ns_make_room(ns_event_log *log) {
    const uint64_t begin = ns_ticks();
    if (log->next < log->full) return 0;
    ns_log_flush(log);
    return ns_ticks() - begin;
}

void ns_note_touched(ns_event_log *log) {
    static atomic_flag noted = ATOMIC_FLAG_INIT;
    const uint64_t begin = ns_ticks();
    uint64_t flushed = atomic_flag_test_and_set(&noted) ? 0 : ns_note_globals(log);
    flushed += ns_make_room(log);
    pthread_mutex_lock(&changing);
    for (size_t i = 0; i < count; i++) note(log, &blocks[i]);
    pthread_mutex_unlock(&changing);
    ns_put(log, begin, NS_EVENT_PAUSE, 0);
    ns_put_operand(log, ns_ticks() - begin - flushed);
}
