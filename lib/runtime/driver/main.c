/* The program numasim-runtime: run a kernel, or the command that the first argument names. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "driver/commands.h"
#include "driver/output.h"
#include "policy/draws.h"

enum { PROBLEM_BYTES = 1280, MAPPED_BYTES = 128 * 1024 };

static const char USAGE[] =
    "numasim-runtime --kernel NAME [--set PARAMETER=VALUE]...\n"
    "    [--mode serial|native|emulated|virtual|turns|paced] [--workers N] [--plan FILE] [--costs model|measured]\n"
    "    [--seed N] [--record FILE] [--repeat N] [--rehearse] [--warm-up] [--no-verify] [--json]\n"
    "numasim-runtime --list [--json]\n"
    "numasim-runtime topology [--root DIR] [--binding]\n"
    "numasim-runtime probe [--quick] [--cores]\n"
    "numasim-runtime [--cflags] [--libs] [--cmake-dir]\n"
    "\n"
    "Runs a kernel and compares its result with that of its serial twin. --record writes the task graph of a serial\n"
    "run. --repeat does N runs, each with a seed drawn from --seed. --rehearse times, before each run on threads,\n"
    "serial copies of the program on all workers at once: what it takes where hardware threads take speed from each\n"
    "other. --warm-up goes through the first run once before, unseen. In mode emulated, memory is on the node that\n"
    "touched it first, whatever placement the plan's strategy has. In modes turns and paced the code of threads runs\n"
    "one worker at a time: --seed draws who is next, or in mode paced the clocks of the plan's costs say it. topology says what the running system is made of,\n"
    "or the one whose sysfs was copied to DIR, or whether what is bound to nodes is found there; probe measures it,\n"
    "with --cores how fast its cores compute and nothing else.\n"
    "--cflags, --libs and --cmake-dir say what compilers and CMake need to build programs against the library that is\n"
    "installed with the Python package: cc fib.c $(numasim-runtime --cflags --libs).\n"
    "Status 0: correct, 1: wrong, 2: bad input, or what cannot be written; 141: nobody reads the output.\n";

static int refuse(const char *problem) {
    fprintf(stderr, "numasim-runtime: %s\n", problem);
    return NS_EXIT_BAD_INPUT;
}

/* Return the seed of a repeat, by the rule of the simulator's sweeps (numasim/draws.py: repeat_seed). With the seed 0
 * every run takes the seed from the plan's file. */
static uint64_t seed_of(const ns_options *options, int64_t run) {
    const uint64_t seed = options->pool.seed;
    return options->repeats && seed ? ns_draw(seed, (uint64_t)run) : seed;
}

static int run_one(ns_outcome *outcome, const ns_options *options, uint64_t seed, char *problem, size_t bytes) {
    return (options->rehearse ? ns_run_rehearsed : ns_run_kernel)(outcome, options, seed, problem, bytes);
}

/* Run the kernel once without a report, so that caches are warm and idle processors have raised their clocks. */
static int warm_up(const ns_options *options, uint64_t seed, char *problem, size_t bytes) {
    ns_options unverified = *options;
    ns_outcome outcome;
    unverified.verify = false;
    const int error = run_one(&outcome, &unverified, seed, problem, bytes);
    if (!error) ns_outcome_destroy(&outcome);
    return error;
}

static int run_all(const ns_options *options) {
    const int64_t runs = options->repeats ? options->repeats : 1;
    char problem[PROBLEM_BYTES] = "";
    ns_outcome *outcomes = calloc((size_t)runs, sizeof *outcomes);
    if (!outcomes) return refuse(ns_error_sentence(NS_ERROR_MEMORY));
    int status = NS_EXIT_OK;
    int64_t done = 0;
    if (options->warm_up && warm_up(options, seed_of(options, 0), problem, sizeof problem)) status = refuse(problem);
    for (; done < runs && status != NS_EXIT_BAD_INPUT; done++) {
        const int error = run_one(&outcomes[done], options, seed_of(options, done), problem, sizeof problem);
        if (error) {
            status = refuse(problem);
        } else if (!outcomes[done].correct) {
            status = NS_EXIT_WRONG;
        }
    }
    if (status != NS_EXIT_BAD_INPUT) ns_output_outcomes(stdout, options, outcomes, runs);
    for (int64_t run = 0; run < runs; run++) ns_outcome_destroy(&outcomes[run]);
    free(outcomes);
    return status;
}

static int run_kernels(int count, char **arguments) {
    ns_options options = {.pool = {.mode = NS_MODE_NATIVE}, .verify = true};
    char problem[PROBLEM_BYTES];
    if (!ns_options_read(&options, count, arguments, problem, sizeof problem)) return refuse(problem);
    if (options.help) {
        fputs(USAGE, stdout);
    } else if (options.list) {
        ns_output_kernels(stdout, options.json);
    } else {
        return run_all(&options);
    }
    return NS_EXIT_OK;
}

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} COMMAND[] = {{"plan", ns_plan_command}, {"topology", ns_topology_command}, {"probe", ns_probe_command}};
enum { COMMANDS = sizeof COMMAND / sizeof *COMMAND };

static int run_command(int count, char **arguments) {
    const char *names[COMMANDS + 1] = {NULL}, *nearest;
    char problem[PROBLEM_BYTES];
    for (int at = 0; at < COMMANDS; at++) names[at] = COMMAND[at].name;
    const int found = ns_names_find(names, arguments[1], &nearest);
    if (found >= 0) return COMMAND[found].run(count - 1, arguments + 1);
    snprintf(problem, sizeof problem, "there is no command '%s'; the nearest is %s", arguments[1], nearest);
    return refuse(problem);
}

/* Make glibc return freed memory to the system, so that every run in this process finds untouched pages, as the first
 * run does.
 */
static void keep_no_memory(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
#endif
}

int main(int count, char **arguments) {
    keep_no_memory();
    signal(SIGXFSZ, SIG_IGN); /* writing beyond the limit of file sizes is then an error, as on a full disk */
    if (!ns_standard_streams_open()) return NS_EXIT_BAD_INPUT;
    if (count < 2) {
        fputs(USAGE, stderr);
        return NS_EXIT_BAD_INPUT;
    }
    const bool is_option = *arguments[1] == '-';
    return ns_standard_output_close(is_option ? run_kernels(count - 1, arguments + 1) : run_command(count, arguments));
}
