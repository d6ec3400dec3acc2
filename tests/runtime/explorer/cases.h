/* Tables of cases by subject; each table ends with a case without a name. */
#ifndef NS_EXPLORER_CASES_H
#define NS_EXPLORER_CASES_H

#include "explore.h"

extern const ns_explore_case NS_LITMUS_CASES[], NS_DEQUE_CASES[], NS_LANE_CASES[], NS_LOCK_CASES[],
    NS_CONDITION_CASES[], NS_BARRIER_CASES[], NS_DEPENDENT_CASES[];

#endif
