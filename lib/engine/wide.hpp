// Products of two 63-bit numbers over a third: in 64 bits where they fit, else in 128. All numbers are >= 0.
#pragma once

#include <cstdint>

#include "checked.hpp"

namespace numasim {

__extension__ using Wide = __int128;

inline std::int64_t narrowed(Wide value) {
    if (value > INT64_MAX) refuse_time();
    return static_cast<std::int64_t>(value);
}

// a * b / whole, rounded down.
inline std::int64_t floor_ratio(std::int64_t a, std::int64_t b, std::int64_t whole) {
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(a, b, &product)) return product / whole;
    return narrowed(Wide{a} * b / whole);
}

// a * b / whole, rounded up.
inline std::int64_t ceil_ratio(std::int64_t a, std::int64_t b, std::int64_t whole) {
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(a, b, &product)) return ceil_div(product, whole);
    return narrowed((Wide{a} * b + whole - 1) / whole);
}

}  // namespace numasim
