/* Threads in turns: the thread mode, compiled a second time with NS_TURNS. All workers run on the calling thread, each
 * on a fiber, one at a time. A run depends on the seed alone, so a run that fails can be repeated.
 *
 * In mode `turns` a worker ends its turn before every access to an atomic word, and at every wait. The next worker is
 * chosen at random from all workers that can go on. Costs take no time, and a timer may go off at any turn.
 *
 * In mode `paced` each worker has a clock, and the costs of the plan advance the clocks. A worker ends its turn where
 * time passes: the workers take the steps of the simulator, in the order of the simulator, by time, rank and actor
 * (model 1.2). So if the code of workers obeys the model, the workers take the same steps as in the simulator.
 *
 * Memory is sequential: a store is seen at once. The explorer of interleavings (tests/runtime/explorer) delays stores
 * as weaker memory does, but can only explore small programs. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* The order of steps at the same time, as in the simulator. First come the looks of workers that wait in loops. */
enum ns_rank { NS_RANK_LOOP, NS_RANK_SEG_END, NS_RANK_GRANT, NS_RANK_WAKE, NS_RANK_PUT, NS_RANK_LOOK, NS_RANK_POLL };

/* ---- called by the code of threads: end the turn of the running worker; without a running worker, do nothing ----- */

void ns_turns_step(void);         /* before an access; nothing in mode `paced` */
void ns_turns_pause(bool begins); /* in a waiting loop, at its first rest if `begins`: wait for another worker's turn */
void ns_turns_pass(int64_t ps);   /* let time pass on the clock of the worker */

/* The costs of the plan, only in mode `paced`, since threads take real time. ns_thread_pay makes a step of the worker
 * at the end of `ps`, and ns_thread_pay_lock a step of lock number `lock`. ns_thread_owe adds a time that passes before
 * the worker's next step. ns_thread_settle lets this time pass now. */
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

/* Run body(argument[worker]) for all workers in turns. Return false if every worker has returned or sleeps, and one
 * sleeps: then the turns can only be destroyed. */
bool ns_turns_run(ns_turns *self, void (*body)(void *argument), void *const *argument);
