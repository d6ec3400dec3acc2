#include "shortcuts/skipped_ranges.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "checked.hpp"

namespace numasim {

namespace {

constexpr std::int64_t PORTION = 16;  // items of a portion, if they differ and speeds may change

constexpr Items last_of(const Items& items, std::int64_t count) {
    return {items.first + (items.count - count) * items.step, items.step, count};
}

WorkTime times_over(std::int64_t times, const WorkTime& each) {
    return {product_ps(times, each.nominal_ps), product_ps(times, each.undisturbed_ps),
            product_ps(times, each.local_ps), product_ps(times, each.pages_ps)};
}

}  // namespace

SkippedRanges::SkippedRanges(Run& run, MemorySystem& memory)
    : SkippedWork(run.team.size()),
      memory_(memory),
      run_(run),
      pop_ps_(run.plan.costs.pop_ps),
      like_(run.team.size()),
      shares_(run.team.size()) {}

// ---- portions -----------------------------------------------------------------------------------------------------

void SkippedRanges::start_phase(std::size_t family) {
    family_ = family;
    uniform_ = run_.ranges.times(family).uniform() && run_.plan.effects.task_noise_ppm == 0;
    for (const Worker& w : run_.team) {
        if (uniform_) like_[w.id] = memory_.item_time(w, family, 0, memory_.speed(w));
    }
    speeds_matter_ = std::ranges::any_of(run_.team, [this](const Worker& w) { return may_change(w); });
}

// Whether other workers change how long an item takes the worker.
bool SkippedRanges::may_change(const Worker& w) const {
    const Speed busy = memory_.speed_beside(w, Activity::EXECUTES), idle = memory_.speed_beside(w, Activity::POLLS);
    if (!uniform_) return busy != idle;
    return memory_.item_time(w, family_, 0, busy).nominal_ps != memory_.item_time(w, family_, 0, idle).nominal_ps;
}

void SkippedRanges::start(Worker& w, Items items, std::int64_t now_ps) {
    const Items queued = last_of(items, items.count - 1);
    Share& share = shares_[w.id] = {.items = {items.first, items.step, 1}, .queued = queued, .speed = memory_.speed(w)};
    if (w.own_back) share.queued = {queued.at(queued.count - 1), -queued.step, queued.count};
    ++unfinished_;
    start_portion(w, share, 0, now_ps);
}

void SkippedRanges::start_portion(Worker& w, Share& share, std::int64_t pop_ps, std::int64_t now_ps) {
    const std::int64_t left = share.items.count;
    share.portion = uniform_ || !speeds_matter_ ? left : std::min(left, PORTION);
    const Items portion{share.items.first, share.items.step, share.portion};
    const auto [sum, longest_local_ps] = sums(w, share, portion);
    const std::int64_t pops_ps = product_ps(share.portion, pop_ps);
    move_end(w.id, sum_ps(sum_ps(now_ps, ns_pay_owed(&w)), sum_ps(pops_ps, sum.nominal_ps)));
    span_ps_ = std::max(span_ps_, longest_local_ps);
    count(w, share.portion, sum);
    w.counters.overhead_ps += pops_ps;
    memory_.move_items(w, family_, portion, 1);
    measure_farthest(w, share);
}

RunEnd SkippedRanges::ended(Worker& w, std::int64_t now_ps) {
    Share& share = shares_[w.id];
    share.items = last_of(share.items, share.items.count - share.portion);
    share.portion = 0;
    if (share.items.count == 0) share.items = std::exchange(share.queued, Items{0, 1, 0});
    if (share.items.count != 0) {
        start_portion(w, share, pop_ps_, now_ps);
        return {.goes_on = true};
    }
    --unfinished_;
    return {};
}

// ---- steals -------------------------------------------------------------------------------------------------------

bool SkippedRanges::holds_task(Worker& victim, std::int64_t now_ps) {
    const Share& share = shares_[victim.id];
    if (share.portion == 0 || share.stolen) return false;
    return share.queued.count != 0 || share.items.count > share.portion ||
           end_ps_[victim.id] - share.farthest.nominal_ps - pop_ps_ > now_ps;
}

void SkippedRanges::steal(Worker& thief, Worker& victim, std::int64_t now_ps) {
    Share& robbed = shares_[victim.id];
    const Items item = last_of(robbed.queued.count != 0 ? robbed.queued : robbed.items, 1);
    Share& share = shares_[thief.id] = {.items = item, .portion = 1, .stolen = true, .speed = memory_.speed(thief)};
    const WorkTime taken = time(thief, share, item.first);
    end_ps_[thief.id] = now_ps + ns_pay_owed(&thief) + taken.nominal_ps;
    ++unfinished_;
    span_ps_ = std::max(span_ps_, taken.local_ps);
    count(thief, 1, taken);
    memory_.move_items(thief, family_, item, 1);
    lose_farthest(victim, robbed);
}

// Take the farthest item from its owner, which has another item at hand.
void SkippedRanges::lose_farthest(Worker& victim, Share& share) {
    if (share.queued.count != 0) {
        --share.queued.count;
        return;
    }
    const bool counted = share.items.count == share.portion;
    if (counted) {
        end_ps_[victim.id] -= share.farthest.nominal_ps + pop_ps_;
        count(victim, -1, times_over(-1, share.farthest));
        victim.counters.overhead_ps -= pop_ps_;
        memory_.move_items(victim, family_, last_of(share.items, 1), -1);
        --share.portion;
    }
    --share.items.count;
    measure_farthest(victim, share);
}

void SkippedRanges::steal_like(Worker& thief, std::int64_t items, std::int64_t end_ps) {
    const WorkTime& each = like_[thief.id];
    end_ps_[thief.id] = end_ps;
    shares_[thief.id] = {.items = {0, 1, 1}, .portion = 1, .stolen = true, .speed = memory_.speed(thief)};
    span_ps_ = std::max(span_ps_, each.local_ps);
    count(thief, items, times_over(items, each));
    memory_.move_items(thief, family_, {0, 1, 1}, items);
}

void SkippedRanges::lose_like(Worker& victim, std::int64_t items) {
    Share& share = shares_[victim.id];
    end_ps_[victim.id] -= items * item_ps(victim);
    count(victim, -items, times_over(-items, like_[victim.id]));
    victim.counters.overhead_ps -= items * pop_ps_;
    memory_.move_items(victim, family_, {0, 1, 1}, -items);
    share.items.count -= items;
    share.portion -= items;
}

// Once all queues are empty they stay empty, and the phase ends with the last item. If speeds matter, they change when
// the first run ends.
std::int64_t SkippedRanges::next_change_ps() const {
    if (!speeds_matter_) return *std::ranges::max_element(end_ps_);
    std::int64_t first_ps = std::numeric_limits<std::int64_t>::max();
    for (std::size_t w = 0; w < shares_.size(); ++w) {
        if (shares_[w].portion != 0) first_ps = std::min(first_ps, end_ps_[w]);
    }
    return first_ps;
}

// ---- times --------------------------------------------------------------------------------------------------------

SkippedRanges::WorkSums SkippedRanges::sums(const Worker& w, const Share& share, Items items) const {
    if (uniform_) return {times_over(items.count, like_[w.id]), like_[w.id].local_ps};
    if (!memory_.coupled()) {
        const ItemSums known = run_.ranges.times(family_).sums(static_cast<std::size_t>(w.node), items);
        return {{known.total_ps, known.total_ps, known.local_ps, 0}, known.longest_local_ps};
    }
    WorkSums found;
    for (std::int64_t i = 0; i < items.count; ++i) {
        const WorkTime each = time(w, share, items.at(i));
        found.sum.nominal_ps = sum_ps(found.sum.nominal_ps, each.nominal_ps);
        found.sum.undisturbed_ps = sum_ps(found.sum.undisturbed_ps, each.undisturbed_ps);
        found.sum.local_ps = sum_ps(found.sum.local_ps, each.local_ps);
        found.sum.pages_ps = sum_ps(found.sum.pages_ps, each.pages_ps);
        found.longest_local_ps = std::max(found.longest_local_ps, each.local_ps);
    }
    return found;
}

void SkippedRanges::measure_farthest(const Worker& w, Share& share) {
    share.farthest = time(w, share, share.items.at(share.items.count - 1));
}

void SkippedRanges::count(Worker& w, std::int64_t items, const WorkTime& times) {
    w.counters.tasks += items;
    ns_count_work(&w.counters, times.undisturbed_ps, times.local_ps);
    w.counters.overhead_ps += times.pages_ps;
    w.counters.inflation_smt_ps += times.nominal_ps - times.undisturbed_ps - times.pages_ps;
}

// ---- speeds -------------------------------------------------------------------------------------------------------

bool SkippedRanges::change_speed(Worker& w, std::int64_t now_ps) {
    Share& share = shares_[w.id];
    const Speed speed = memory_.speed(w);
    const bool as_before =
        uniform_ ? like_[w.id].nominal_ps == memory_.item_time(w, family_, 0, speed).nominal_ps : share.speed == speed;
    if (as_before) return false;
    if (share.portion == 0) {
        set_speed(w, share, speed);
        return false;
    }
    const std::int64_t behind = items_behind(w, share, now_ps);
    const Course before = course(w, share, behind);
    set_speed(w, share, speed);
    const Course after = course(w, share, behind);
    const std::int64_t item_end_ps = end_ps_[w.id] - before.behind_ps;
    const std::int64_t left_ps = std::min(item_end_ps - now_ps, before.in_hand_ps);  // it may still pay overhead
    const std::int64_t scaled = scaled_ps(left_ps, before.in_hand_ps, after.in_hand_ps);
    const std::int64_t end_ps = sum_ps(sum_ps(item_end_ps - left_ps, scaled), after.behind_ps);
    w.counters.inflation_smt_ps += end_ps - end_ps_[w.id];
    move_end(w.id, end_ps);
    measure_farthest(w, share);
    return true;
}

void SkippedRanges::set_speed(const Worker& w, Share& share, const Speed& speed) {
    share.speed = speed;
    if (uniform_) like_[w.id] = memory_.item_time(w, family_, 0, speed);
}

// The number of items of the portion that the worker has not taken out of its queue.
std::int64_t SkippedRanges::items_behind(const Worker& w, const Share& share, std::int64_t now_ps) const {
    const std::int64_t most = share.portion - 1;
    if (uniform_) return item_ps(w) == 0 ? 0 : std::min(most, ceil_div(end_ps_[w.id] - now_ps, item_ps(w)) - 1);
    std::int64_t behind = 0;
    for (std::int64_t taken_ps = end_ps_[w.id]; behind < most; ++behind) {
        taken_ps -= time(w, share, share.items.at(most - behind)).nominal_ps + pop_ps_;
        if (taken_ps <= now_ps) break;
    }
    return behind;
}

SkippedRanges::Course SkippedRanges::course(const Worker& w, const Share& share, std::int64_t behind) const {
    const std::int64_t in_hand = share.portion - 1 - behind;
    const Items items{share.items.at(in_hand + 1), share.items.step, behind};
    const std::int64_t behind_ps = sum_ps(sums(w, share, items).sum.nominal_ps, product_ps(behind, pop_ps_));
    return {time(w, share, share.items.at(in_hand)).nominal_ps, behind_ps};
}

}  // namespace numasim
