/* Fibers: stacks of their own that one thread switches between, in about as many instructions as there are registers
 * that a call preserves.
 *
 * A fiber that was suspended by one thread may be resumed by another. No signal masks are kept. Sanitizers, where
 * compiled in, are notified of every switch.
 */
#ifndef NS_FIBER_H
#define NS_FIBER_H

#include <stddef.h>
#include <stdint.h>

enum { NS_LEAST_STACK_BYTES = 32 << 10 }; /* that a body of the program has when it begins */

typedef struct ns_fiber ns_fiber;
typedef void ns_fiber_entry(void *argument);

/* The fiber that stands for the calling thread's own stack; switched from before it is switched to. */
int ns_fiber_adopt(ns_fiber **self);

/* The fiber stands for the stack that calls from now on, which may be another thread's. */
void ns_fiber_adopt_again(ns_fiber *self);

/* A fiber that will call entry(argument) on a stack of at least `stack_bytes`, with a page that traps below it, when it
 * is first switched to. `entry` never returns: its last act is to switch away for good. 0 or NS_ERROR_MEMORY. */
int ns_fiber_create(ns_fiber **self, size_t stack_bytes, ns_fiber_entry *entry, void *argument);

/* Make a fiber that was switched away from for good ready to call entry(argument), on the stack that it has. */
void ns_fiber_reuse(ns_fiber *self, ns_fiber_entry *entry, void *argument);

/* Suspend `from`, which is running, and go on with `to`. */
void ns_fiber_switch(ns_fiber *from, ns_fiber *to);

/* The lowest address of its stack, of a fiber that was created. */
uintptr_t ns_fiber_stack_begin(const ns_fiber *self);

/* How many bytes of stack the running fiber `self`, which was created, has left. */
size_t ns_fiber_left(const ns_fiber *self);

/* Free a fiber that is not running. */
void ns_fiber_destroy(ns_fiber *self);

#endif
