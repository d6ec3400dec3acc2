/* Samples are taken here, and findings and gaps are kept. */
#include "numasim/runtime.h"
#include "probe/probe.h"

enum { TRIES = 8 }; /* most runs per wanted sample */

const char *const NS_PROBE_ONE_CORE = "there is one core only";

void ns_probe_miss(ns_probe *self, const char *name, const char *why) {
    ns_gap *made = ns_growing_add(&self->gaps, sizeof *made);
    if (made) *made = (ns_gap){name, why};
    if (!made) self->error = NS_ERROR_MEMORY;
}

/* ---- sampling ---------------------------------------------------------------------------------------------------- */

static int take(const ns_sampling *sampling, double *sample, bool *preempted) {
    ns_team_outcome outcome;
    if (sampling->prepare) sampling->prepare(sampling->context);
    const int error = ns_team_run(sampling->cpu, sampling->members, sampling->body, sampling->context, &outcome);
    if (error) return error;
    *sample =
        sampling->value ? sampling->value(sampling->context, outcome.span_ns) : outcome.span_ns / sampling->operations;
    *preempted = (outcome.preempted && !sampling->switches) || *sample < 0;
    return NS_OK;
}

/* Take samples until enough of them count. `*taken` receives the number of all samples. Return the number of samples
 * that count, which are at the front of `sample`, or a negative error code. */
static int take_enough(const ns_probe *self, const ns_sampling *sampling, double *sample, uint32_t *taken) {
    uint32_t count = 0, worth = 0;
    bool preempted;
    int error = take(sampling, &sample[0], &preempted); /* not counted: fills caches and trains branch predictors */
    for (*taken = 0; !error && worth < self->wanted && *taken < TRIES * self->wanted; (*taken)++) {
        error = take(sampling, &sample[count], &preempted);
        count += !preempted;
        worth = sampling->wanders ? ns_estimate_together(sample, count) : count;
    }
    return error ? error : (int)worth;
}

void ns_probe_sample(ns_probe *self, const ns_subject *subject, const ns_sampling *sampling) {
    double sample[TRIES * NS_PROBE_SAMPLES];
    uint32_t taken;
    const int worth = take_enough(self, sampling, sample, &taken);
    if (worth < 0) {
        ns_probe_miss(self, subject->name, ns_error_sentence(worth));
    } else if (worth < NS_FEWEST_SAMPLES) {
        ns_probe_miss(self, subject->name, "nearly every sample was disturbed");
    } else {
        const uint32_t count = (uint32_t)worth;
        ns_finding *made = ns_growing_add(&self->findings, sizeof *made);
        if (made) *made = (ns_finding){*subject, ns_estimate_of(sample, count, taken - count)};
        if (!made) self->error = NS_ERROR_MEMORY;
    }
}

void ns_probe_alone(ns_probe *self, const char *name, const ns_sampling *sampling) {
    const ns_subject subject = {name, "ns", NS_PROBE_NOWHERE, NS_PROBE_NOWHERE};
    ns_sampling alone = *sampling;
    alone.cpu = &self->topology->cpu[0].id;
    alone.members = 1;
    ns_probe_sample(self, &subject, &alone);
}

void ns_probe_all_cores(ns_probe *self, const char *name, const ns_sampling *sampling) {
    const ns_subject subject = {name, "ns", NS_PROBE_NOWHERE, NS_PROBE_NOWHERE};
    uint32_t cpu[NS_TEAM_MOST];
    ns_sampling together = *sampling;
    together.cpu = cpu;
    together.members = ns_team_of_cores(self->topology, NS_ANY_NODE, cpu);
    together.operations *= together.members;
    if (together.members > 1) {
        ns_probe_sample(self, &subject, &together);
    } else {
        ns_probe_miss(self, name, NS_PROBE_ONE_CORE);
    }
}
