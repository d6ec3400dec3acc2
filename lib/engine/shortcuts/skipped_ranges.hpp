// Skipping ahead over the items of implicit ranges that workers are dealt (model 1.7 and 3.5).
//
// A worker begins the first item that it was dealt. It takes its other items one by one from the near end of its queue,
// with one pop each. Thieves take single items from the far end. The items of a worker are its *run*. The state of a
// worker is therefore one time, the end of its run, which determines when the item at the far end leaves the queue.
//
// When a worker's speed changes, the remaining time of the present item is scaled, and later items take their times at
// the new speed. The work for a change of speed grows with the number of items in the run. If items differ and speeds
// may change, a run therefore consists of only the worker's next few items: its portion.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "checked.hpp"
#include "memory/memory_system.hpp"
#include "shortcuts/skipped_work.hpp"
#include "state/run.hpp"

namespace numasim {

constexpr std::int64_t PORTION = 16;  // items of a portion, if items differ and speeds may change

constexpr Items last_of(const Items& items, std::int64_t count) {
    return {items.first + (items.count - count) * items.step, items.step, count};
}

inline WorkTime times_over(std::int64_t times, const WorkTime& each) {
    return {product_ps(times, each.nominal_ps), product_ps(times, each.undisturbed_ps),
            product_ps(times, each.local_ps), product_ps(times, each.pages_ps)};
}

class SkippedRanges final : public SkippedWork {
public:
    // The arguments must outlive the object.
    SkippedRanges(Run& run, MemorySystem& memory)
        : SkippedWork(run.team.size()),
          memory_(memory),
          run_(run),
          pop_ps_(run.plan.costs.pop_ps),
          like_(run.team.size()),
          shares_(run.team.size()) {}

    // Begin a phase that consists of range number `family`, with the workers' present speeds.
    void start_phase(std::size_t family) {
        family_ = family;
        uniform_ = run_.ranges.times(family).uniform() && run_.plan.effects.task_noise_ppm == 0;
        for (const Worker& w : run_.team) {
            if (uniform_) like_[w.id] = memory_.item_time(w, family, 0, memory_.speed(w));
        }
        speeds_matter_ = std::ranges::any_of(run_.team, [this](const Worker& w) { return may_change(w); });
    }

    // Deal at least one item to a worker at the start of a phase.
    void start(Worker& w, Items items, std::int64_t now_ps) {
        const Items queued = last_of(items, items.count - 1);
        Share& share =
            shares_[w.id] = {.items = {items.first, items.step, 1}, .queued = queued, .speed = memory_.speed(w)};
        if (w.own_back) share.queued = {queued.at(queued.count - 1), -queued.step, queued.count};
        ++unfinished_;
        start_portion(w, share, 0, now_ps);
    }

    bool holds_task(Worker& victim, std::int64_t now_ps) {
        const Share& share = shares_[victim.id];
        if (share.portion == 0 || share.stolen) return false;
        return share.queued.count != 0 || share.items.count > share.portion ||
               end_ps_[victim.id] - share.farthest.nominal_ps - pop_ps_ > now_ps;
    }

