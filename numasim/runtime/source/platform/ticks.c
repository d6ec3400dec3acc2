#include "platform/ticks.h"

#include "platform/atomics.h"

ns_tick_rate ns_tick_rate_measure(void) {
#if defined(__x86_64__)
    const int64_t SPAN_PS = INT64_C(3) * 1000 * 1000 * 1000; /* an error of 50 ns at its ends is 20 ppm */
    const int64_t began_ps = ns_monotonic_ps();
    const uint64_t began = ns_ticks();
    int64_t now_ps = began_ps;
    while (now_ps - began_ps < SPAN_PS) now_ps = ns_monotonic_ps();
    return (ns_tick_rate){(double)(now_ps - began_ps) / (double)(ns_ticks() - began)};
#else
    return (ns_tick_rate){1000.0};
#endif
}

void ns_spin_ps(ns_tick_rate self, int64_t ps) {
    const uint64_t began = ns_ticks(), span = ns_ps_to_ticks(self, ps);
    while (ns_ticks() - began < span) ns_pause();
}
