/* Measuring the machine at hand: what loads, lines, queues and tasks cost (`numasim-runtime probe`).
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
    bool preempted; /* a member had to leave its processor to others meanwhile: the sample is worth nothing */
} ns_team_outcome;

/* Run body(context, i) on hardware thread cpu[i], for all i < members at once. One member is the calling thread, which
 * stays on cpu[0]. 0, NS_ERROR_THREAD, or NS_ERROR_OPTION for more than NS_TEAM_MOST members. */
int ns_team_run(const uint32_t *cpu, uint32_t members, ns_team_body *body, void *context, ns_team_outcome *outcome);

/* How often the kernel took the processor away from the calling thread for another one. */
long ns_preemptions(void);

/* CLOCK_MONOTONIC. */
double ns_now_ns(void);

/* ---- samples and findings (sampling.c) --------------------------------------------------------------------------- */

/* One thing to measure. */
typedef struct {
    const char *name;
    const char *unit; /* "ns" or "GB/s" */
    int64_t from, to; /* nodes of memory_*, hardware threads of others, by the system's numbers; or NS_PROBE_NOWHERE */
} ns_subject;

typedef struct {
    ns_subject subject;
    ns_estimate estimate;
} ns_finding;

/* One thing that was not, and why. */
typedef struct {
    const char *name;
    const char *why;
} ns_gap;

typedef struct {
    const ns_topology *topology;
    uint32_t wanted; /* samples */
    bool quick;
    bool cores_alone;    /* nothing but the first probe */
    ns_finding *finding; /* [finding_count] */
    ns_gap *gap;         /* [gap_count] */
    uint32_t finding_count, gap_count;
    int error; /* NS_ERROR_MEMORY once findings could not be kept */
} ns_probe;

/* How one thing is sampled: a team runs `body` on hardware threads `cpu`, and a sample is the span divided by
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
    bool wanders;  /* a hypervisor may move hardware threads: samples count where most are, see ns_estimate_together */
    bool switches; /* the kernel's own threads take part on this processor: a sample is worth something nevertheless */
} ns_sampling;

/* Sample it, and note what was found of the subject, or why nothing was. */
void ns_probe_sample(ns_probe *self, const ns_subject *subject, const ns_sampling *sampling);

/* Sample what one thread does by itself, on the first hardware thread, in ns. */
void ns_probe_alone(ns_probe *self, const char *name, const ns_sampling *sampling);

/* Note what was not measured. */
void ns_probe_miss(ns_probe *self, const char *name, const char *why);

/* A hardware thread on another core than `cpu`, an index in the topology; -1 where there is none. */
int64_t ns_probe_other_core(const ns_probe *self, uint32_t cpu);

extern const char *const NS_PROBE_ONE_CORE;

/* The probes, each in a file by what it measures. */
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
