/* The first hardware thread that the process may use, which is worker 0's. What is serial stays there where it is
 * compared with threads: hardware threads need not be equally fast, least of all those of a virtual machine.
 */
#ifndef NS_FIRST_THREAD_H
#define NS_FIRST_THREAD_H

#include <sched.h>

/* Go there; `before` is where the calling thread could be until now. Where one cannot go, one is where one is. */
void ns_first_thread_stay(cpu_set_t *before);

void ns_first_thread_leave(const cpu_set_t *before);

#endif
