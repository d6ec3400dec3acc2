/* Measurements of this machine: the costs of loads, cache lines, queues and tasks (`numasim-runtime probe`).
 *
 * Every figure is the median of repeated samples, with a confidence interval. A sample is discarded, and the discarded
 * samples are counted, if the operating system took a processor away from a measuring thread during the sample. Each
 * quantity that cannot be measured is listed with the reason. */
#pragma once

#include <stdbool.h>

#include "numasim/topology.h"
#include "platform/ticks.h"
#include "record/growing.h"

enum {
    NS_PROBE_SAMPLES = 51, /* samples wanted for each figure */
    NS_PROBE_QUICK_SAMPLES = 21,
    NS_PROBE_NOWHERE = -1,
    NS_PROBE_WORTHLESS = -1 /* the value of a sample that was disturbed */
};

/* ---- estimates from repeated measurements: the median, and a confidence interval for the true median (estimate.c)  */

enum { NS_FEWEST_SAMPLES = 6 }; /* with fewer samples no interval reaches 95 % confidence */

typedef struct {
    double median, low, high; /* the interval from low to high covers the true median with at least 95 % */
    uint32_t samples, discarded;
} ns_estimate;

/* Estimate the median from `count` samples. The function sorts `sample`. The ends of the interval are two order
 * statistics: the number of samples below the true median has a binomial distribution, whatever the distribution of the
 * samples. With fewer than NS_FEWEST_SAMPLES samples the interval is from the least sample to the largest. */
ns_estimate ns_estimate_of(double *sample, uint32_t count, uint32_t discarded);

/* Find the largest group of samples in which no sample is more than twice another sample. Move the group, sorted, to
 * the front. Return the size of the group. Of several largest groups, take the group with the least samples. */
uint32_t ns_estimate_together(double *sample, uint32_t count);

/* Return the number of samples that the interval leaves out at either end: the largest t with P[B(count, 1/2) <= t] <=
 * 2.5 %. The reason: sample[t] lies above the true median only if at most t samples lie below the true median. */
uint32_t ns_estimate_trim(uint32_t count);

/* ---- threads that start together, each on a hardware thread of its own (team.c) ---------------------------------- */

enum { NS_TEAM_MOST = 1024 };

typedef void ns_team_body(void *context, uint32_t member);

typedef struct {
    double span_ns; /* time from the first start to the last end */
    bool preempted; /* whether the kernel took a member's processor away meanwhile: the sample is then useless */
} ns_team_outcome;

/* Run body(context, i) on hardware thread cpu[i] for all i < members at once. One member is the calling thread, which
 * stays on cpu[0]. Return 0, NS_ERROR_THREAD, or NS_ERROR_OPTION for more than NS_TEAM_MOST members. */
int ns_team_run(const uint32_t *cpu, uint32_t members, ns_team_body *body, void *context, ns_team_outcome *outcome);

/* Write one hardware thread of each core of a node, or of all nodes if `node` is NS_ANY_NODE, to `cpu` [NS_TEAM_MOST].
 * Return the number of threads. */
#define NS_ANY_NODE UINT32_MAX
uint32_t ns_team_of_cores(const ns_topology *topology, uint32_t node, uint32_t *cpu);

/* Return how often the kernel has taken the processor away from the calling thread for another thread. */
long ns_preemptions(void);

/* Return the time of CLOCK_MONOTONIC in nanoseconds. */
static inline double ns_now_ns(void) { return (double)ns_monotonic_ps() / 1000; }

/* ---- samples and findings (sampling.c) --------------------------------------------------------------------------- */

/* A measured quantity: its name and place. */
typedef struct {
    const char *name;
    const char *unit; /* "ns" or "GB/s" */
    int64_t from, to; /* nodes for memory_*, hardware threads for other names, by the system's numbers; or
                         NS_PROBE_NOWHERE */
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
    uint32_t wanted; /* number of samples wanted */
    bool quick;
    bool cores_alone;    /* whether only the probe of cores runs */
    ns_growing findings; /* ns_finding */
    ns_growing gaps;     /* ns_gap */
    int error;           /* NS_ERROR_MEMORY if memory was too short to keep a finding */
} ns_probe;

/* How a quantity is sampled. A team runs `body` on the hardware threads `cpu`. A sample is the span divided by
 * `operations`; or, if `value` is given, the number that `value` returns after the run. `prepare` runs before each run,
 * untimed. */
typedef struct {
    const uint32_t *cpu;
    uint32_t members;
    ns_team_body *body;
    void *context;
    double operations;
    void (*prepare)(void *context);
    double (*value)(const void *context, double span_ns);
    bool wanders;  /* the quantity changes if a hypervisor moves hardware threads: only the largest group of similar
                      samples counts (ns_estimate_together) */
    bool switches; /* the kernel's own threads preempt the thread to do the work: samples with preemptions count, too */
} ns_sampling;

/* Sample a quantity. Add a finding for the subject, or a gap with the reason for the missing finding. */
void ns_probe_sample(ns_probe *self, const ns_subject *subject, const ns_sampling *sampling);

/* Sample the work of a single thread on the first hardware thread, in ns. */
void ns_probe_alone(ns_probe *self, const char *name, const ns_sampling *sampling);

/* Sample the work of a team with a hardware thread of each core, in ns. `sampling->operations` counts the operations of
 * one member. Add a gap if there is one core only. */
void ns_probe_all_cores(ns_probe *self, const char *name, const ns_sampling *sampling);

/* Add a gap: a quantity that was not measured, and the reason. */
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
void ns_probe_contention(ns_probe *self);
void ns_probe_yield(ns_probe *self);
void ns_probe_wakes(ns_probe *self);
void ns_probe_fibers(ns_probe *self);
void ns_probe_queues(ns_probe *self);
void ns_probe_tasks(ns_probe *self);
