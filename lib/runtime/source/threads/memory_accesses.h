/* The memory accesses that tasks declare, where some memory is pretended to be far. */
#ifndef NS_MEMORY_ACCESSES_H
#define NS_MEMORY_ACCESSES_H

#include "numasim/runtime.h"

/* The running segment accesses memory: where it is pretended to be far, that takes longer. */
void ns_thread_touch(ns_task *self, const ns_access *access);

#endif
