#include "driver/commands.h"

#include <string.h>

typedef struct {
    const char *name;
    int (*run)(int argc, char **argv);
} command;

static const command COMMAND[] = {
    {"topology", ns_topology_command},
};

int ns_command_run(int argc, char **argv) {
    for (unsigned at = 0; argc > 1 && at < sizeof COMMAND / sizeof *COMMAND; at++) {
        if (strcmp(argv[1], COMMAND[at].name) == 0) return COMMAND[at].run(argc - 1, argv + 1);
    }
    return NS_EXIT_NO_COMMAND;
}
