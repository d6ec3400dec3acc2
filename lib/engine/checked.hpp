// Arithmetic on times that refuses what 63 bits do not hold.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "clock/clock.h"

namespace numasim {

constexpr std::int64_t LATEST_PS = NS_LATEST_PS;  // events are not later

[[noreturn]] inline void refuse_time() { throw std::overflow_error(NS_TOO_LATE); }

inline std::int64_t sum_ps(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) refuse_time();
    return sum;
}

inline std::int64_t product_ps(std::int64_t times, std::int64_t each_ps) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(times, each_ps, &product)) refuse_time();
    return product;
}

// For whole > 0 and part >= 0.
inline std::int64_t ceil_div(std::int64_t part, std::int64_t whole) { return part / whole + (part % whole != 0); }

}  // namespace numasim
