#include "ranges_ahead.hpp"

#include <algorithm>

namespace numasim {

RangesAhead::RangesAhead(std::size_t workers, std::size_t nodes, std::int64_t pop_ps, std::int64_t* bytes)
    : Ahead(workers), shares_(workers), nodes_(nodes), pop_ps_(pop_ps), bytes_(bytes) {}

void RangesAhead::start(Worker& w, const ItemTimes& times, Items items, std::int64_t now_ps) {
    const auto node = static_cast<std::size_t>(w.node);
    const ItemSums sums = times.sums(node, items);
    const std::int64_t pops_ps = items.count * pop_ps_;
    end_ps_[w.id] = now_ps + pay_owed(w) + pops_ps + sums.total_ps;
    span_ps_ = std::max(span_ps_, sums.longest_local_ps);
    started();
    w.counters.tasks += items.count;
    w.counters.work_local_ps += sums.local_ps;
    w.counters.inflation_numa_ps += sums.total_ps - sums.local_ps;
    w.counters.overhead_ps += pops_ps;
    times.add_traffic(items, 1, bytes_ + node * nodes_);
    Share& share = shares_[w.id] = {&times, items};
    measure_farthest(w, share);
}

bool RangesAhead::holds_task(Worker& victim, std::int64_t now_ps) {
    const Share& share = shares_[victim.id];
    return share.items.count != 0 && end_ps_[victim.id] - share.farthest_ps > now_ps;
}

void RangesAhead::steal(Worker& thief, Worker& victim, std::int64_t now_ps) {
    Share& share = shares_[victim.id];
    const ItemTimes& times = *share.times;
    const std::int64_t item = farthest(victim, share.items);
    lose(victim, share, item);
    end_ps_[thief.id] = now_ps + pay_owed(thief) + times.total_ps(static_cast<std::size_t>(thief.node), item);
    count(thief, times, item, 1);
    started();
}

StrandEnd RangesAhead::ended(Worker& w, std::int64_t) {
    shares_[w.id].items.count = 0;
    --unfinished_;
    return {};
}

// Once the queues are empty nothing comes into them, and all ends with the last item.
std::int64_t RangesAhead::next_change_ps() const { return *std::ranges::max_element(end_ps_); }

std::int64_t RangesAhead::farthest(const Worker& w, const Items& items) {
    return items.at(w.own_back ? 0 : items.count - 1);
}

void RangesAhead::measure_farthest(const Worker& w, Share& share) {
    share.farthest_ps = pop_ps_ + share.times->total_ps(static_cast<std::size_t>(w.node), farthest(w, share.items));
}

// Take the farthest item from its owner, for whom it had been counted.
void RangesAhead::lose(Worker& victim, Share& share, std::int64_t item) {
    end_ps_[victim.id] -= share.farthest_ps;
    count(victim, *share.times, item, -1);
    victim.counters.overhead_ps -= pop_ps_;
    --share.items.count;
    if (victim.own_back) share.items.first += share.items.step;
    measure_farthest(victim, share);
}

void RangesAhead::count(Worker& w, const ItemTimes& times, std::int64_t item, std::int64_t times_counted) {
    const auto node = static_cast<std::size_t>(w.node);
    const std::int64_t local = times.local_ps(node, item);
    w.counters.tasks += times_counted;
    w.counters.work_local_ps += times_counted * local;
    w.counters.inflation_numa_ps += times_counted * (times.total_ps(node, item) - local);
    times.add_traffic({item, 1, 1}, times_counted, bytes_ + node * nodes_);
}

}  // namespace numasim
