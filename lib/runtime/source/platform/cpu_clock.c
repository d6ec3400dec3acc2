#include "platform/cpu_clock.h"

enum { TRIALS = 2000 };

int64_t ns_cpu_clock_cost_ps(void) {
    int64_t least_ps = INT64_MAX;
    for (int trial = 0; trial < TRIALS; trial++) {
        const int64_t before_ps = ns_cpu_ps(), took_ps = ns_cpu_ps() - before_ps;
        if (took_ps < least_ps) least_ps = took_ps;
    }
    return least_ps;
}
