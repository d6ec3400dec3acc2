/* The command `numasim-runtime topology [--root DIR] [--binding]`: print the topology of the running system, or of the
 * system whose sysfs was copied to DIR. With --binding, check that bound threads and memory are on the requested
 * processors and nodes. */
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/driver.h"
#include "numasim/runtime.h"
#include "numasim/topology.h"

enum { PAGES = 16, PAGE_BYTES = 4096 };

typedef struct {
    const char *root; /* NULL: the running system */
    bool binding;
} options;

static int parse(options *self, int argc, char **argv) {
    *self = (options){0};
    for (int at = 1; at < argc; at++) {
        if (strcmp(argv[at], "--json") == 0) continue; /* without effect: the output is always JSON */
        if (strcmp(argv[at], "--binding") == 0) {
            self->binding = true;
        } else if (strcmp(argv[at], "--root") == 0 && at + 1 < argc) {
            self->root = argv[++at];
        } else {
            return ns_refuse("topology: %s is no option here; expected --root DIR or --binding", argv[at]);
        }
    }
    if (!self->root || !self->binding) return NS_EXIT_OK;
    return ns_refuse("topology: --binding needs the running system; leave --root away");
}

/* ---- binding ----------------------------------------------------------------------------------------------------- */

/* Allocate PAGES pages on a node. Return how many of these pages are on the node. */
static int pages_at_home(const ns_node *node) {
    void *memory = NULL;
    const size_t bytes = (size_t)PAGES * PAGE_BYTES;
    int home = 0;
    if (ns_node_allocate(&memory, node->id, bytes) == NS_OK) {
        memset(memory, 1, bytes);
        for (size_t page = 0; page < PAGES; page++) {
            home += ns_node_of_page((char *)memory + page * PAGE_BYTES) == (int64_t)node->id;
        }
    }
    ns_node_release(memory, bytes);
    return home;
}

static bool check_memory(const ns_topology *topology) {
    bool right = true;
    fputs("{\"pages_at_home\": [", stdout);
    for (uint32_t at = 0; at < topology->node_count; at++) {
        const ns_node *node = &topology->node[at];
        const int home = node->memory_bytes ? pages_at_home(node) : 0;
        right = right && (home == PAGES || !node->memory_bytes);
        printf("%s[%u, %d]", at ? ", " : "", node->id, home);
    }
    printf("], \"pages\": %d", PAGES);
    return right;
}

static bool check_threads(const ns_topology *topology) {
    uint32_t home = 0;
    for (uint32_t at = 0; at < topology->cpu_count; at++) {
        unsigned cpu = 0, node = 0;
        const ns_cpu *wanted = &topology->cpu[at];
        const bool known = ns_cpu_pin(wanted->id) == NS_OK && getcpu(&cpu, &node) == 0;
        home += known && cpu == wanted->id && node == topology->node[wanted->node].id;
    }
    printf(", \"threads_at_home\": %u, \"threads\": %u}\n", home, topology->cpu_count);
    return home == topology->cpu_count;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

int ns_topology_command(int argc, char **argv) {
    options chosen;
    ns_topology topology;
    int status = parse(&chosen, argc, argv);
    if (status) return status;
    const int error = chosen.root ? ns_topology_read(&topology, chosen.root) : ns_topology_detect(&topology);
    const char *place = chosen.root ? chosen.root : "the running system";
    if (error) return ns_refuse("topology: %s: %s", place, ns_error_sentence(error));
    if (chosen.binding) {
        const bool memory = check_memory(&topology), threads = check_threads(&topology);
        status = memory && threads ? NS_EXIT_OK : NS_EXIT_WRONG;
    } else {
        ns_topology_print(&topology, stdout);
    }
    ns_topology_destroy(&topology);
    return status;
}
