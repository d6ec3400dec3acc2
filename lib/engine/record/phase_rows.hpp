// What is counted of each run of a phase (numasim/engine/phase_rows.py).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "policy/plan.h"

namespace numasim {

constexpr std::size_t PHASE_SUMS = 8;

// In the order of numasim.engine.phase_rows.COLUMNS.
struct PhaseRow {
    std::int64_t phase, iteration, turn, start_ps, time_ps;
    std::array<std::int64_t, PHASE_SUMS> sums;
};
constexpr std::size_t PHASE_COLUMNS = sizeof(PhaseRow) / sizeof(std::int64_t);

class PhaseRows {
public:
    bool full() const { return rows_.size() == static_cast<std::size_t>(NS_MOST_PHASE_ROWS); }
    // A phase has ended; its sums are those since the begin of the run.
    void add(PhaseRow row) {
        const std::array<std::int64_t, PHASE_SUMS> sums = row.sums;
        for (std::size_t at = 0; at < PHASE_SUMS; ++at) row.sums[at] -= before_[at];
        before_ = sums;
        rows_.push_back(row);
    }
    const std::vector<PhaseRow>& rows() const { return rows_; }

private:
    std::vector<PhaseRow> rows_;
    std::array<std::int64_t, PHASE_SUMS> before_{};
};

}  // namespace numasim
