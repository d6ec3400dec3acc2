#include "ahead.hpp"

#include <algorithm>

namespace numasim {

std::int64_t Ahead::barren_until_ps(std::span<Worker> workers, std::int64_t now_ps) {
    if (finished()) return now_ps;
    if (now_ps < barren_until_ps_) return barren_until_ps_;
    if (holds_task(workers[holder_], now_ps)) return now_ps;
    const auto holder = std::ranges::find_if(workers, [&](Worker& w) { return holds_task(w, now_ps); });
    if (holder != workers.end()) {
        holder_ = holder->id;
        return now_ps;
    }
    barren_until_ps_ = next_change_ps();
    return std::max(barren_until_ps_, now_ps);
}

}  // namespace numasim
