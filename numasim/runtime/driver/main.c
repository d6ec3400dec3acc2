#include <stdio.h>

#include "driver/commands.h"

int main(int argc, char **argv) {
    const int status = ns_command_run(argc, argv);
    if (status != NS_EXIT_NO_COMMAND) return status;
    fputs("numasim-runtime: no kernels\n", stderr);
    return 2;
}
