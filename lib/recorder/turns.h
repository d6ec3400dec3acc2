/* The turns of a team (the OpenMP threads of a parallel region). One thread of the team works at a time, up to the next
 * barrier; then the next thread works. A thread executes the tasks that it has made before its turn ends. A waiting
 * thread is held in a callback of the OpenMP runtime, so that it takes no tasks of other threads. So a recording does
 * not depend on the number of processors, threads do not disturb each other, and every run has the same events. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct ns_team ns_team;

/* Switch turns on if the environment asks for turns. */
void ns_turns_begin(void);

/* Make a team for the parallel region `number`, which asks for `asked` threads. The thread that begins the region has
 * the number `index` in the team `outer` (or NULL), to which it returns at the end. Return NULL if memory is short. */
ns_team *ns_team_begin(uint64_t number, uint32_t asked, ns_team *outer, uint32_t index);
/* End the region of a team. Return the outer team; set `*index` to the thread's number there. */
ns_team *ns_team_end(ns_team *self, uint32_t *index);
uint64_t ns_team_number(const ns_team *self);
/* Set the number of threads of the team, which is known when its first thread begins. */
void ns_team_set_size(ns_team *self, uint32_t size);

/* The functions of type bool return true if the thread has waited for the time limit while no turn ended: then the
 * threads seem to wait for each other, and from then on all threads work at the same time, without turns. */

/* Wait until thread `index` of the team gets its turn. */
bool ns_turn_take(ns_team *self, uint32_t index);
/* End the turn of a thread that waits for other threads in the runtime. The thread calls `ns_turn_take` afterwards. */
void ns_turn_pause(ns_team *self, uint32_t index);
/* Note that a thread has come to a barrier. If all tasks that it has made have ended, its turn ends, and it waits until
 * all other threads have come to the barrier. */
bool ns_turn_end(ns_team *self, uint32_t index);
/* Note that a thread has made a task (ns_turn_task_made), or that a task has ended (ns_turn_task_done). The turn of a
 * thread at a barrier ends when as many tasks have ended as the thread has made. */
void ns_turn_task_made(ns_team *self, uint32_t index);
bool ns_turn_task_done(ns_team *self, uint32_t index);
