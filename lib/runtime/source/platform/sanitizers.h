/* Calls that report fibers to AddressSanitizer and ThreadSanitizer. Without a sanitizer, the calls are empty. */
#pragma once

#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NS_ADDRESS_SANITIZER 1
#endif
#if __has_feature(thread_sanitizer)
#define NS_THREAD_SANITIZER 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define NS_ADDRESS_SANITIZER 1
#endif
#ifdef __SANITIZE_THREAD__
#define NS_THREAD_SANITIZER 1
#endif

#ifdef NS_ADDRESS_SANITIZER
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef NS_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

typedef struct {
    void *stack, *fake; /* the stack, and AddressSanitizer's fake stack */
    size_t bytes;
    void *thread; /* ThreadSanitizer's handle of the fiber */
} ns_sanitized_fiber;

/* Register the fiber that is the calling thread's own stack. */
static inline void ns_sanitized_adopt(ns_sanitized_fiber *self) {
#ifdef NS_ADDRESS_SANITIZER
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &self->stack, &self->bytes);
    pthread_attr_destroy(&attributes);
#endif
#ifdef NS_THREAD_SANITIZER
    self->thread = __tsan_get_current_fiber();
#endif
}

static inline void ns_sanitized_create(ns_sanitized_fiber *self, void *stack, size_t bytes) {
    self->stack = stack;
    self->bytes = bytes;
#ifdef NS_THREAD_SANITIZER
    self->thread = __tsan_create_fiber(0);
#endif
}

/* Report that the functions on a stack from `low` to `high` never return: remove the guards of their variables. */
static inline void ns_sanitized_forget(const void *low, const void *high) {
#ifdef NS_ADDRESS_SANITIZER
    ASAN_UNPOISON_MEMORY_REGION(low, (size_t)((const char *)high - (const char *)low));
#endif
}

static inline void ns_sanitized_destroy(ns_sanitized_fiber *self) {
#ifdef NS_THREAD_SANITIZER
    __tsan_destroy_fiber(self->thread);
#endif
}

/* Report that `from` is about to be left for `to`. */
static inline void ns_sanitized_leave(ns_sanitized_fiber *from, ns_sanitized_fiber *to) {
#ifdef NS_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(&from->fake, to->stack, to->bytes);
#endif
#ifdef NS_THREAD_SANITIZER
    __tsan_switch_to_fiber(to->thread, 0);
#endif
}

/* Report that `self` begins to run, or resumes. */
static inline void ns_sanitized_arrive(ns_sanitized_fiber *self) {
#ifdef NS_ADDRESS_SANITIZER
    const void *stack;
    size_t bytes;
    __sanitizer_finish_switch_fiber(self->fake, &stack, &bytes);
#endif
}
