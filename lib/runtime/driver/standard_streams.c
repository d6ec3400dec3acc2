/* Standard output and standard error of the program. numasim/files/standard_streams.py defines the rules. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "driver/commands.h"

#define WRITABLE "expected a terminal, a pipe, a file on a disk with free space, or /dev/null"

bool ns_standard_streams_open(void) {
    const bool is_open = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++) {
        if (fcntl(number, F_GETFD) < 0 && open("/dev/null", O_RDWR) != number) return false;
    }
    if (!is_open) fputs("numasim-runtime: standard output is closed; " WRITABLE "\n", stderr);
    return is_open;
}

int ns_standard_output_close(int status) {
    const int error = fflush(stdout) ? errno : ferror(stdout) ? EIO : 0;
    if (!error) return status;
    if (error == EPIPE) return NS_EXIT_PIPE_CLOSED;
    fprintf(stderr, "numasim-runtime: standard output cannot be written (%s); " WRITABLE "\n", strerror(error));
    return NS_EXIT_BAD_INPUT;
}
