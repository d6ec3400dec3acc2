/* The program numasim-runtime: run a kernel, or the command that the first argument names. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "driver/driver.h"
#include "policy/draws.h"

enum { MAPPED_BYTES = 128 * 1024 };

static const char USAGE[] =
    "numasim-runtime --kernel NAME [--set PARAMETER=VALUE]...\n"
    "    [--mode serial|native|emulated|virtual|turns|paced] [--workers N] [--plan FILE] [--costs model|measured]\n"
    "    [--seed N] [--record FILE] [--repeat N] [--rehearse] [--warm-up] [--no-verify] [--json]\n"
    "numasim-runtime --list [--json]\n"
    "numasim-runtime plan FILE [--mode native|emulated|virtual|turns|paced] [--seed N]\n"
    "numasim-runtime topology [--root DIR] [--binding]\n"
    "numasim-runtime probe [--quick] [--cores]\n"
    "numasim-runtime [--cflags] [--libs] [--cmake-dir]\n"
    "\n"
    "Runs a kernel and compares the result with the result of a serial twin. --record writes the task graph of a\n"
    "serial run. --repeat does N runs, each with a seed drawn from --seed. --rehearse times serial copies of the\n"
    "program on all workers at once, before each run on threads. --warm-up runs the program once in advance, without\n"
    "a report. In mode emulated, memory is on the node that touched it first, whatever placement the plan's strategy\n"
    "has. In modes turns and paced, the code of threads runs one worker at a time: --seed draws the next worker, or "
    "in\n"
    "mode paced the next worker is the one with the earliest clock, which the costs of the plan advance. plan runs "
    "the\n"
    "task graph of a compiled plan. topology prints the topology of the running system, or of a system whose sysfs "
    "was\n"
    "copied to DIR; with --binding it checks that bound threads and memory are on their nodes. probe measures the\n"
    "running system; with --cores it measures only how fast the cores compute. --cflags, --libs and --cmake-dir print\n"
    "what compilers and CMake need to build programs against the library that is installed with the Python package:\n"
    "cc fib.c $(numasim-runtime --cflags --libs).\n"
    "Exit status 0: the result is correct, 1: the result is wrong, 2: bad input, or output that cannot be written,\n"
    "141: the reader of the output has closed the pipe.\n";

int ns_refuse(const char *sentence, ...) {
    va_list arguments;
    va_start(arguments, sentence);
    fputs("numasim-runtime: ", stderr);
    vfprintf(stderr, sentence, arguments);
    fputs("\n", stderr);
    va_end(arguments);
    return NS_EXIT_BAD_INPUT;
}

/* Return the seed of run number `run`: with --repeat a number drawn from --seed, by the rule of the simulator's sweeps
 * (numasim/draws.py: repeat_seed); else --seed. With 0, every run takes the seed from the plan's file. */
static uint64_t seed_of(const ns_options *options, int64_t run) {
    const uint64_t seed = options->pool.seed;
    return options->repeats && seed ? ns_draw(seed, (uint64_t)run) : seed;
}

static int run_one(ns_outcome *outcome, const ns_options *options, uint64_t seed, char *problem) {
    return (options->rehearse ? ns_run_rehearsed : ns_run_kernel)(outcome, options, seed, problem);
}

/* Run the kernel once without a report, so that caches are warm and idle processors have raised their clocks. */
static int warm_up(const ns_options *options, uint64_t seed, char *problem) {
    ns_options unverified = *options;
    ns_outcome outcome;
    unverified.verify = false;
    const int error = run_one(&outcome, &unverified, seed, problem);
    if (!error) ns_outcome_destroy(&outcome);
    return error;
}

static int run_all(const ns_options *options) {
    const int64_t runs = options->repeats ? options->repeats : 1;
    char problem[NS_PROBLEM_BYTES] = "";
    ns_outcome *outcomes = calloc((size_t)runs, sizeof *outcomes);
    if (!outcomes) return ns_refuse("%s", ns_error_sentence(NS_ERROR_MEMORY));
    int status = NS_EXIT_OK;
    int64_t done = 0;
    if (options->warm_up && warm_up(options, seed_of(options, 0), problem)) status = ns_refuse("%s", problem);
    for (; done < runs && status != NS_EXIT_BAD_INPUT; done++) {
        const int error = run_one(&outcomes[done], options, seed_of(options, done), problem);
        if (error) {
            status = ns_refuse("%s", problem);
        } else if (!outcomes[done].correct) {
            status = NS_EXIT_WRONG;
        }
    }
    if (status != NS_EXIT_BAD_INPUT) ns_output_outcomes(options, outcomes, runs);
    for (int64_t run = 0; run < runs; run++) ns_outcome_destroy(&outcomes[run]);
    free(outcomes);
    return status;
}

static int run_kernels(int count, char **arguments) {
    ns_options options = {.pool = {.mode = NS_MODE_NATIVE}, .verify = true};
    char problem[NS_PROBLEM_BYTES];
    if (!ns_options_read(&options, count, arguments, problem)) return ns_refuse("%s", problem);
    if (options.help) {
        fputs(USAGE, stdout);
    } else if (options.list) {
        ns_output_kernels(options.json);
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
    for (int at = 0; at < COMMANDS; at++) names[at] = COMMAND[at].name;
    const int found = ns_names_find(names, arguments[1], &nearest);
    if (found >= 0) return COMMAND[found].run(count - 1, arguments + 1);
    return ns_refuse("there is no command '%s'; the nearest is %s", arguments[1], nearest);
}

/* ---- standard streams, by the rules of numasim/files/standard_streams.py ----------------------------------------- */

#define WRITABLE "expected a terminal, a pipe, a file on a disk with free space, or /dev/null"

/* Open each closed standard stream. (Otherwise the next opened file would get the number of the closed stream, and the
 * stream's text would go into the file.) Return false, with a sentence on standard error, if standard output was
 * closed. */
static bool open_standard_streams(void) {
    const bool is_open = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++) {
        if (fcntl(number, F_GETFD) < 0 && open("/dev/null", O_RDWR) != number) return false;
    }
    if (!is_open) ns_refuse("standard output is closed; " WRITABLE);
    return is_open;
}

/* Write the buffered rest of standard output. Return the status to exit with: `status`; NS_EXIT_PIPE_CLOSED if nobody
 * reads the output any more; or NS_EXIT_BAD_INPUT, with a sentence, if the output cannot be written. */
static int close_standard_output(int status) {
    const int error = fflush(stdout) ? errno : ferror(stdout) ? EIO : 0;
    if (!error) return status;
    if (error == EPIPE) return NS_EXIT_PIPE_CLOSED;
    return ns_refuse("standard output cannot be written (%s); " WRITABLE, strerror(error));
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

int main(int count, char **arguments) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES); /* freed memory goes back to the system: every run finds untouched pages */
#endif
    signal(SIGXFSZ, SIG_IGN); /* writing beyond the limit of file sizes is then an error, as on a full disk */
    if (!open_standard_streams()) return NS_EXIT_BAD_INPUT;
    if (count < 2) {
        fputs(USAGE, stderr);
        return NS_EXIT_BAD_INPUT;
    }
    const bool is_option = *arguments[1] == '-';
    return close_standard_output(is_option ? run_kernels(count - 1, arguments + 1) : run_command(count, arguments));
}
