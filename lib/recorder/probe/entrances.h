/* The entrances of an OpenMP runtime that compilers call: those of GOMP, which libgomp and LLVM's libomp both have. */
#ifndef NUMASIM_OPENMP_ENTRANCES_H
#define NUMASIM_OPENMP_ENTRANCES_H

#include <stdbool.h>

typedef struct {
    void (*parallel)(void (*body)(void *), void *data, unsigned threads, unsigned flags);
    void (*task)(void (*body)(void *), void *data, void (*copy)(void *, void *), long bytes, long alignment,
                 bool deferred, unsigned flags, void **dependences, int priority, void *detach);
    void (*taskwait)(void);
    void (*barrier)(void);
    int (*thread)(void);
    bool (*loop_begin)(long first, long end, long step, long chunk, long *from, long *to);
    bool (*loop_next)(long *from, long *to);
    void (*loop_end)(void);
} ns_openmp;

/* Those of a library, or with NULL of one that is loaded already; false with a message where something is missing. */
bool ns_openmp_load(ns_openmp *self, const char *library);

#endif
