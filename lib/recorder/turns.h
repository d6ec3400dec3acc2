/* The turns of a team. Only one thread of the team works at a time, up to the next barrier. Then the next thread works.
 *
 * A thread executes the tasks that it has made before its turn ends. A waiting thread is held in a callback of the
 * runtime, where the thread takes no tasks of others. So a recording does not depend on the number of processors,
 * threads do not disturb each other, and every run of the program has the same events.
 */
#ifndef NUMASIM_RECORD_TURNS_H
#define NUMASIM_RECORD_TURNS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ns_team ns_team;

/* Switch turns on if the environment asks for turns. */
void ns_turns_begin(void);

/* Make a team for the parallel region `number`, which asks for so many threads. At the end of the region its first
 * thread goes back to the team `outer`, in which the thread has the number `index`. Returns NULL where memory is short.
 */
ns_team *ns_team_begin(uint64_t number, uint32_t asked, ns_team *outer, uint32_t index);
/* End the region. Returns the outer team, with the number of the thread there in `*index`. */
ns_team *ns_team_end(ns_team *self, uint32_t *index);
uint64_t ns_team_number(const ns_team *self);
/* Set the number of threads, which is known when the first thread begins. */
void ns_team_set_size(ns_team *self, uint32_t size);

/* The following functions return true if the thread has waited for so long, without another turn ending meanwhile, that
 * threads seem to wait for each other. From then on all threads work together, without turns. */

/* Wait for the turn of a thread. */
bool ns_turn_take(ns_team *self, uint32_t index);
/* Interrupt the turn of a thread that waits for others in the runtime, until the thread takes a turn again. */
void ns_turn_pause(ns_team *self, uint32_t index);
/* Note that a thread has come to a barrier. If no tasks of the thread are left, its turn ends, and the thread waits for
 * the turns of all others. */
bool ns_turn_end(ns_team *self, uint32_t index);
/* Note that a thread has made a task, or ended a task. After its last task the turn of a thread at a barrier ends. */
void ns_turn_task_made(ns_team *self, uint32_t index);
bool ns_turn_task_done(ns_team *self, uint32_t index);

#endif
