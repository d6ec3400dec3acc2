/* The shared part of the programs in this folder: requirements, and a pool made from the command line. A program prints
 * the first violated requirement, or the sentence of an error. Its exit status is 0 if all requirements hold. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numasim/runtime.h"

/* Define a body of tasks, which may leave out its parameters `self` and `arguments`. */
#define BODY(NAME) static void NAME(__attribute__((unused)) ns_task *self, __attribute__((unused)) void *arguments)

static _Atomic int wrong;

static inline void require(int holds, const char *sentence) {
    if (!holds && !wrong++) printf("wrong: %s\n", sentence);
}

/* Print the sentence of an error, and exit. */
static inline void fail(const ns_pool *pool, int error) {
    printf("%s\n", pool ? ns_pool_problem(pool) : ns_error_sentence(error));
    exit(2);
}

/* Make a pool from the arguments `PROGRAM WORKERS [HOW ...]`. HOW is serial, newest or stolen for serial runs in these
 * orders, or a plan for threads. WORKERS is 0 for the number of workers in the plan. */
static inline ns_pool *pool_of(int count, char **words) {
    const char *how = count > 2 ? words[2] : NULL;
    const char *const orders[] = {"serial", "newest", "stolen"};
    ns_pool_options options = {.mode = NS_MODE_NATIVE, .workers = (uint32_t)atoi(words[1]), .plan = how};
    for (int order = 0; how && order < 3; order++) {
        if (!strcmp(how, orders[order]))
            options = (ns_pool_options){.workers = options.workers, .order = (enum ns_order)order};
    }
    ns_pool *pool;
    const int error = ns_pool_create(&pool, &options);
    if (error) fail(pool, error);
    return pool;
}

static inline void run(ns_pool *pool, ns_body *body, const void *arguments, size_t bytes) {
    const int error = ns_pool_run(pool, body, arguments, bytes);
    if (error) fail(pool, error);
}

static inline void team(ns_pool *pool, ns_body *body, const void *arguments, size_t bytes) {
    const int error = ns_pool_team(pool, body, arguments, bytes);
    if (error) fail(pool, error);
}

/* Destroy the pool, and return the exit status of `main`. */
static inline int finish(ns_pool *pool) {
    ns_pool_destroy(pool);
    return wrong;
}
