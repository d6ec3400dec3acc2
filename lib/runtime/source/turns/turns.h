/* Threads in turns: the thread mode, compiled a second time with NS_TURNS. All workers run on the calling thread, each
 * on a fiber, one at a time. At every access to an atomic word, and at every wait, the worker ends its turn, and the
 * next worker is chosen. So a run depends on its seed alone, and a run that fails can be repeated.
 *
 * The next worker is drawn from all workers that can go on (mode `turns`); or it is the worker with the earliest clock,
 * and a draw decides between equal clocks (mode `paced`). In mode `paced` the costs of the plan advance the clocks, as
 * in the simulator. In mode `turns` costs take no time, and a timer may go off at any turn.
 *
 * Every turn begins before an access. The work of a worker between two accesses belongs to the first of them. Memory is
 * sequential: a store is seen at once. The explorer of interleavings (tests/runtime/explorer) has weaker memory, but
 * can only explore small programs.
 */
#ifndef NS_TURNS_H
#define NS_TURNS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- called by the code of threads: end the turn of the running worker; without one, do nothing ------------------ */

void ns_turns_step(void);                  /* before an access */
void ns_turns_pause(void);                 /* in a waiting loop */
void ns_turns_pass(int64_t ps);            /* let time pass on the clock of the worker */
void ns_turns_charge(int64_t ps);          /* the same, if the mode is `paced` */
int64_t ns_turns_now_ps(void);             /* the clock of the running worker, or of the worker that ran last */
void ns_turns_lock(pthread_mutex_t *lock); /* take a lock that other workers may have */

/* Sleep while the 32 bits at `word` are `value`, until ns_turns_wake, or for `ps` picoseconds if this is not 0. */
void ns_turns_sleep(const void *word, uint32_t value, int64_t ps);
void ns_turns_wake(const void *word, uint32_t count);

/* ---- called by the pool ------------------------------------------------------------------------------------------ */

typedef struct ns_turns ns_turns;

/* Make the turns of `workers` workers from a seed. Return NULL if memory is short. */
ns_turns *ns_turns_create(uint32_t workers, uint64_t seed, bool paced);
void ns_turns_destroy(ns_turns *self);

/* Return the lowest address of the stack of a worker at which a body may begin. */
uint64_t ns_turns_stack_end(const ns_turns *self, uint32_t worker);

/* Run body(argument[worker]) for all workers in turns. Return false if all workers that have not returned sleep: then
 * the turns can only be destroyed. */
bool ns_turns_run(ns_turns *self, void (*body)(void *argument), void *const *argument);

#endif
