#include "shortcuts/skipped_work.hpp"

#include <algorithm>

namespace numasim {

std::int64_t SkippedWork::no_task_before_ps(std::span<Worker> workers, std::int64_t now_ps) {
    if (finished()) return now_ps;
    if (now_ps < no_task_before_ps_) return no_task_before_ps_;
    if (holds_task(workers[holder_], now_ps)) return now_ps;
    const auto holder = std::ranges::find_if(workers, [&](Worker& w) { return holds_task(w, now_ps); });
    if (holder != workers.end()) {
        holder_ = holder->id;
        return now_ps;
    }
    no_task_before_ps_ = next_change_ps();
    return std::max(no_task_before_ps_, now_ps);
}

}  // namespace numasim
