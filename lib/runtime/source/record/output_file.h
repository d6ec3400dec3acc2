/* Writing a file, by the rules of numasim/files/writer.py. A regular file is written under a temporary name in the same
 * folder, flushed to the disk and renamed: so the file is complete or unchanged, however the process ends. The file
 * keeps its mode and, if the system permits, its owner. Symbolic links are followed. Devices, pipes and open
 * descriptors of this process (/dev/fd/3) are written directly, and never replaced. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct {
    FILE *file;               /* to write to */
    char end[PATH_MAX];       /* the path after following all links */
    char temporary[PATH_MAX]; /* empty if `end` is written directly */
} ns_output_file;

/* Open the file to which `path` leads. Return 0, or the errno that prevents writing. */
int ns_output_file_open(ns_output_file *self, const char *path);

/* Close an open file and give it its final name. Return 0, or an errno; after an error a regular file is unchanged. */
int ns_output_file_close(ns_output_file *self);

/* Write `text`, which is UTF-8, as a JSON string with its quotes. */
void ns_json_write_text(FILE *file, const char *text);
