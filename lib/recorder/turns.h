/* The turns of a team: of its threads, only one works at a time, up to the next barrier, and then the next one does.
 *
 * A thread executes the tasks that it has made before its turn ends. While it waits, it is held in a callback of the
 * runtime, where it takes no tasks of others. So a recording does not depend on how many processors the machine has,
 * threads do not disturb each other, and every run of the program has the same events.
 */
#ifndef NUMASIM_RECORD_TURNS_H
#define NUMASIM_RECORD_TURNS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ns_team ns_team;

/* Let there be turns, if the environment asks for them. */
void ns_turns_begin(void);

/* A team for a parallel region of that number, which asks for so many threads; `outer` and `index` are what its first
 * thread goes back to. NULL: there is no memory. */
ns_team *ns_team_begin(uint64_t number, uint32_t asked, ns_team *outer, uint32_t index);
/* The region has ended: returns the team around it, with the number of the thread there. */
ns_team *ns_team_end(ns_team *self, uint32_t *index);
uint64_t ns_team_number(const ns_team *self);
/* Say how many threads there are. */
void ns_team_set_size(ns_team *self, uint32_t size);

/* These return true where the thread has waited for so long, while nobody else came to the end of a turn, that threads
 * seem to wait for each other: from now on all of them work together. */

/* Wait for the turn of a thread. */
bool ns_turn_take(ns_team *self, uint32_t index);
/* The turn of a thread is over until it takes one again, as it waits for others in the runtime. */
void ns_turn_pause(ns_team *self, uint32_t index);
/* A thread has come to a barrier. Unless tasks of it are left, its turn ends, and it waits for those of all others. */
bool ns_turn_end(ns_team *self, uint32_t index);
/* A thread has made a task, or ended one: behind the last one its turn ends, if it has come to a barrier. */
void ns_turn_task_made(ns_team *self, uint32_t index);
bool ns_turn_task_done(ns_team *self, uint32_t index);

#endif
