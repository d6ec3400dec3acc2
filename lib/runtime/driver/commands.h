/* The commands of numasim-runtime beside running kernels, and the streams and statuses of the program. */
#ifndef NS_COMMANDS_H
#define NS_COMMANDS_H

#include <stdbool.h>

/* Exit statuses. NS_EXIT_PIPE_CLOSED is the status that a shell reports for a program ended by SIGPIPE: 128 + 13. */
enum ns_exit {
    NS_EXIT_OK = 0,
    NS_EXIT_WRONG = 1,
    NS_EXIT_BAD_INPUT = 2,
    NS_EXIT_PIPE_CLOSED = 141,
};

/* The commands; argv[0] is their name. They return the exit status. */
int ns_plan_command(int argc, char **argv);
int ns_topology_command(int argc, char **argv);
int ns_probe_command(int argc, char **argv);

/* Open whichever of the three standard streams is closed; else the next file would get its number, and with the number
 * what is meant for the stream. Returns false, with a sentence on standard error, where standard output is closed. */
bool ns_standard_streams_open(void);

/* Write what is left of standard output. Returns the status to exit with: `status`, NS_EXIT_PIPE_CLOSED where nobody
 * reads the output any more, or NS_EXIT_BAD_INPUT, with a sentence, where the output cannot be written. */
int ns_standard_output_close(int status);

#endif
