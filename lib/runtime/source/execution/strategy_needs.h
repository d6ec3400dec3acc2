/* What a strategy asks of a pool of threads: which state of queues it reads, and how its tasks can be executed. */
#ifndef NS_STRATEGY_NEEDS_H
#define NS_STRATEGY_NEEDS_H

#include "execution/execution.h"
#include "plan_tables.h"

/* Whether the watch bits of queues are read, or their thresholds. */
bool ns_reads_watches(const ns_plan_tables *tables);

/* Whether the bits of all watches follow from the lengths that queues have now, without a note of what was before. */
bool ns_watches_follow_from_lengths(const ns_plan_tables *tables);

/* Whether all new tasks of a worker go to its own queue, which takes them. */
bool ns_dispatches_to_own(const ns_plan *plan);

/* Whether rules of dispatch leave copies of tasks. */
bool ns_leaves_copies(const ns_plan *plan);

/* Whether levels choose the longest or the shortest queue. */
bool ns_picks_by_length(const ns_plan *plan);

/* Whether levels begin at who has spawned what a worker executed last. */
bool ns_asks_for_parents(const ns_plan *plan);

/* The way to execute tasks: on lanes wherever that does, which have no notes, on fibers only where tasks go on
 * elsewhere. */
const ns_thread_execution *ns_execution_of_strategy(const ns_plan_tables *tables, bool notes);

#endif
