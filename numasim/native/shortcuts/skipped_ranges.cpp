#include "shortcuts/skipped_ranges.hpp"

#include <algorithm>

#include "checked.hpp"

namespace numasim {

SkippedRanges::SkippedRanges(std::size_t workers, std::size_t nodes, std::int64_t pop_ps, std::int64_t* bytes)
    : SkippedWork(workers), shares_(workers), nodes_(nodes), pop_ps_(pop_ps), bytes_(bytes) {}

void SkippedRanges::start(Worker& w, const ItemTimes& times, Items items, std::int64_t now_ps) {
    const ItemSums sums = times.sums(static_cast<std::size_t>(w.node), items);
    const std::int64_t pops_ps = product_ps(items.count, pop_ps_);
    end_ps_[w.id] = sum_ps(sum_ps(now_ps, ns_pay_owed(&w)), sum_ps(pops_ps, sums.total_ps));
    span_ps_ = std::max(span_ps_, sums.longest_local_ps);
    ++unfinished_;
    count(w, items.count, sums.total_ps, sums.local_ps);
    w.counters.overhead_ps += pops_ps;
    times.add_traffic(items, 1, bytes_of(w));
    Share& share = shares_[w.id] = {&times, items};
    measure_farthest(w, share);
}

bool SkippedRanges::holds_task(Worker& victim, std::int64_t now_ps) {
    const Share& share = shares_[victim.id];
    return share.items.count != 0 && end_ps_[victim.id] - share.farthest.total_ps - pop_ps_ > now_ps;
}

void SkippedRanges::steal(Worker& thief, Worker& victim, std::int64_t now_ps) {
    Share& share = shares_[victim.id];
    const std::int64_t item = farthest_item(victim, share.items);
    const auto [total, local] = share.times->time(static_cast<std::size_t>(thief.node), item);
    end_ps_[thief.id] = now_ps + ns_pay_owed(&thief) + total;
    ++unfinished_;
    span_ps_ = std::max(span_ps_, local);
    count(thief, 1, total, local);
    share.times->add_traffic(item, bytes_of(thief));
    share.times->add_traffic(item, bytes_of(victim), -1);
    lose_farthest(victim, share);
}

RunEnd SkippedRanges::ended(Worker& w, std::int64_t) {
    shares_[w.id].items.count = 0;
    --unfinished_;
    return {};
}

void SkippedRanges::steal_like(Worker& thief, const ItemTimes& times, std::int64_t items, std::int64_t end_ps) {
    const auto [total, local] = times.time(static_cast<std::size_t>(thief.node), 0);
    end_ps_[thief.id] = end_ps;
    shares_[thief.id].items.count = 0;
    span_ps_ = std::max(span_ps_, local);
    count(thief, items, items * total, items * local);
    times.add_traffic({0, 0, 1}, items, bytes_of(thief));
}

void SkippedRanges::lose_like(Worker& victim, std::int64_t items) {
    Share& share = shares_[victim.id];
    const auto [total, local] = share.farthest;
    end_ps_[victim.id] -= items * (total + pop_ps_);
    count(victim, -items, -items * total, -items * local);
    victim.counters.overhead_ps -= items * pop_ps_;
    share.times->add_traffic({0, 0, 1}, -items, bytes_of(victim));
    share.items.count -= items;
    if (victim.own_back) share.items.first += items * share.items.step;
}

// Once the queues are empty nothing comes into them, and all ends with the last item.
std::int64_t SkippedRanges::next_change_ps() const { return *std::ranges::max_element(end_ps_); }

std::int64_t SkippedRanges::farthest_item(const Worker& w, const Items& items) {
    return items.at(w.own_back ? 0 : items.count - 1);
}

void SkippedRanges::measure_farthest(const Worker& w, Share& share) {
    share.farthest = share.times->time(static_cast<std::size_t>(w.node), farthest_item(w, share.items));
}

// Take the farthest item from its owner, for whom it had been counted and who has another in hand.
void SkippedRanges::lose_farthest(Worker& victim, Share& share) {
    end_ps_[victim.id] -= share.farthest.total_ps + pop_ps_;
    count(victim, -1, -share.farthest.total_ps, -share.farthest.local_ps);
    victim.counters.overhead_ps -= pop_ps_;
    --share.items.count;
    if (victim.own_back) share.items.first += share.items.step;
    measure_farthest(victim, share);
}

void SkippedRanges::count(Worker& w, std::int64_t items, std::int64_t total_ps, std::int64_t local_ps) {
    w.counters.tasks += items;
    ns_count_work(&w.counters, total_ps, local_ps);
}

}  // namespace numasim
