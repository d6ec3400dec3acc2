/* The commands of numasim-runtime other than running kernels, and the streams and exit statuses of the program. */
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

/* The commands. argv[0] is the name of the command. Each returns the exit status. */
int ns_plan_command(int argc, char **argv);
int ns_topology_command(int argc, char **argv);
int ns_probe_command(int argc, char **argv);

/* Open those of the three standard streams that are closed. (Otherwise the next opened file would get the number of the
 * closed stream, and the stream's text would go into this file.) Return false, with a sentence on standard error, if
 * standard output was closed. */
bool ns_standard_streams_open(void);

/* Write the buffered rest of standard output. Return the status to exit with: `status`; NS_EXIT_PIPE_CLOSED if nobody
 * reads the output any more; or NS_EXIT_BAD_INPUT, with a sentence, if the output cannot be written. */
int ns_standard_output_close(int status);

#endif
