/* Standard output and standard error of the program; the definition is numasim/files/standard_streams.py. */
#ifndef NS_STANDARD_STREAMS_H
#define NS_STANDARD_STREAMS_H

#include <stdbool.h>

/* Open what is closed of the three descriptors; else the next file would get its number, and with it what is meant for
 * the stream. False, with a sentence on standard error, where standard output is closed. */
bool ns_standard_streams_open(void);

/* Write what is left of standard output, and return the status to exit with: `status`, NS_EXIT_PIPE_CLOSED where nobody
 * reads it any more, or NS_EXIT_BAD_INPUT, with a sentence, where it cannot be written. */
int ns_standard_output_close(int status);

#endif
