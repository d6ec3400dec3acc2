// Arithmetic on times that throws std::overflow_error for results beyond 63 bits, and an attribute for vector loops.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "plan.hpp"

// A function with this attribute is compiled several times, once for each of several generations of vector units. When
// the library is loaded, the version for the present processor is chosen.
#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(NUMASIM_SANITIZED)
#define NUMASIM_VECTORS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define NUMASIM_VECTORS
#endif

namespace numasim {

__extension__ using Wide = __int128;

constexpr std::int64_t LATEST_PS = std::int64_t{1} << 62;  // the latest time of an event

[[noreturn]] inline void refuse_time() {
    throw std::overflow_error("the simulated time exceeds 2**62 ps, fifty-three days");
}

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

// part / whole, rounded up, for whole > 0 and part >= 0.
inline std::int64_t ceil_div(std::int64_t part, std::int64_t whole) { return part / whole + (part % whole != 0); }

inline std::int64_t narrowed(Wide value) {
    if (value > INT64_MAX) refuse_time();
    return static_cast<std::int64_t>(value);
}

// a * b / whole, rounded down, for numbers >= 0. The product has 128 bits only if it does not fit into 64 bits.
inline std::int64_t floor_ratio(std::int64_t a, std::int64_t b, std::int64_t whole) {
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(a, b, &product)) return product / whole;
    return narrowed(Wide{a} * b / whole);
}

// a * b / whole, rounded up, for numbers >= 0.
inline std::int64_t ceil_ratio(std::int64_t a, std::int64_t b, std::int64_t whole) {
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(a, b, &product)) return ceil_div(product, whole);
    return narrowed((Wide{a} * b + whole - 1) / whole);
}

// The time in which `bytes` bytes come in cache lines, with `misses` / 1000 lines under way at a time.
inline std::int64_t misses_ps(std::int64_t bytes, std::int64_t latency_ps, std::int64_t misses) {
    std::int64_t time_ps = 0;
    if (!ns_misses_fit(bytes, latency_ps, misses, &time_ps)) refuse_time();
    return time_ps;
}

}  // namespace numasim
