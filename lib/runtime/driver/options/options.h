/* The options of `numasim-runtime --kernel NAME ...`. */
#ifndef NS_OPTIONS_H
#define NS_OPTIONS_H

#include "kernels/kernel.h"

enum { NS_MOST_PARAMETERS = 16 };

typedef struct {
    const ns_kernel *kernel;
    ns_value values[NS_MOST_PARAMETERS]; /* in the order of the kernel's parameters */
    ns_pool_options pool;
    int64_t repeats; /* 0: one run, that is not one of several */
    bool json, verify, rehearse, warm_up, list, help;
} ns_options;

/* The names of modes and costs, by their numbers, up to NULL. */
extern const char *const NS_MODE_NAMES[];
extern const char *const NS_COSTS_NAMES[];

/* Read arguments on top of what `self` holds, which is so where none says otherwise. False, with a sentence for the
 * user in `problem`, for a bad one. */
bool ns_options_read(ns_options *self, int count, char **arguments, char *problem, size_t bytes);

#endif
