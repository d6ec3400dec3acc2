/* Fibers: stacks that a thread switches between, in about as many instructions as there are registers that a call
 * preserves.
 *
 * One thread may resume a fiber that another thread has suspended. Signal masks are not kept. Sanitizers, if
 * compiled in, are notified of every switch.
 */
#ifndef NS_FIBER_H
#define NS_FIBER_H

#include <stddef.h>
#include <stdint.h>

enum { NS_LEAST_STACK_BYTES = 32 << 10 }; /* of stack, for a body of the program that begins */

typedef struct ns_fiber ns_fiber;
typedef void ns_fiber_entry(void *argument);

/* Make a fiber of the calling thread's own stack. Returns 0 or NS_ERROR_MEMORY. */
int ns_fiber_adopt(ns_fiber **self);

/* From now on the fiber is the present stack, perhaps of another thread. */
void ns_fiber_adopt_again(ns_fiber *self);

/* Make a fiber that calls entry(argument) when it is first switched to, on a stack of at least `stack_bytes` above a
 * guard page. `entry` never returns: it ends by a switch to another fiber. Returns 0 or NS_ERROR_MEMORY. */
int ns_fiber_create(ns_fiber **self, size_t stack_bytes, ns_fiber_entry *entry, void *argument);

/* Let a fiber whose entry has ended call entry(argument), on the same stack. */
void ns_fiber_reuse(ns_fiber *self, ns_fiber_entry *entry, void *argument);

/* Suspend the running fiber `from`, and go on with `to`. */
void ns_fiber_switch(ns_fiber *from, ns_fiber *to);

/* Returns the lowest address of the stack of a fiber that was created. */
uintptr_t ns_fiber_stack_begin(const ns_fiber *self);

/* Returns how many bytes of stack the running fiber `self`, which was created, has left. */
size_t ns_fiber_left(const ns_fiber *self);

/* Free a fiber that is not running. */
void ns_fiber_destroy(ns_fiber *self);

#endif
