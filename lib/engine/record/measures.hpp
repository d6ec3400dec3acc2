// Result rows with sums for each run of a phase, and the measures of single tasks that a controller reads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan.hpp"

namespace numasim {

// ---- rows of phases (numasim/engine/phase_rows.py)

constexpr std::size_t PHASE_SUMS = 8;

// A row. Its members have the order of numasim.engine.phase_rows.COLUMNS.
struct PhaseRow {
    std::int64_t phase, iteration, turn, start_ps, time_ps;
    std::array<std::int64_t, PHASE_SUMS> sums;
};

class PhaseRows {
public:
    bool full() const { return rows_.size() == static_cast<std::size_t>(NS_MOST_PHASE_ROWS); }
    // Add the row of a phase that has ended. `row` has sums since the start of the run.
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

// The times and bytes of tasks since the present iteration began, for a controller (model 4.12;
// engine/reference/ledger.py).
class TaskMeasures {
public:
    TaskMeasures(std::size_t tasks, std::size_t nodes)
        : nodes_(nodes), ps_(tasks, 0), bytes_(tasks * nodes, 0), before_(nodes) {}

    void add_time(std::int64_t task, std::int64_t time_ps) { ps_[static_cast<std::size_t>(task)] += time_ps; }

    // [nodes] the bytes that a task has moved from and to each node's memory. The caller adds to these numbers.
    std::int64_t* bytes_of(std::int64_t task) { return bytes_.data() + static_cast<std::size_t>(task) * nodes_; }

    // Count for a task by how much `moved` [nodes], the bytes from and to each node's memory, grows from the call of
    // `before` to the call of `after`.
    void before(const std::int64_t* moved) { std::copy_n(moved, nodes_, before_.begin()); }
    void after(std::int64_t task, const std::int64_t* moved) {
        std::int64_t* const mine = bytes_of(task);
        for (std::size_t home = 0; home < nodes_; ++home) mine[home] += moved[home] - before_[home];
    }

    void clear() {
        std::fill(ps_.begin(), ps_.end(), 0);
        std::fill(bytes_.begin(), bytes_.end(), 0);
    }

    const std::vector<std::int64_t>& ps() const { return ps_; }        // [tasks] time of the task's own segments
    const std::vector<std::int64_t>& bytes() const { return bytes_; }  // [tasks, nodes] bytes of these segments

private:
    std::size_t nodes_;
    std::vector<std::int64_t> ps_, bytes_;
    std::vector<std::int64_t> before_;  // [nodes]
};

}  // namespace numasim
