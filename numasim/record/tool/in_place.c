/* The entrances of the runtime for tasks that the program executes in place, as it does with `if(0)`, in front of those
 * of the runtime: with a single thread LLVM's runtime says of all tasks that they are undeferred, and nothing else
 * tells them apart.
 */
#include "in_place.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Thread_local bool ns_in_place;

typedef void (*gomp_task)(void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes,
                          long alignment, bool deferred, unsigned flags, void **dependences, int priority,
                          void *detach);
typedef void (*kmpc_begin)(void *location, int32_t thread, void *task);

/* The function that this one stands in front of. */
static void *behind(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "numasim recorder: the OpenMP runtime has no %s\n", name);
        abort();
    }
    return found;
}

void GOMP_task(void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes, long alignment,
               bool deferred, unsigned flags, void **dependences, int priority, void *detach);
void GOMP_task(void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes, long alignment,
               bool deferred, unsigned flags, void **dependences, int priority, void *detach) {
    static gomp_task next;
    if (__builtin_expect(!next, 0)) {
        void *found = behind("GOMP_task");
        memcpy(&next, &found, sizeof next);
    }
    ns_in_place = !deferred;
    next(function, data, copy, bytes, alignment, deferred, flags, dependences, priority, detach);
}

void __kmpc_omp_task_begin_if0(void *location, int32_t thread, void *task);
void __kmpc_omp_task_begin_if0(void *location, int32_t thread, void *task) {
    static kmpc_begin next;
    if (__builtin_expect(!next, 0)) {
        void *found = behind("__kmpc_omp_task_begin_if0");
        memcpy(&next, &found, sizeof next);
    }
    ns_in_place = true;
    next(location, thread, task);
}
