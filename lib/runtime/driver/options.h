/* The options of `numasim-runtime --kernel NAME ...`, and the values of a kernel's parameters. */
#ifndef NS_OPTIONS_H
#define NS_OPTIONS_H

#include <stdio.h>

#include "kernels/kernel.h"

enum { NS_MOST_PARAMETERS = 16 };

typedef struct {
    const ns_kernel *kernel;
    ns_value values[NS_MOST_PARAMETERS]; /* in the order of the kernel's parameters */
    ns_pool_options pool;
    int64_t repeats; /* 0: a single run without --repeat */
    bool json, verify, rehearse, warm_up, list, help;
} ns_options;

/* The names of modes and costs, by their numbers, up to NULL. */
extern const char *const NS_MODE_NAMES[];
extern const char *const NS_COSTS_NAMES[];

/* Read arguments into `self`, which holds the defaults. Returns false, with a sentence for the user in `problem`, for a
 * bad argument. */
bool ns_options_read(ns_options *self, int count, char **arguments, char *problem, size_t bytes);

/* Return the index of `name` among `names`, which end with NULL, or -1. The most similar name goes to `*nearest`. */
int ns_names_find(const char *const *names, const char *name, const char **nearest);

/* Write a value as JSON: a number, or text. */
void ns_value_write(FILE *file, const ns_parameter *parameter, const ns_value *value);

/* Copy number `place` of `names`, which have blanks between them, into `name`. Returns false where there are fewer. */
bool ns_choice_name(const char *names, int64_t place, char *name, size_t bytes);

#endif
