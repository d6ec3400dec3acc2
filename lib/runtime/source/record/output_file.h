/* The one way in which the programs of the runtime write a file; the definition is numasim/files/writer.py.
 *
 * A regular file is written under a temporary name in its own folder, flushed to the disk and renamed, so that it is
 * whole or as it was however the process ends. It keeps its mode and, where the system permits, its owner. Symbolic
 * links are followed; devices, pipes and open descriptors are written to and never replaced.
 */
#ifndef NS_OUTPUT_FILE_H
#define NS_OUTPUT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct {
    FILE *file;               /* to write to */
    char end[PATH_MAX];       /* where the links from the path lead */
    char temporary[PATH_MAX]; /* empty where `end` is written to as it is */
} ns_output_file;

/* Open what `path` leads to: 0, or the errno that says why it cannot be written. */
int ns_output_file_open(ns_output_file *self, const char *path);

/* Close an open file and put what was written in its place: 0, or an errno; a regular file is then as it was. */
int ns_output_file_close(ns_output_file *self);

#endif
