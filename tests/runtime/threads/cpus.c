/* Prints the processor on which each worker runs: `cpus WORKERS PLAN`. */
#include <sched.h>

#include "program.h"

enum { MOST_WORKERS = 64 };

static void note_cpu(ns_task *self, void *arguments) {
    int *const *cpu = arguments;
    (*cpu)[ns_task_worker(self)] = sched_getcpu();
}

int main(int count, char **words) {
    int cpus[MOST_WORKERS], *cpu = cpus;
    ns_pool *pool = pool_of(count, words);
    team(pool, note_cpu, &cpu, sizeof cpu);
    for (int id = 0; id < atoi(words[1]); id++) printf("%d\n", cpus[id]);
    return finish(pool);
}
