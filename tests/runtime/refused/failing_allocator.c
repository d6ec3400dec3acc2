#include "failing_allocator.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/types.h>

static _Atomic int64_t left; /* requests until the one that fails; 0: none does */
static _Atomic bool failed;

void fail_request(int64_t nth) {
    failed = false;
    left = nth;
}

bool request_has_failed(void) { return failed; }

static bool fails(void) {
    int64_t before = left;
    while (before > 0 && !atomic_compare_exchange_weak(&left, &before, before - 1)) {
    }
    if (before != 1) return false;
    failed = true;
    errno = ENOMEM;
    return true;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__real_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);

void *__wrap_malloc(size_t bytes) { return fails() ? NULL : __real_malloc(bytes); }

void *__wrap_calloc(size_t count, size_t bytes) { return fails() ? NULL : __real_calloc(count, bytes); }

void *__wrap_realloc(void *memory, size_t bytes) { return fails() ? NULL : __real_realloc(memory, bytes); }

void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
    return fails() ? NULL : __real_aligned_alloc(alignment, bytes);
}

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset) {
    return fails() ? MAP_FAILED : __real_mmap(at, bytes, protection, flags, file, offset);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    return fails() ? EAGAIN : __real_pthread_create(thread, attributes, start, argument);
}
