#include "engine/queues.hpp"

#include <algorithm>
#include <numeric>

namespace numasim {

namespace {
constexpr std::int64_t UNBOUNDED_TASKS = std::int64_t{1} << 62;
}

Queues::Queues(const ns_plan& plan, const ns_threshold_rules& rules)
    : plan_(plan),
      watched_(plan.watches != 0),
      entries_(plan.queue_count),
      length_(plan.queue_count, 0),
      capacity_(plan.queue_count, UNBOUNDED_TASKS),
      pushes_(plan.queue_count, 0),
      peak_(plan.queue_count, 0),
      thresholds_(plan.queue_count),
      bits_(std::size_t{plan.watches} * plan.queue_count, 0) {
    for (std::uint32_t q = 0; q < plan.queue_count; ++q) {
        if (plan.queues[q].capacity != 0) capacity_[q] = plan.queues[q].capacity;
        thresholds_[q] = ns_thresholds_first(&rules, capacity_[q]);
    }
}

void Queues::pushed(std::uint32_t q, std::int64_t count) {
    pushes_[q] += count;
    peak_[q] = std::max(peak_[q], length_[q]);
    mark(q);
}

std::int64_t Queues::peak_sum() const { return std::accumulate(peak_.begin(), peak_.end(), std::int64_t{0}); }

bool Queues::any_marked() const {
    return std::any_of(bits_.begin(), bits_.end(), [](std::uint8_t bit) { return bit != 0; });
}

}  // namespace numasim
