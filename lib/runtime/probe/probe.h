/* Measuring this machine: the costs of loads, cache lines, queues and tasks (`numasim-runtime probe`).
 *
 * Every figure is the median of repeated samples with its interval. A sample during which the kernel took a processor
 * away from a measuring thread is discarded and counted, by rule; nothing else is. What cannot be measured is listed
 * with the reason.
 */
#ifndef NS_PROBE_H
#define NS_PROBE_H

#include <stdbool.h>

#include "numasim/topology.h"
#include "probe/estimate.h"

enum {
    NS_PROBE_SAMPLES = 51, /* that are wanted of each figure */
    NS_PROBE_QUICK_SAMPLES = 21,
    NS_PROBE_NOWHERE = -1,
    NS_PROBE_WORTHLESS = -1 /* the value of a sample that was disturbed */
};

/* ---- threads that start together, each on a hardware thread of its own (team.c) ------------------------------------
 */

enum { NS_TEAM_MOST = 1024 };

typedef void ns_team_body(void *context, uint32_t member);

typedef struct {
    double span_ns; /* from the first start to the last end */
    bool preempted; /* whether the kernel took the processor of a member away meanwhile: the sample is worth nothing */
} ns_team_outcome;

/* Run body(context, i) on hardware thread cpu[i], for all i < members at once. One member is the calling thread, which
 * stays on cpu[0]. 0, NS_ERROR_THREAD, or NS_ERROR_OPTION for more than NS_TEAM_MOST members. */
int ns_team_run(const uint32_t *cpu, uint32_t members, ns_team_body *body, void *context, ns_team_outcome *outcome);

/* Return how often the kernel has taken the processor away from the calling thread for another thread. */
long ns_preemptions(void);

/* Return the time of CLOCK_MONOTONIC in nanoseconds. */
double ns_now_ns(void);

/* ---- samples and findings (sampling.c) --------------------------------------------------------------------------- */

/* The name of a quantity to measure, with its place. */
typedef struct {
    const char *name;
    const char *unit; /* "ns" or "GB/s" */
    int64_t from, to; /* nodes of memory_*, hardware threads of others, by the system's numbers; or NS_PROBE_NOWHERE */
} ns_subject;

typedef struct {
    ns_subject subject;
    ns_estimate estimate;
} ns_finding;

/* A quantity that was not measured, and the reason. */
typedef struct {
    const char *name;
    const char *why;
} ns_gap;

typedef struct {
    const ns_topology *topology;
    uint32_t wanted; /* samples */
    bool quick;
    bool cores_alone;    /* whether only the first probe runs */
    ns_finding *finding; /* [finding_count] */
    ns_gap *gap;         /* [gap_count] */
    uint32_t finding_count, gap_count;
    int error; /* NS_ERROR_MEMORY after a finding could not be kept for lack of memory */
} ns_probe;

/* How a quantity is sampled: a team runs `body` on hardware threads `cpu`, and a sample is the span divided by
 * `operations`; or, where `value` is given, what that returns after the run. `prepare` goes before each run, untimed.
 */
typedef struct {
    const uint32_t *cpu;
    uint32_t members;
    ns_team_body *body;
    void *context;
    double operations;
    void (*prepare)(void *context);
    double (*value)(const void *context, double span_ns);
    bool wanders;  /* a hypervisor may move hardware threads: only the largest group of near samples counts (estimate.h)
                    */
    bool switches; /* the kernel's own threads work on this processor: samples with preemptions count as well */
} ns_sampling;

/* Sample a quantity. Keeps a finding of the subject, or a gap with the reason why there is none. */
void ns_probe_sample(ns_probe *self, const ns_subject *subject, const ns_sampling *sampling);

/* Sample what a single thread does on the first hardware thread, in ns. */
void ns_probe_alone(ns_probe *self, const char *name, const ns_sampling *sampling);

/* Keep a gap: a quantity that was not measured, and the reason. */
void ns_probe_miss(ns_probe *self, const char *name, const char *why);

extern const char *const NS_PROBE_ONE_CORE;

/* The probes. */
void ns_probe_cores(ns_probe *self);
void ns_probe_pause(ns_probe *self);
void ns_probe_memory(ns_probe *self);
void ns_probe_cache(ns_probe *self);
void ns_probe_faults(ns_probe *self);
void ns_probe_migration(ns_probe *self);
void ns_probe_lines(ns_probe *self);
void ns_probe_wakes(ns_probe *self);
void ns_probe_fibers(ns_probe *self);
void ns_probe_queues(ns_probe *self);
void ns_probe_tasks(ns_probe *self);

#endif
