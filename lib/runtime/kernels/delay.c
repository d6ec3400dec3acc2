#include "kernels/delay.h"

#include <pthread.h>

#include "platform/ticks.h"

enum { TRIALS = 7, TRIAL_MS = 1 };
static const int64_t GUESS_PER_MS = 1000000;

static ns_delay calibrated;

static void calibrate(void) {
    const ns_delay guess = {GUESS_PER_MS};
    int64_t least_ps = INT64_MAX;
    for (int trial = 0; trial < TRIALS; trial++) {
        const int64_t begin_ps = ns_cpu_ps();
        ns_delay_take(&guess, TRIAL_MS * INT64_C(1000000000));
        const int64_t took_ps = ns_cpu_ps() - begin_ps;
        if (took_ps < least_ps) least_ps = took_ps;
    }
    calibrated = (ns_delay){GUESS_PER_MS * TRIAL_MS * INT64_C(1000000000) / (least_ps > 0 ? least_ps : 1)};
}

ns_delay ns_delay_calibrate(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, calibrate);
    return calibrated;
}
