/* How deeply tasks and calls may nest on the stack that a worker is on. Where there is no room for a body, the run ends
 * with an error, and no other body begins, on whichever worker. Bodies of the library around one of the program run in
 * any case, and enter that one here. */
#ifndef NS_WORKER_STACK_H
#define NS_WORKER_STACK_H

#include "threads/worker.h"

/* The end of stacks once a run has had an error for one: below every address, so that no body begins. */
#define NS_NO_STACK UINT64_MAX

/* The worker goes on with a stack on which no body begins below `end`; what held of the one before. */
static inline uint64_t ns_thread_stand_on(ns_thread_worker *worker, uint64_t end) {
    /* relaxed: only how soon a run ends with an error depends on it */
    const uint64_t before = ns_atomic_u64_load(&worker->stack_end, memory_order_relaxed);
    if (before != NS_NO_STACK) ns_atomic_u64_store(&worker->stack_end, end, memory_order_relaxed);
    return before;
}

void ns_thread_enter_deep_body(ns_thread_worker *worker, ns_task *self, ns_body *body, void *arguments)
    __attribute__((cold));

/* Where the stack ends at present, about; not the address of a variable, which sanitizers may keep elsewhere. */
NS_ALWAYS_INLINE uintptr_t ns_stack_here(void) {
#if defined(__x86_64__)
    uintptr_t here; /* a frame's address would cost every function that asks a register */
    __asm__("movq %%rsp, %0" : "=r"(here));
    return here;
#else
    return (uintptr_t)__builtin_frame_address(0);
#endif
}

/* Let a body run, where there is room for it. */
NS_ALWAYS_INLINE void ns_thread_enter_body(ns_worker *base, ns_task *self, ns_body *body, void *arguments) {
    ns_thread_worker *worker = (ns_thread_worker *)base;
    /* relaxed: it is the worker's own, but where a run ends with an error */
    const uint64_t end = ns_atomic_u64_load(&worker->stack_end, memory_order_relaxed);
    if (__builtin_expect(ns_stack_here() >= end, 1))
        body(self, arguments);
    else
        ns_thread_enter_deep_body(worker, self, body, arguments);
}

#endif
