#include "delay.h"

#include <time.h>

enum { TRIALS = 7, TRIAL_MS = 1 };
static const int64_t GUESS_PER_MS = 1000000;

static int64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

ns_delay ns_delay_calibrate(void) {
    const ns_delay guess = {GUESS_PER_MS};
    int64_t least_ns = INT64_MAX;
    for (int trial = 0; trial < TRIALS; trial++) {
        const int64_t begin_ns = cpu_ns();
        ns_delay_take(&guess, TRIAL_MS * INT64_C(1000000000));
        const int64_t took_ns = cpu_ns() - begin_ns;
        if (took_ns < least_ns) least_ns = took_ns;
    }
    return (ns_delay){GUESS_PER_MS * TRIAL_MS * 1000000 / (least_ns > 0 ? least_ns : 1)};
}
