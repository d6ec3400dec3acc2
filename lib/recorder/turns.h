/* The turns of a team of OpenMP threads. One thread of the team works at a time, up to the next barrier; then the next
 * thread works.
 *
 * A thread executes the tasks that it has made before its turn ends. A waiting thread is held in a callback of the
 * runtime, so that it takes no tasks of other threads. Thus a recording does not depend on the number of processors,
 * threads do not disturb each other, and every run of the program has the same events.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct ns_team ns_team;

/* Switch turns on if the environment asks for turns. */
void ns_turns_begin(void);

/* Make a team for the parallel region `number`, which asks for `asked` threads. At the end of the region the first
 * thread of the team returns to the team `outer`, where the thread has the number `index`. Return NULL if memory is
 * short. */
ns_team *ns_team_begin(uint64_t number, uint32_t asked, ns_team *outer, uint32_t index);
/* End the region. Return the outer team; `*index` is set to the thread's number in the outer team. */
ns_team *ns_team_end(ns_team *self, uint32_t *index);
uint64_t ns_team_number(const ns_team *self);
/* Set the number of threads of the team. The number is known when the first thread begins. */
void ns_team_set_size(ns_team *self, uint32_t size);

/* The bool functions below return true if the thread has waited for the time limit without the end of any turn: the
 * threads then seem to wait for each other. From then on all threads work at the same time, without turns. */

/* Wait until the thread `index` gets its turn. */
bool ns_turn_take(ns_team *self, uint32_t index);
/* Interrupt the turn of a thread that waits for other threads in the runtime, until the thread calls `ns_turn_take`. */
void ns_turn_pause(ns_team *self, uint32_t index);
/* Note that a thread has come to a barrier. If the thread has no unfinished tasks, its turn ends, and the thread waits
 * until all other threads have had their turns. */
bool ns_turn_end(ns_team *self, uint32_t index);
/* Note that a thread has made a task, or has ended a task. The turn of a thread at a barrier ends with the thread's
 * last task. */
void ns_turn_task_made(ns_team *self, uint32_t index);
bool ns_turn_task_done(ns_team *self, uint32_t index);
