/* Prints on which processor each of `workers` workers runs, with the plan in a file. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "numasim/runtime.h"

enum { MOST_WORKERS = 64 };

static void note_cpu(ns_task *self, void *arguments) {
    int *const *cpu = arguments;
    (*cpu)[ns_task_worker(self)] = sched_getcpu();
}

int main(int count, char **arguments) {
    const uint32_t workers = (uint32_t)atoi(arguments[1]);
    const ns_pool_options options = {.mode = NS_MODE_NATIVE, .workers = workers, .plan = arguments[2]};
    int cpus[MOST_WORKERS], *cpu = cpus;
    ns_pool *pool;
    if (count != 3 || workers > MOST_WORKERS) return 2;
    int error = ns_pool_create(&pool, &options);
    if (!error) error = ns_pool_team(pool, note_cpu, &cpu, sizeof cpu);
    if (error) printf("%s\n", ns_error_sentence(error));
    for (uint32_t id = 0; id < workers && !error; id++) printf("%d\n", cpus[id]);
    ns_pool_destroy(pool);
    return error ? 1 : 0;
}
