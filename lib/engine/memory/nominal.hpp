// What a price comes to at a speed (model 2.5 and 2.6).
#pragma once

#include <algorithm>
#include <cstdint>

#include "memory/access_prices.hpp"
#include "memory/speeds.hpp"
#include "wide.hpp"

namespace numasim {

// Computing and waiting for memory, of which a part overlaps.
inline std::int64_t combined_ps(const Effects& effects, std::int64_t compute_ps, std::int64_t wait_ps) {
    const std::int64_t longer = std::max(compute_ps, wait_ps);
    if (effects.overlap_ppm == MILLION) return longer;
    const Wide hidden = Wide{std::min(compute_ps, wait_ps)} * (MILLION - effects.overlap_ppm) + MILLION / 2;
    return sum_ps(longer, static_cast<std::int64_t>(hidden / MILLION));
}

inline std::int64_t nominal_ps(const Effects& effects, const Price& price, const Speed& speed) {
    std::int64_t compute = price.compute_ps, wait = sum_ps(price.wait_ps, price.queued_ps);
    if (speed.compute_ppm != MILLION) compute = ceil_ratio(compute, MILLION, speed.compute_ppm);
    if (speed.memory_ppm != MILLION) wait = ceil_ratio(wait, MILLION, speed.memory_ppm);
    return sum_ps(combined_ps(effects, compute, wait), price.fault_ps);
}

// What is left of work, in whole picoseconds, when its nominal time changes.
inline std::int64_t scaled_ps(std::int64_t left_ps, std::int64_t nominal_before_ps, std::int64_t nominal_ps) {
    return nominal_before_ps == 0 ? nominal_ps : ceil_ratio(left_ps, nominal_ps, nominal_before_ps);
}

// What work takes a worker at some speed, at full speed, and then if all its bytes were local; `pages_ps` are for its
// pages, a part of the first alone.
struct WorkTime {
    std::int64_t nominal_ps = 0, undisturbed_ps = 0, local_ps = 0, pages_ps = 0;
};

inline WorkTime work_time(const Effects& effects, const Price& price, const Speed& speed) {
    return {nominal_ps(effects, price, speed), combined_ps(effects, price.compute_ps, price.wait_ps),
            combined_ps(effects, price.compute_ps, price.local_wait_ps), price.fault_ps};
}

}  // namespace numasim
