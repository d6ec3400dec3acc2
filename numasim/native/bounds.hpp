// The bounds of what a plan may hold, and checks against them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "effects.hpp"
#include "reader.hpp"

namespace numasim {

constexpr std::int64_t MOST_WORKERS = 1 << 20, MOST_NODES = 1 << 14, MOST_ROWS = std::int64_t{1} << 31;
constexpr std::int64_t LONGEST_PS = std::int64_t{1} << 60, MOST_COST_PS = std::int64_t{1} << 53;
constexpr std::int64_t MOST_BYTES = std::int64_t{1} << 50, MOST_ITEMS = (std::int64_t{1} << 32) - 1;
constexpr std::int64_t MOST_FACTOR = std::int64_t{1} << 33, ANY = Reader::ANY_SIZE;

template <typename T>
void require_within(std::span<const T> values, std::int64_t low, std::int64_t high, const char* name) {
    const auto outside = [low, high](T value) {
        return static_cast<std::int64_t>(value) < low || static_cast<std::int64_t>(value) > high;
    };
    require(std::none_of(values.begin(), values.end(), outside),
            [name] { return std::string(name) + " has a value out of bounds"; });
}

// A CSR pointer begins at 0, never falls and ends at `end`.
template <typename T>
void require_pointer(std::span<const T> pointer, std::uint64_t end, const char* name) {
    const bool holds = !pointer.empty() && pointer.front() == 0 && static_cast<std::uint64_t>(pointer.back()) == end &&
                       std::is_sorted(pointer.begin(), pointer.end());
    require(holds, [&] { return std::string(name) + " does not run from 0 to " + std::to_string(end); });
}

template <typename T>
std::int64_t size_of(const T& values) {
    return static_cast<std::int64_t>(values.size());
}

}  // namespace numasim
