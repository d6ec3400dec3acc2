/* Workers in turns: the code of pools of threads, compiled a second time with NS_TURNS. All workers run on the calling
 * thread, each on a fiber (a stack with saved registers), one at a time. A turn is the time from one switch of fibers
 * to the next. A run depends on the seed alone, so a run that fails can be repeated.
 *
 * In mode `turns` (NS_MODE_TURNS) a worker ends its turn before every access to an atomic word, and at every wait. The
 * next worker is chosen at random from all workers that can go on. The plan's costs take no time, and a timer may go
 * off at any turn. In mode `paced` (NS_MODE_PACED) each worker has a clock, and the plan's costs advance the clocks. A
 * worker ends its turn where time passes. The next worker is the worker whose next step is first in the simulator's
 * order: by time, rank (kind of step) and actor (model 1.2). So code that obeys the model takes the same steps as the
 * simulator.
 *
 * A store is seen by other workers at once. The explorer of interleavings (tests/runtime/explorer) delays stores as
 * real machines do, but can only explore small programs. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* The order of steps at the same time, as in the simulator. First come looks of workers that wait in loops. */
enum ns_rank { NS_RANK_LOOP, NS_RANK_SEG_END, NS_RANK_GRANT, NS_RANK_WAKE, NS_RANK_PUT, NS_RANK_LOOK, NS_RANK_POLL };

/* ---- called by the code of workers: each ends the turn of the running worker; without a running worker, nothing -- */

void ns_turns_step(void);         /* before an access to an atomic word; does nothing in mode `paced` */
void ns_turns_pause(bool begins); /* in a waiting loop, after each look; `begins`: after its first look */
void ns_turns_pass(int64_t ps);   /* advance the clock of the worker by `ps` */

/* The plan's costs, in mode `paced`; otherwise these functions do nothing. ns_thread_pay advances the worker's clock by
 * `ps` and ends the turn; the worker's next step has this rank. ns_thread_pay_lock does the same for a step of lock
 * number `lock`. ns_thread_owe adds time that passes at the end of this turn; ns_thread_settle lets it pass now. */
#ifdef NS_TURNS
void ns_thread_pay(int64_t ps, enum ns_rank rank);
void ns_thread_pay_lock(int64_t ps, uint32_t lock);
void ns_thread_owe(int64_t ps);
void ns_thread_settle(void);
#else
static inline void ns_thread_pay(int64_t ps, enum ns_rank rank) {}
static inline void ns_thread_pay_lock(int64_t ps, uint32_t lock) {}
static inline void ns_thread_owe(int64_t ps) {}
static inline void ns_thread_settle(void) {}
#endif

int64_t ns_turns_now_ps(void);             /* the clock of the running worker, or of the worker that ran last */
void ns_turns_lock(pthread_mutex_t *lock); /* take a mutex that another worker may have */

/* Sleep, if the 32 bits at `word` are `value`, until ns_turns_wake wakes the worker, or for `ps` if this is not 0.
 * ns_turns_wake wakes at most `count` workers that sleep on `word`. Like a futex of Linux. */
void ns_turns_sleep(const void *word, uint32_t value, int64_t ps);
void ns_turns_wake(const void *word, uint32_t count);

/* ---- called by the pool ------------------------------------------------------------------------------------------ */

typedef struct ns_turns ns_turns;

/* Make the fibers and clocks of `workers` workers. Return NULL if memory is short. */
ns_turns *ns_turns_create(uint32_t workers, uint64_t seed, bool paced);
void ns_turns_destroy(ns_turns *self);

/* Return the lowest address of the stack of a worker at which a body may begin. */
uint64_t ns_turns_stack_end(const ns_turns *self, uint32_t worker);

/* Run body(argument[worker]) for all workers in turns, until all have returned. Return false if no worker can go on,
 * but some sleep: then `self` can only be destroyed. */
bool ns_turns_run(ns_turns *self, void (*body)(void *argument), void *const *argument);
