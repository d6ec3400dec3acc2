#include "driver/first_thread.h"

#include <stdint.h>

#include "numasim/topology.h"

void ns_first_thread_stay(cpu_set_t *before) {
    CPU_ZERO(before);
    sched_getaffinity(0, sizeof *before, before);
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, before)) {
            ns_cpu_pin(cpu);
            return;
        }
    }
}

void ns_first_thread_leave(const cpu_set_t *before) { sched_setaffinity(0, sizeof *before, before); }
