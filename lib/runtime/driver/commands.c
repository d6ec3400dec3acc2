#include "driver/commands.h"

#include <stddef.h>

#include "driver/options/names.h"

typedef struct {
    const char *name;
    int (*run)(int argc, char **argv);
} command;

static const command COMMAND[] = {
    {"plan", ns_plan_command},
    {"topology", ns_topology_command},
    {"probe", ns_probe_command},
    {"bare", ns_bare_command},
};

enum { COMMANDS = sizeof COMMAND / sizeof *COMMAND };

int ns_command_run(int argc, char **argv, const char **nearest) {
    const char *names[COMMANDS + 1] = {NULL};
    for (int at = 0; at < COMMANDS; at++) names[at] = COMMAND[at].name;
    const int found = ns_names_find(names, argv[1], nearest);
    return found < 0 ? NS_EXIT_NO_COMMAND : COMMAND[found].run(argc - 1, argv + 1);
}
