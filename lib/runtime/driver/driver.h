/* The parts of the program numasim-runtime: exit statuses, commands, options, runs of kernels, and output. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "api/report.h"
#include "kernels/kernel.h"

/* Exit statuses. NS_EXIT_PIPE_CLOSED is the status that a shell reports for a program ended by SIGPIPE: 128 + 13. */
enum ns_exit {
    NS_EXIT_OK = 0,
    NS_EXIT_WRONG = 1,
    NS_EXIT_BAD_INPUT = 2,
    NS_EXIT_PIPE_CLOSED = 141,
};

/* Write a sentence, formatted as by printf, behind the name of the program to the standard error. Return
 * NS_EXIT_BAD_INPUT. */
int ns_refuse(const char *sentence, ...) __attribute__((format(printf, 1, 2)));

/* The commands other than running kernels. argv[0] is the name of the command. Each returns the exit status. */
int ns_plan_command(int argc, char **argv);
int ns_topology_command(int argc, char **argv);
int ns_probe_command(int argc, char **argv);

/* ---- options.c: the options of `numasim-runtime --kernel NAME ...`, and the values of a kernel's parameters ------ */

enum { NS_MOST_PARAMETERS = 16, NS_PROBLEM_BYTES = 1280 };

typedef struct {
    const ns_kernel *kernel;
    ns_value values[NS_MOST_PARAMETERS]; /* in the order of the kernel's parameters */
    ns_pool_options pool;
    int64_t repeats; /* 0: one run, without --repeat */
    bool json, verify, rehearse, warm_up, list, help;
} ns_options;

/* The names of the modes and of the costs, indexed by their numbers and ended by NULL. */
extern const char *const NS_MODE_NAMES[];
extern const char *const NS_COSTS_NAMES[];

/* Read the arguments into `self`, which already has the defaults. Return false, with a sentence for the user in
 * `problem` [NS_PROBLEM_BYTES], if an argument is bad. */
bool ns_options_read(ns_options *self, int count, char **arguments, char *problem);

/* Return the index of `name` in `names`, which ends with NULL, or -1. `*nearest` is set to the most similar name. */
int ns_names_find(const char *const *names, const char *name, const char **nearest);

/* Print a value as JSON: a number, or text. */
void ns_value_write(const ns_parameter *parameter, int64_t value);

/* ---- run.c: one run of a kernel, with a new pool, a new state and a serial twin for comparison ------------------- */

typedef struct {
    uint64_t seed;
    bool verified,
        correct;          /* the result was compared with the twin's, and equals it; correct is true if not verified */
    int64_t serial_ps;    /* the time of the serial twin, if the run was verified */
    int64_t rehearsed_ps; /* the time of a rehearsal just before the run; 0 without a rehearsal */
    int64_t hop_ps[3];    /* native runs: mean time to move a cache line from a worker to the next, measured before the
                             rehearsal, before the run and after the run; else 0 */
    uint32_t workers;
    ns_report report;
} ns_outcome;

/* Run a kernel. Return 0, or a negative error code with a sentence for the user in `problem` [NS_PROBLEM_BYTES]. */
int ns_run_kernel(ns_outcome *outcome, const ns_options *options, uint64_t seed, char *problem);

/* Run a kernel on threads after a rehearsal. The rehearsal measures the serial time of the program on the hardware
 * threads of its workers.
 *
 * In a rehearsal each worker runs a serial copy of the program, with a state of its own, and all copies run at once:
 * hardware threads slow each other down by shared cores, caches, memory and clocks, which a serial run alone cannot
 * measure. The time of a program also depends on the order of its tasks. If workers take the newest task from their own
 * deque, the copy of the first worker does the same. The copies of the other workers begin with the oldest tasks if
 * thieves take the oldest tasks. */
int ns_run_rehearsed(ns_outcome *outcome, const ns_options *options, uint64_t seed, char *problem);

void ns_outcome_destroy(ns_outcome *self);

/* ---- output.c: kernels and outcomes on standard output, as JSON and as tables for people ------------------------- */

void ns_output_kernels(bool json);

/* Print `count` outcomes of the same kernel. Without --repeat the JSON object is the outcome itself; with --repeat the
 * JSON object has a list of outcomes, "runs". */
void ns_output_outcomes(const ns_options *options, const ns_outcome *outcomes, int64_t count);
