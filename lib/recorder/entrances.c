/* Wrappers of entry points of the OpenMP runtime. The wrappers record facts that the tools interface does not report:
 *
 * - whether a thread executes a task at once, as with `if(0)` (LLVM's runtime reports this of every task of a team of
 *   one thread);
 * - the clauses `priority` and `affinity`, which have no effect on a recording;
 * - queries of the number of threads of the team: GCC compiles a static loop to code that asks for this number and
 *   divides the iterations itself, as some programs do by hand. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event_log.h"

enum { GOMP_PRIORITY = 1 << 4, KMP_PRIORITY = 1 << 5 }; /* flags of tasks */

_Thread_local bool ns_in_place;
_Thread_local const void *ns_place;

/* Store the address of the runtime's function `name` at `next`, unless the address is known. */
static void find_behind(void *next, const char *name) {
    void *found;
    memcpy(&found, next, sizeof found);
    if (__builtin_expect(found != NULL, 1)) return;
    found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "numasim recorder: the OpenMP runtime has no %s\n", name);
        abort();
    }
    memcpy(next, &found, sizeof found);
}

/* Declare `next`, the wrapped function. */
#define FIND_BEHIND(FUNCTION)          \
    static __typeof__(FUNCTION) *next; \
    find_behind(&next, #FUNCTION)

static void note_clause(uint32_t which) {
    if (ns_log_is_on()) ns_note(ns_ticks(), NS_EVENT_CLAUSE, which);
}

void GOMP_task(void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes, long alignment,
               bool deferred, unsigned flags, void **dependences, int priority, void *detach) {
    FIND_BEHIND(GOMP_task);
    if (flags & GOMP_PRIORITY) note_clause(NS_CLAUSE_PRIORITY);
    ns_in_place = !deferred;
    ns_place = __builtin_return_address(0);
    next(function, data, copy, bytes, alignment, deferred, flags, dependences, priority, detach);
}

void GOMP_taskloop(void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes, long alignment,
                   unsigned flags, unsigned long tasks, int priority, long begin, long end, long step) {
    FIND_BEHIND(GOMP_taskloop);
    if (flags & GOMP_PRIORITY) note_clause(NS_CLAUSE_PRIORITY);
    next(function, data, copy, bytes, alignment, flags, tasks, priority, begin, end, step);
}

void __kmpc_omp_task_begin_if0(void *location, int32_t thread, void *task) {
    FIND_BEHIND(__kmpc_omp_task_begin_if0);
    ns_in_place = true;
    next(location, thread, task);
}

void *__kmpc_omp_task_alloc(void *location, int32_t thread, int32_t flags, size_t bytes, size_t shared, void *entry) {
    FIND_BEHIND(__kmpc_omp_task_alloc);
    if (flags & KMP_PRIORITY) note_clause(NS_CLAUSE_PRIORITY);
    return next(location, thread, flags, bytes, shared, entry);
}

int32_t __kmpc_omp_reg_task_with_affinity(void *location, int32_t thread, void *task, int32_t count, void *list) {
    FIND_BEHIND(__kmpc_omp_reg_task_with_affinity);
    note_clause(NS_CLAUSE_AFFINITY);
    return next(location, thread, task, count, list);
}

int omp_get_num_threads(void) {
    const uint64_t now = ns_ticks();
    FIND_BEHIND(omp_get_num_threads);
    ns_event_log *log = ns_log;
    if (log && !log->knows_team && ns_log_is_on() && (log = ns_log_of_thread())) {
        ns_put(log, now, NS_EVENT_TEAM, 0);
        log->knows_team = true;
    }
    return next();
}
