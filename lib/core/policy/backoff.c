#include "policy/backoff.h"

#include "base/wide.h"

enum { LAST_EXPONENT = 62, PPM = 1000000 };

/* base ^ exponent, at most 2^63 - 1. */
static int64_t power(int64_t base, int64_t exponent) {
    int64_t result = 1;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1) result = ns_multiply(result, base);
        base = ns_multiply(base, base);
    }
    return result;
}

int64_t ns_backoff_wait_ps(const ns_backoff *self, int64_t fails, bool probed) {
    int64_t exponent = fails - 1 < LAST_EXPONENT ? fails - 1 : LAST_EXPONENT;
    int64_t most = self->max_ps < 0 ? NS_LONGEST_WAIT_PS : self->max_ps;
    int64_t wait = self->first_ps ? ns_multiply(self->first_ps, power(self->factor, exponent)) : 0;
    if (!wait) wait = self->poll_ps;
    if (wait > most) wait = most;
    return probed || wait > self->scan_ps ? wait : self->scan_ps;
}

bool ns_overflows(bool overflowed, int64_t length, int64_t capacity, int64_t resume_ppm) {
    if (length >= capacity) return true;
    return overflowed && (ns_wide)length * PPM >= (ns_wide)capacity * resume_ppm;
}
