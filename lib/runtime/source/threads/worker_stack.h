/* The stacks of workers: a limit for nested bodies (functions of tasks), and a message if a stack overflows. If the
 * stack has no room for a body of the program, the run ends with an error, and no other body of the program begins on
 * any worker. The library's own bodies, which wrap bodies of the program, always run, and check the stack before they
 * run the program's body. Plain calls of C and the inline calls of numasim/typed_tasks.h are not checked: if they
 * overflow the stack, they run into the guard pages below it. */
#pragma once

#include "threads/worker.h"

/* `stack_end` of all workers after an error for lack of stack: above every address, so that no body begins. */
#define NS_NO_STACK UINT64_MAX

/* Note that the worker moves to a stack on which no body may begin below the address `end`. Return the end of the
 * previous stack. */
static inline uint64_t ns_thread_stand_on(ns_thread_worker *worker, uint64_t end) {
    /* relaxed: the order only affects how soon a run with an error ends */
    const uint64_t before = ns_atomic_u64_load(&worker->stack_end, memory_order_relaxed);
    if (before != NS_NO_STACK) ns_atomic_u64_store(&worker->stack_end, end, memory_order_relaxed);
    return before;
}

/* Run a body for which the stack has no room: end the run with an error, unless the body is one of the library's. */
void ns_thread_enter_deep_body(ns_thread_worker *worker, ns_task *self, ns_body *body, void *arguments)
    __attribute__((cold));

/* Return the approximate address of the stack's top. A variable's address would not do: sanitizers may keep variables
 * elsewhere. */
NS_ALWAYS_INLINE uintptr_t ns_stack_here(void) {
#if defined(__x86_64__)
    uintptr_t here; /* __builtin_frame_address would cost a register in every caller */
    __asm__("movq %%rsp, %0" : "=r"(here));
    return here;
#else
    return (uintptr_t)__builtin_frame_address(0);
#endif
}

/* Run a body; if the stack has no room for the body, end the run with an error. */
NS_ALWAYS_INLINE void ns_thread_enter_body(ns_worker *base, ns_task *self, ns_body *body, void *arguments) {
    ns_thread_worker *worker = (ns_thread_worker *)base;
    /* relaxed: only the worker writes this word, except when a run ends with an error */
    const uint64_t end = ns_atomic_u64_load(&worker->stack_end, memory_order_relaxed);
    if (__builtin_expect(ns_stack_here() >= end, 1))
        body(self, arguments);
    else
        ns_thread_enter_deep_body(worker, self, body, arguments);
}

/* ---- the stack of a thread --------------------------------------------------------------------------------------- */

enum { NS_STACK_GUARD_BYTES = 256 << 10 }; /* guard pages below the stack of a worker's thread */

/* Return the lowest address of the calling thread's stack at which a body may begin; 0 if this is not known. */
uintptr_t ns_thread_stack_end(void);

/* Install a handler of SIGSEGV that writes a message if a watched stack overflows, if the program has no handler. */
void ns_thread_stack_report(void);

/* Watch the calling thread's stack until ns_thread_stack_leave. The handler runs on the `bytes` bytes at `apart`. */
void ns_thread_stack_watch(void *apart, size_t bytes);
void ns_thread_stack_leave(void);
