/* numasim-runtime bare independent TASKS|fib N WORKERS NODES: one run of the bare loop, as JSON. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/bare_loop.h"
#include "driver/commands.h"
#include "numasim/runtime.h"

enum { LARGEST_FIB = 40 };

/* A whole number from `least` to `most`, or 0. */
static uint64_t number(const char *word, uint64_t least, uint64_t most) {
    char *end;
    const uint64_t read = strtoull(word, &end, 10);
    return *word >= '0' && *word <= '9' && !*end && least <= read && read <= most ? read : 0;
}

int ns_bare_command(int argc, char **argv) {
    const bool is_fib = argc == 5 && strcmp(argv[1], "fib") == 0;
    const bool is_known = is_fib || (argc == 5 && strcmp(argv[1], "independent") == 0);
    const uint64_t size = is_known ? number(argv[2], 1, is_fib ? LARGEST_FIB : UINT64_C(1) << 40) : 0;
    const uint64_t workers = size ? number(argv[3], 2, NS_BARE_MOST_WORKERS) : 0;
    const uint64_t nodes = workers ? number(argv[4], 1, workers) : 0;
    if (!nodes) {
        fprintf(stderr,
                "numasim-runtime: bare: expected independent TASKS WORKERS NODES or fib N WORKERS NODES, with N from 1 "
                "to %d, 2 to %d workers and 1 to as many nodes\n",
                LARGEST_FIB, NS_BARE_MOST_WORKERS);
        return NS_EXIT_BAD_INPUT;
    }
    ns_bare_result result;
    const int error = is_fib ? ns_bare_fib(&result, (uint32_t)workers, (uint32_t)nodes, (uint32_t)size)
                             : ns_bare_independent(&result, (uint32_t)workers, (uint32_t)nodes, size);
    if (error) {
        fprintf(stderr, "numasim-runtime: bare: %s\n", ns_error_sentence(error));
        return NS_EXIT_BAD_INPUT;
    }
    printf("{\"events\": %" PRIu64 ", \"tasks\": %" PRIu64 ", \"steals\": %" PRIu64 ", \"makespan_ns\": %" PRIu64
           ", \"hash\": %" PRIu64 ", \"took_ps\": %" PRId64 "}\n",
           result.events, result.tasks, result.steals, result.makespan_ns, result.hash, result.took_ps);
    return NS_EXIT_OK;
}
