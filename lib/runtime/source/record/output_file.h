/* All files of the runtime are written here. numasim/files/writer.py defines how.
 *
 * A regular file is written under a temporary name in its own folder, flushed to the disk and renamed. So the file is
 * whole or unchanged, however the process ends. The file keeps its mode and, if the system permits, its owner.
 * Symbolic links are followed. Devices, pipes and open descriptors are written to, and never replaced.
 */
#ifndef NS_OUTPUT_FILE_H
#define NS_OUTPUT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct {
    FILE *file;               /* to write to */
    char end[PATH_MAX];       /* the path, with all links followed */
    char temporary[PATH_MAX]; /* empty if `end` itself is written to */
} ns_output_file;

/* Open the file that `path` leads to. Returns 0, or the errno for which it cannot be written. */
int ns_output_file_open(ns_output_file *self, const char *path);

/* Close an open file, and put it in its place. Returns 0, or an errno; a regular file is then unchanged. */
int ns_output_file_close(ns_output_file *self);

/* Write `text`, which is UTF-8, as a JSON string with its quotes. */
void ns_json_write_text(FILE *file, const char *text);

#endif
