// What tasks took and moved since an iteration began, for a controller (model 4.12;
// engine/reference/ledger.py).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace numasim {

class TaskMeasures {
public:
    TaskMeasures(std::size_t tasks, std::size_t nodes)
        : nodes_(nodes), ps_(tasks, 0), bytes_(tasks * nodes, 0), before_(nodes) {}

    void add_time(std::int64_t task, std::int64_t time_ps) { ps_[static_cast<std::size_t>(task)] += time_ps; }

    // [nodes] what a task has moved from and to each home, to be added to.
    std::int64_t* bytes_of(std::int64_t task) { return bytes_.data() + static_cast<std::size_t>(task) * nodes_; }

    // Count for a task what `moved(home)` grows by from `before` to `after`: bytes from and to each home.
    template <typename Moved>
    void before(Moved&& moved) {
        for (std::size_t home = 0; home < nodes_; ++home) before_[home] = moved(home);
    }
    template <typename Moved>
    void after(std::int64_t task, Moved&& moved) {
        std::int64_t* const mine = bytes_of(task);
        for (std::size_t home = 0; home < nodes_; ++home) mine[home] += moved(home) - before_[home];
    }

    void clear() {
        std::fill(ps_.begin(), ps_.end(), 0);
        std::fill(bytes_.begin(), bytes_.end(), 0);
    }

    const std::vector<std::int64_t>& ps() const { return ps_; }        // [tasks] of their own segments
    const std::vector<std::int64_t>& bytes() const { return bytes_; }  // [tasks, nodes] likewise

private:
    std::size_t nodes_;
    std::vector<std::int64_t> ps_, bytes_;
    std::vector<std::int64_t> before_;  // [nodes]
};

}  // namespace numasim
