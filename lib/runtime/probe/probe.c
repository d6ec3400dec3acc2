/* The command `numasim-runtime probe`: run all probes one after the other, and print the findings as JSON. */
#include "probe/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/driver.h"
#include "numasim/runtime.h"

static void (*const PROBE[])(ns_probe *self) = {
    ns_probe_cores,  ns_probe_pause,     ns_probe_yield, ns_probe_memory,     ns_probe_cache,
    ns_probe_faults, ns_probe_migration, ns_probe_lines, ns_probe_contention, ns_probe_wakes,
    ns_probe_fibers, ns_probe_queues,    ns_probe_tasks,
};

static void print_place(FILE *file, const char *name, int64_t place) {
    if (place != NS_PROBE_NOWHERE) fprintf(file, ", \"%s\": %lld", name, (long long)place);
}

static void print_finding(FILE *file, const ns_finding *found) {
    const ns_subject *subject = &found->subject;
    const ns_estimate *estimate = &found->estimate;
    fprintf(file, "{\"name\": \"%s\"", subject->name);
    print_place(file, "from", subject->from);
    print_place(file, "to", subject->to);
    fprintf(file, ", \"unit\": \"%s\", \"median\": %.3f, \"low\": %.3f, \"high\": %.3f, \"samples\": %u", subject->unit,
            estimate->median, estimate->low, estimate->high, estimate->samples);
    fprintf(file, ", \"discarded\": %u}", estimate->discarded);
}

static void print(const ns_probe *self, FILE *file) {
    fprintf(file, "{\"format\": \"numasim probe 1\", \"quick\": %s, \"findings\": [", self->quick ? "true" : "false");
    const ns_finding *findings = self->findings.entries;
    for (uint64_t at = 0; at < self->findings.count; at++) {
        fputs(at ? ",\n " : "\n ", file);
        print_finding(file, &findings[at]);
    }
    fputs("], \"missing\": [", file);
    const ns_gap *gaps = self->gaps.entries;
    for (uint64_t at = 0; at < self->gaps.count; at++) {
        fputs(at ? ",\n " : "\n ", file);
        fprintf(file, "{\"name\": \"%s\", \"why\": \"%s\"}", gaps[at].name, gaps[at].why);
    }
    fputs("]}\n", file);
}

static int parse(ns_probe *self, int argc, char **argv) {
    for (int at = 1; at < argc; at++) {
        if (strcmp(argv[at], "--quick") == 0) {
            self->quick = true;
        } else if (strcmp(argv[at], "--cores") == 0) {
            self->cores_alone = true;
        } else if (strcmp(argv[at], "--json") != 0) { /* without effect: the output is always JSON */
            return ns_refuse("probe: %s is no option here; expected --quick or --cores", argv[at]);
        }
    }
    self->wanted = self->quick ? NS_PROBE_QUICK_SAMPLES : NS_PROBE_SAMPLES;
    return NS_EXIT_OK;
}

int ns_probe_command(int argc, char **argv) {
    ns_topology topology;
    ns_probe self = {.topology = &topology};
    const int status = parse(&self, argc, argv);
    if (status) return status;
    int error = ns_topology_detect(&topology);
    const size_t count = self.cores_alone ? 1 : sizeof PROBE / sizeof *PROBE;
    for (size_t at = 0; !error && at < count; at++) PROBE[at](&self);
    if (!error) error = self.error;
    if (error) {
        ns_refuse("probe: %s", ns_error_sentence(error));
    } else {
        print(&self, stdout);
    }
    free(self.findings.entries);
    free(self.gaps.entries);
    ns_topology_destroy(&topology);
    return error ? NS_EXIT_BAD_INPUT : NS_EXIT_OK;
}