    void steal(Worker& thief, Worker& victim, std::int64_t now_ps) {
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

    RunEnd ended(Worker& w, std::int64_t now_ps) {
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

    bool change_speed(Worker& w, std::int64_t now_ps) {
        Share& share = shares_[w.id];
        const Speed speed = memory_.speed(w);
        const bool as_before = uniform_ ? like_[w.id].nominal_ps == memory_.item_time(w, family_, 0, speed).nominal_ps
                                        : share.speed == speed;
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
        const std::int64_t left_ps = std::min(item_end_ps - now_ps, before.in_hand_ps);  // or it pays overhead
        const std::int64_t scaled = scaled_ps(left_ps, before.in_hand_ps, after.in_hand_ps);
        const std::int64_t end_ps = sum_ps(sum_ps(item_end_ps - left_ps, scaled), after.behind_ps);
        w.counters.inflation_smt_ps += end_ps - end_ps_[w.id];
        move_end(w.id, end_ps);
        measure_farthest(w, share);
        return true;
    }

    // Whether all items take the same time, whatever other workers do (the time may differ between workers).
    bool like_and_steady() const { return uniform_ && !speeds_matter_; }
    // If all items are alike: the time of a stolen item; the time of an item of the worker's own queue, with the pop.
    std::int64_t stolen_item_ps(const Worker& w) const { return like_[w.id].nominal_ps; }
    std::int64_t item_ps(const Worker& w) const { return like_[w.id].nominal_ps + pop_ps_; }

    // If all items are alike: `thief`, which has no run, executes `items` stolen items. The last ends at `end_ps`.
    void steal_like(Worker& thief, std::int64_t items, std::int64_t end_ps) {
        const WorkTime& each = like_[thief.id];
        end_ps_[thief.id] = end_ps;
        shares_[thief.id] = {.items = {0, 1, 1}, .portion = 1, .stolen = true, .speed = memory_.speed(thief)};
        span_ps_ = std::max(span_ps_, each.local_ps);
        count(thief, items, times_over(items, each));
        memory_.move_items(thief, family_, {0, 1, 1}, items);
    }

    // If all items are alike: take `items` items from `victim`, which holds more items.
    void lose_like(Worker& victim, std::int64_t items) {
        Share& share = shares_[victim.id];
        end_ps_[victim.id] -= items * item_ps(victim);
        count(victim, -items, times_over(-items, like_[victim.id]));
        victim.counters.overhead_ps -= items * pop_ps_;
        memory_.move_items(victim, family_, {0, 1, 1}, -items);
        share.items.count -= items;
        share.portion -= items;
    }

private:
    // Empty queues stay empty, and the phase ends with the last item. Speeds may change when the first run ends.
    std::int64_t next_change_ps() const {
        if (!speeds_matter_) return *std::ranges::max_element(end_ps_);
        std::int64_t first_ps = std::numeric_limits<std::int64_t>::max();
        for (std::size_t w = 0; w < shares_.size(); ++w) {
            if (shares_[w].portion != 0) first_ps = std::min(first_ps, end_ps_[w]);
        }
        return first_ps;
    }

    // The dealt items that a worker still has, in the order of execution (the first `portion` of them are its run), or
    // the one item that it has stolen.
    struct Share {
        Items items{0, 1, 0};
        Items queued{0, 1, 0};     // while the worker executes its first item: its other items
        std::int64_t portion = 0;  // number of items in the worker's run; 0: no run
        bool stolen = false;
        Speed speed{};
        WorkTime farthest{};  // the time of the item at the far end
    };

    // Sums of times of several items.
    struct WorkSums {
        WorkTime sum{};
        std::int64_t longest_local_ps = 0;
    };

    // The times of the present item (from its start to its end) and of all later items of a run.
    struct Course {
        std::int64_t in_hand_ps, behind_ps;
    };

    // Whether the time that the worker takes for an item depends on what other workers do.
    bool may_change(const Worker& w) const {
        const Speed busy = memory_.speed_beside(w, Activity::EXECUTES), idle = memory_.speed_beside(w, Activity::POLLS);
        if (!uniform_) return busy != idle;
        return memory_.item_time(w, family_, 0, busy).nominal_ps != memory_.item_time(w, family_, 0, idle).nominal_ps;
    }

    // Start a portion. Before each of its items the worker spends `pop_ps`.
    void start_portion(Worker& w, Share& share, std::int64_t pop_ps, std::int64_t now_ps) {
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

    WorkTime time(const Worker& w, const Share& share, std::int64_t item) const {
        return uniform_ ? like_[w.id] : memory_.item_time(w, family_, item, share.speed);
    }

    WorkSums sums(const Worker& w, const Share& share, Items items) const {
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

    void set_speed(const Worker& w, Share& share, const Speed& speed) {
        share.speed = speed;
        if (uniform_) like_[w.id] = memory_.item_time(w, family_, 0, speed);
    }

    // The number of items of the portion that are still in the worker's queue.
    std::int64_t items_behind(const Worker& w, const Share& share, std::int64_t now_ps) const {
        const std::int64_t most = share.portion - 1;
        if (uniform_) return item_ps(w) == 0 ? 0 : std::min(most, ceil_div(end_ps_[w.id] - now_ps, item_ps(w)) - 1);
        std::int64_t behind = 0;
        for (std::int64_t taken_ps = end_ps_[w.id]; behind < most; ++behind) {
            taken_ps -= time(w, share, share.items.at(most - behind)).nominal_ps + pop_ps_;
            if (taken_ps <= now_ps) break;
        }
        return behind;
    }

    Course course(const Worker& w, const Share& share, std::int64_t behind) const {
        const std::int64_t in_hand = share.portion - 1 - behind;
        const Items items{share.items.at(in_hand + 1), share.items.step, behind};
        const std::int64_t behind_ps = sum_ps(sums(w, share, items).sum.nominal_ps, product_ps(behind, pop_ps_));
        return {time(w, share, share.items.at(in_hand)).nominal_ps, behind_ps};
    }

    void measure_farthest(const Worker& w, Share& share) {
        share.farthest = time(w, share, share.items.at(share.items.count - 1));
    }

    // Take the item at the far end from `victim`, which executes another item.
    void lose_farthest(Worker& victim, Share& share) {
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

    static void count(Worker& w, std::int64_t items, const WorkTime& times) {
        w.counters.tasks += items;
        ns_count_work(&w.counters, times.undisturbed_ps, times.local_ps);
        w.counters.overhead_ps += times.pages_ps;
        w.counters.inflation_smt_ps += times.nominal_ps - times.undisturbed_ps - times.pages_ps;
    }

    MemorySystem& memory_;
    const Run& run_;
    const std::int64_t pop_ps_;
    std::size_t family_ = 0;      // the range of the present phase
    bool uniform_ = true;         // whether all items of the phase have equal times
    bool speeds_matter_ = false;  // whether other workers change the time of an item
    std::vector<WorkTime> like_;  // [workers] the time of an item if `uniform_`
    std::vector<Share> shares_;   // [workers]
};

}  // namespace numasim
