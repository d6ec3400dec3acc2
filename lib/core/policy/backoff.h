/* How long a worker waits after fruitless rounds (thesis section 3.3.1; A-30), and how full queues overflow. */
#ifndef NUMASIM_POLICY_BACKOFF_H
#define NUMASIM_POLICY_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#include "generated/plan_structs.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NS_LONGEST_WAIT_PS (INT64_C(1) << 52)

/* The wait after the `fails`-th fruitless round in a row; `probed`: whether the round probed any queue. */
int64_t ns_backoff_wait_ps(const ns_backoff *self, int64_t fails, bool probed);

/* Whether spawns are executed at once: from a full queue on, until it has fallen below `resume_ppm` of its capacity. */
bool ns_overflows(bool overflowed, int64_t length, int64_t capacity, int64_t resume_ppm);

#ifdef __cplusplus
}
#endif

#endif
