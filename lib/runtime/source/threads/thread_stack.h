/* The stack of a thread: where it ends, and a sentence for whoever overflows it.
 *
 * What nests by calls of the library is counted by these, and refused in time. Plain calls of C are not seen, nor those
 * that numasim/typed_tasks.h makes inline: these run into the pages below the stack, which trap.
 */
#ifndef NS_THREAD_STACK_H
#define NS_THREAD_STACK_H

#include <stddef.h>
#include <stdint.h>

enum { NS_STACK_GUARD_BYTES = 256 << 10 }; /* that trap below the stack of a worker's thread */

/* The lowest address of the calling thread's stack at which a body may begin; 0 where that is not known. */
uintptr_t ns_thread_stack_end(void);

/* Let this process say that a stack has overflowed before the signal SIGSEGV ends it, unless something else sees to
 * that signal already. */
void ns_thread_stack_report(void);

/* The same of the calling thread, whose `bytes` at `apart` are a stack for signals until ns_thread_stack_leave. */
void ns_thread_stack_watch(void *apart, size_t bytes);
void ns_thread_stack_leave(void);

#endif
