/* explorer MEMORY [PREFIX]: explore the cases whose names begin with PREFIX; exit status 1 if a case is violated. */
#include <stdio.h>
#include <string.h>

#include "explore.h"

static const char *const MEMORY[] = {"sequential", "buffered", "reordered"};
enum { MEMORIES = sizeof MEMORY / sizeof *MEMORY };

static const ns_explore_case *const TABLES[] = {NS_LITMUS_CASES,    NS_DEQUE_CASES,   NS_LANE_CASES,
                                                NS_LOCK_CASES,      NS_CONDITION_CASES, NS_BARRIER_CASES,
                                                NS_DEPENDENT_CASES, NS_SLEEP_CASES};
enum { TABLE_COUNT = sizeof TABLES / sizeof *TABLES };

static bool explore(const ns_explore_case *of, enum ns_explore_memory memory) {
    ns_explore_result result;
    ns_explore_run(of, memory, &result);
    printf("%s %s: %s; %llu schedules, %llu left early, %llu states, %llu steps, longest %u\n", of->name,
           MEMORY[memory], result.violated ? result.sentence : "sound", (unsigned long long)result.schedules,
           (unsigned long long)result.left, (unsigned long long)result.states, (unsigned long long)result.steps,
           result.longest);
    fflush(stdout);
    return !result.violated;
}

int main(int count, char **argument) {
    uint32_t memory = 0;
    while (count > 1 && memory < MEMORIES && strcmp(argument[1], MEMORY[memory]) != 0) memory++;
    if (count < 2 || count > 3 || memory == MEMORIES) {
        fputs("explorer: say sequential, buffered or reordered, and perhaps how names of cases begin\n", stderr);
        return 2;
    }
    const char *prefix = count > 2 ? argument[2] : "";
    bool sound = true;
    uint32_t explored = 0;
    for (uint32_t table = 0; table < TABLE_COUNT; table++)
        for (const ns_explore_case *each = TABLES[table]; each->name; each++) {
            if (strncmp(each->name, prefix, strlen(prefix)) != 0) continue;
            sound &= explore(each, (enum ns_explore_memory)memory);
            explored++;
        }
    if (!explored) fprintf(stderr, "explorer: no case begins with %s\n", prefix);
    return explored ? !sound : 2;
}
