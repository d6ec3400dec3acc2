/* A compiled strategy as an executor reads it: the tables of numasim/strategy/steal_plan.py, in memory as there.
 * `ns_plan`, its records and its enumerations are generated from numasim/schema.
 *
 * Level records come steal levels first, then dispatch rules. `row[level.row + anchor] .. row[level.row + anchor + 1]`
 * are the segments of an anchor, with NS_FLAG_HEADS behind a row for each worker; a group is `level.segments`
 * consecutive segments; segment s holds `queue[seg[s]]` to `queue[seg[s + 1] - 1]`. The plan is never written to; all
 * that changes lives in `ns_actor` and `ns_round`.
 *
 * Nothing here is checked again: pointers ascend, ids are in bounds, a row is made of whole groups, amounts and samples
 * are at least one, and a worker's own queue is nobody else's and names it as its `owner`.
 */
#ifndef NUMASIM_POLICY_PLAN_H
#define NUMASIM_POLICY_PLAN_H

#include "generated/plan_structs.h"

#endif
