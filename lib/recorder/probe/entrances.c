#include "entrances.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static bool find(void *library, const char *name, void *entrance) {
    void *found = dlsym(library, name);
    memcpy(entrance, &found, sizeof found);
    if (!found) fprintf(stderr, "numasim-openmp-probe: the OpenMP runtime has no %s\n", name);
    return found;
}

bool ns_openmp_load(ns_openmp *self, const char *library) {
    void *opened = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    if (!opened) {
        fprintf(stderr, "numasim-openmp-probe: %s\n", dlerror());
        return false;
    }
    return find(opened, "GOMP_parallel", &self->parallel) && find(opened, "GOMP_task", &self->task) &&
           find(opened, "GOMP_taskwait", &self->taskwait) && find(opened, "GOMP_barrier", &self->barrier) &&
           find(opened, "omp_get_thread_num", &self->thread) &&
           find(opened, "GOMP_loop_dynamic_start", &self->loop_begin) &&
           find(opened, "GOMP_loop_dynamic_next", &self->loop_next) && find(opened, "GOMP_loop_end", &self->loop_end);
}
