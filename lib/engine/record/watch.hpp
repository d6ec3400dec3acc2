// What a run does, told while it goes on (numasim/engine/observe/watch.py): rows of whole numbers, in batches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "state/worker.hpp"

namespace numasim {

// Kinds of rows, as there.
enum class Watched : std::int64_t { WORK, OVERHEAD, IDLE, PARKED, BARRIER, STEAL, LENGTH, LOAD, PHASE };

struct WatchedRow {
    Watched kind;
    std::int64_t actor, begin_ps, end_ps, first, second, third;
};

constexpr std::size_t WATCHED_COLUMNS = sizeof(WatchedRow) / sizeof(std::int64_t);

// Called with batches of rows; they are only valid during the call.
using Watcher = std::function<void(const WatchedRow* rows, std::size_t count)>;

class Watch {
public:
    static constexpr std::size_t FLUSH_ROWS = 65'536;

    explicit Watch(Watcher watcher) : watcher_(std::move(watcher)) { rows_.reserve(FLUSH_ROWS); }

    void tell(Watched kind, std::int64_t actor, std::int64_t begin_ps, std::int64_t end_ps, std::int64_t first = 0,
              std::int64_t second = 0, std::int64_t third = 0) {
        rows_.push_back({kind, actor, begin_ps, end_ps, first, second, third});
        if (rows_.size() == FLUSH_ROWS) flush();
    }

    void flush() {
        if (!rows_.empty()) watcher_(rows_.data(), rows_.size());
        rows_.clear();
    }

    // From `time_ps` on, `used` bytes (or faults) per second of `resource` are in use.
    void load(std::int64_t time_ps, std::int64_t resource, std::int64_t used) {
        tell(Watched::LOAD, resource, time_ps, time_ps, used);
    }

    // From `time_ps` on, there are `tasks` in `queue`.
    void length(std::int64_t time_ps, std::int64_t queue, std::int64_t tasks) {
        tell(Watched::LENGTH, queue, time_ps, time_ps, tasks);
    }

    // The worker's stretch from `began_ps` to `end_ps`; unreported time before it is overhead.
    void stretch(Worker& w, Watched kind, std::int64_t end_ps, std::int64_t first = 0, std::int64_t second = 0,
                 std::int64_t third = 0) {
        const std::int64_t begin_ps = std::min(w.began_ps, end_ps);
        overhead(w, begin_ps);
        tell(kind, w.id, begin_ps, end_ps, first, second, third);
        w.reported_until_ps = end_ps;
    }

    // Unreported time up to `end_ps` was overhead.
    void overhead(Worker& w, std::int64_t end_ps) {
        if (end_ps <= w.reported_until_ps) return;
        tell(Watched::OVERHEAD, w.id, w.reported_until_ps, end_ps);
        w.reported_until_ps = end_ps;
    }

private:
    Watcher watcher_;
    std::vector<WatchedRow> rows_;
};

}  // namespace numasim
