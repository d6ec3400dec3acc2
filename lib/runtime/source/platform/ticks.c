#include "platform/ticks.h"

#include <string.h>

#include "platform/atomics.h"

#if defined(__x86_64__)
static double measure(void) {
    const int64_t SPAN_PS = INT64_C(3) * 1000 * 1000 * 1000; /* 3 ms: an error of 50 ns at both ends is about 20 ppm */
    const int64_t began_ps = ns_monotonic_ps();
    const uint64_t began = ns_ticks();
    int64_t now_ps = began_ps;
    while (now_ps - began_ps < SPAN_PS) now_ps = ns_monotonic_ps();
    return (double)(now_ps - began_ps) / (double)(ns_ticks() - began);
}

ns_tick_rate ns_tick_rate_of_process(void) {
    static ns_atomic_u64 known; /* the rate as a bit pattern; 0: not measured yet */
    /* relaxed, for this load and the store below: no other memory depends on the word */
    uint64_t bits = ns_atomic_u64_load(&known, memory_order_relaxed);
    ns_tick_rate rate;
    if (bits) {
        memcpy(&rate, &bits, sizeof rate);
    } else {
        rate.ps_per_tick = measure();
        memcpy(&bits, &rate, sizeof bits);
        ns_atomic_u64_store(&known, bits, memory_order_relaxed);
    }
    return rate;
}
#else
ns_tick_rate ns_tick_rate_of_process(void) { return (ns_tick_rate){1000.0}; }
#endif

void ns_spin_ps(ns_tick_rate self, int64_t ps) {
    const uint64_t began = ns_ticks(), span = ns_ps_to_ticks(self, ps);
    while (ns_ticks() - began < span) ns_pause();
}

int64_t ns_cpu_clock_cost_ps(void) {
    enum { TRIALS = 2000 };
    int64_t least_ps = INT64_MAX;
    for (int trial = 0; trial < TRIALS; trial++) {
        const int64_t before_ps = ns_cpu_ps(), took_ps = ns_cpu_ps() - before_ps;
        if (took_ps < least_ps) least_ps = took_ps;
    }
    return least_ps;
}
