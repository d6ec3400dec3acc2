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
    int64_t repeats; /* 0: one run, without --repeat */
    bool json, verify, rehearse, warm_up, list, help;
} ns_options;

/* The names of the modes and of the costs, indexed by their numbers and ended by NULL. */
extern const char *const NS_MODE_NAMES[];
extern const char *const NS_COSTS_NAMES[];

/* Read the arguments into `self`, which already has the defaults. Return false, with a sentence for the user in
 * `problem`, if an argument is bad. */
bool ns_options_read(ns_options *self, int count, char **arguments, char *problem, size_t bytes);

/* Return the index of `name` in `names`, which ends with NULL, or -1. `*nearest` is set to the most similar name. */
int ns_names_find(const char *const *names, const char *name, const char **nearest);

/* Write a value as JSON: a number, or text. */
void ns_value_write(FILE *file, const ns_parameter *parameter, const ns_value *value);

/* Copy name number `place` of `names`, which is separated by blanks, to `name`. Return false if there are fewer
 * names. */
bool ns_choice_name(const char *names, int64_t place, char *name, size_t bytes);

#endif
