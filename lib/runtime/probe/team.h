/* Threads that start together, each on a hardware thread of its own, and what one sample of theirs took. */
#ifndef NS_TEAM_H
#define NS_TEAM_H

#include <stdbool.h>
#include <stdint.h>

enum { NS_TEAM_MOST = 1024 };

typedef void ns_team_body(void *context, uint32_t member);

typedef struct {
    double span_ns; /* from the first start to the last end */
    bool preempted; /* a member had to leave its processor to others meanwhile: the sample is worth nothing */
} ns_team_outcome;

/* Run body(context, i) on hardware thread cpu[i], for all i < members at once. One member is the calling thread, which
 * stays on cpu[0]. 0, NS_ERROR_THREAD, or NS_ERROR_OPTION for more than NS_TEAM_MOST members. */
int ns_team_run(const uint32_t *cpu, uint32_t members, ns_team_body *body, void *context, ns_team_outcome *outcome);

/* How often the kernel took the processor away from the calling thread for another one. */
long ns_preemptions(void);

/* CLOCK_MONOTONIC. */
double ns_now_ns(void);

#endif
