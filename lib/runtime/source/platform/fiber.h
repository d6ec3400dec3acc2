/* Fibers: stacks with saved registers, between which a thread switches. A thread may resume a fiber that another thread
 * has suspended. A switch saves the registers that a call preserves, but no signal mask. Sanitizers are told of it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { NS_LEAST_STACK_BYTES = 32 << 10 }; /* the least stack on which a body of the program begins */

typedef struct ns_fiber ns_fiber;
typedef void ns_fiber_entry(void *argument);

/* Make a fiber from the calling thread's own stack. Return 0 or NS_ERROR_MEMORY. */
int ns_fiber_adopt(ns_fiber **self);

/* Let a fiber of ns_fiber_adopt stand for the calling thread's stack, which may be another thread than before. */
void ns_fiber_adopt_again(ns_fiber *self);

/* Make a fiber that calls entry(argument) at the first switch to it. The fiber has a stack of at least `stack_bytes`
 * above a guard page. `entry` never returns: its last action is a switch to another fiber. Return 0 or
 * NS_ERROR_MEMORY. */
int ns_fiber_create(ns_fiber **self, size_t stack_bytes, ns_fiber_entry *entry, void *argument);

/* Let a fiber whose entry has ended call entry(argument) at the next switch, on the same stack. */
void ns_fiber_reuse(ns_fiber *self, ns_fiber_entry *entry, void *argument);

/* Suspend the running fiber `from`, and resume or start `to`. */
void ns_fiber_switch(ns_fiber *from, ns_fiber *to);

/* Return the lowest address of the stack of a fiber made by ns_fiber_create. */
uintptr_t ns_fiber_stack_begin(const ns_fiber *self);

/* Return how many bytes of stack are left for the running fiber `self`, which ns_fiber_create made. */
size_t ns_fiber_left(const ns_fiber *self);

/* Free a fiber that is not running. */
void ns_fiber_destroy(ns_fiber *self);
