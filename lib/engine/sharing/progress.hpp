// The progress of flows (memory/flows.hpp): exact, in units of 2^-48 ps, as shares are in units of 2^-48 (model 2.5;
// engine/reference/memory/flows.py).
//
// All flows of a rate group (rate_groups.hpp) proceed at the same share of their full speed: the level of the group. A
// group has a *virtual time*, which passes at the rate of the level (Demers, Keshav and Shenker, Analysis and
// simulation of a fair queueing algorithm, 1989, section 2). Each flow of the group ends at a fixed virtual time. A
// change of the level therefore changes one number and one event, for any number of flows. A class of flows that joins
// another group keeps its own virtual time, at a fixed distance from the virtual time of the group. To join therefore
// also changes one number. Flows without a class have events of their own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "checked.hpp"
#include "sharing/rate_groups.hpp"
#include "state/event_tree.hpp"

namespace numasim {

// The virtual time at which flow `number` ends, or at which the first flow of class `number` ends.
struct End {
    Wide time;
    std::uint32_t number;
};

// A binary heap of ends in virtual time. Each end can be changed or taken out.
class EndHeap {
public:
    // [numbers] the place of each number in its heap. Several heaps with different numbers may share one vector.
    using Places = std::vector<std::uint32_t>;
    static constexpr std::uint32_t NOWHERE = UINT32_MAX;

    bool empty() const { return ends_.empty(); }
    const End& first() const { return ends_.front(); }
    bool is_first(std::uint32_t number) const { return !ends_.empty() && ends_.front().number == number; }

    // `put`: add or change the end of a number. `take_out`: remove it.
    void put(const End& end, Places& places) {
        std::uint32_t& place = places[end.number];
        if (place == NOWHERE) {
            place = static_cast<std::uint32_t>(ends_.size());
            ends_.push_back(end);
        }
        sift(place, end, places);
    }
    void take_out(std::uint32_t number, Places& places) {
        const std::size_t place = places[number];
        if (place == NOWHERE) return;
        places[number] = NOWHERE;
        const End last = ends_.back();
        ends_.pop_back();
        if (last.number != number) sift(place, last, places);
    }

    // Calls `visit(number)` for each number whose end is at or before `until`.
    template <typename Visit>
    void each_until(Wide until, Visit&& visit, std::size_t from = 0) const {
        if (from >= ends_.size() || ends_[from].time > until) return;
        visit(ends_[from].number);
        each_until(until, visit, 2 * from + 1);
        each_until(until, visit, 2 * from + 2);
    }

private:
    // Put `end` into the heap, at the free place `at` or above or below it.
    void sift(std::size_t at, const End& end, Places& places) {
        const auto put = [&](const End& what) {
            ends_[at] = what;
            places[what.number] = static_cast<std::uint32_t>(at);
        };
        for (; at != 0 && end.time < ends_[(at - 1) / 2].time; at = (at - 1) / 2) put(ends_[(at - 1) / 2]);
        for (std::size_t child = 0; (child = 2 * at + 1) < ends_.size(); at = child) {
            if (child + 1 < ends_.size() && ends_[child + 1].time < ends_[child].time) ++child;
            if (ends_[child].time >= end.time) break;
            put(ends_[child]);
        }
        put(end);
    }

    std::vector<End> ends_;
};

constexpr std::int64_t TOO_LATE_PS = LATEST_PS + 1;

// The time, rounded up, at which a flow ends that has `left` to do at `since_ps` and proceeds at `share`.
inline std::int64_t end_after(std::int64_t since_ps, Wide left, std::int64_t share) {
    if (left <= 0) return since_ps;
    const Wide end = since_ps + (share == ONE ? (left + ONE - 1) >> SHARE_BITS : (left + share - 1) / share);
    return end > TOO_LATE_PS ? TOO_LATE_PS : static_cast<std::int64_t>(end);
}

// The progress of the flows of all workers.
class Progress {
public:
    Progress(std::size_t workers, std::size_t groups)
        : flows_(workers),
          classes_(workers),
          groups_(groups),
          flow_places_(workers, EndHeap::NOWHERE),
          class_places_(workers, EndHeap::NOWHERE) {}

    // Start the worker's flow at `since_ps`, with `left_ps` to do. The flow is in no class and has the share `share`.
    void start(std::uint32_t worker, std::int64_t left_ps, std::int64_t since_ps, std::int64_t share) {
        Flow& flow = flows_[worker];
        flow.left = Wide{left_ps} << SHARE_BITS;
        flow.since_ps = since_ps;
        flow.share = share;
    }

    // The worker's flow has ended.
    void stop(std::uint32_t worker) {
        if (is_grouped(worker)) take_out(worker);
    }

    // `move` puts a flow into a class or into no class. `regroup` puts a class into a group. `set_level` changes the
    // level of a group. `set_share` changes the share of a flow without a class.
    void move(std::uint32_t worker, std::uint32_t number, std::int64_t now_ps) {
        Flow& flow = flows_[worker];
        if (flow.number == number) return;
        const Wide left = this->left(flow, now_ps);
        if (flow.number != NO_CLASS) take_out(worker);
        flow.left = left;
        flow.since_ps = std::max(flow.since_ps, now_ps);
        if (number == NO_CLASS) return;
        advance(groups_[classes_[number].group], now_ps);
        enter(worker, number, left);
    }

    void regroup(std::uint32_t number, std::uint32_t group, std::int64_t now_ps) {
        Class& moved = classes_[number];
        if (moved.group == group) return;
        Group &before = groups_[moved.group], &after = groups_[group];
        advance(before, now_ps);
        advance(after, now_ps);
        before.ends.take_out(number, class_places_);
        touch(moved.group);
        moved.ahead += before.time - after.time;
        moved.group = group;
        std::erase_if(before.waiting, [&](std::uint32_t worker) {
            Flow& flow = flows_[worker];
            if (flow.number != number) return false;
            flow.left += Wide{after.level - before.level} * (flow.since_ps - now_ps);
            moved.ends.put({flow.left, worker}, flow_places_);
            after.waiting.push_back(worker);
            return true;
        });
        put_first_end(number);
    }

    void set_level(std::uint32_t group, std::int64_t level, std::int64_t now_ps) {
        Group& changed = groups_[group];
        advance(changed, now_ps);
        for (const std::uint32_t worker : changed.waiting) {
            Flow& flow = flows_[worker];
            flow.left += Wide{level - changed.level} * (flow.since_ps - now_ps);
            put_end(worker);
        }
        changed.level = level;
        touch(group);
    }

    void set_share(std::uint32_t worker, std::int64_t share, std::int64_t now_ps) {
        Flow& flow = flows_[worker];
        flow.left = left(flow, now_ps);
        flow.since_ps = std::max(flow.since_ps, now_ps);
        flow.share = share;
    }

    // `left_ps`: the remaining time of a flow at full speed, rounded up. `put_left` and `restart` change it.
    std::int64_t left_ps(std::uint32_t worker, std::int64_t now_ps) const {
        return static_cast<std::int64_t>((left(flows_[worker], now_ps) + ONE - 1) >> SHARE_BITS);
    }

    void put_left(std::uint32_t worker, std::int64_t left_ps, std::int64_t now_ps) {
        restart(worker, left_ps, std::max(flows_[worker].since_ps, now_ps));
    }

    void restart(std::uint32_t worker, std::int64_t left_ps, std::int64_t since_ps) {
        Flow& flow = flows_[worker];
        if (!is_grouped(worker)) return start(worker, left_ps, since_ps, flow.share);
        const std::uint32_t number = flow.number;
        take_out(worker);
        flow.since_ps = since_ps;
        enter(worker, number, Wide{left_ps} << SHARE_BITS);
    }

    // Whether the flow is in a class. Its end is then found through the event of a group, and is no event of its own.
    bool is_grouped(std::size_t worker) const { return flows_[worker].number != NO_CLASS; }

    std::int64_t share(std::size_t worker) const {
        const Flow& flow = flows_[worker];
        return flow.number == NO_CLASS ? flow.share : group_of(flow).level;
    }

    // When the worker's flow ends if no share changes. The result for times beyond LATEST_PS is LATEST_PS + 1.
    std::int64_t end_ps(std::size_t worker) const {
        const Flow& flow = flows_[worker];
        if (flow.number == NO_CLASS) return end_after(flow.since_ps, flow.left, flow.share);
        const Group& group = group_of(flow);
        return end_after(group.since_ps, flow.left - classes_[flow.number].ahead - group.time, group.level);
    }

    // touched: the groups whose first end may have changed since the last `forget_changes`. first_end: the first end of
    // a group, as an event. first_end_now: the same, but NO_EVENT unless this end is at `now_ps`.
    std::span<const std::uint32_t> touched() const { return touched_; }

    EventKey first_end(std::uint32_t group) const {
        const Group& ending = groups_[group];
        if (ending.ends.empty()) return NO_EVENT;
        const Wide first = ending.ends.first().time;
        const std::int64_t due_ps = end_after(ending.since_ps, first - ending.time, ending.level);
        return event_of(ending, due_ps, std::max(first, ending.time_at(due_ps)));
    }

    EventKey first_end_now(std::uint32_t group, std::int64_t now_ps) const {
        return event_of(groups_[group], now_ps, groups_[group].time_at(now_ps));
    }

    void forget_changes() {
        for (const std::uint32_t each : touched_) groups_[each].touched = false;
        touched_.clear();
    }

private:
    // In a class, `left` is the virtual time of the class at which the flow ends; else the work left at `since_ps`.
    struct Flow {
        Wide left = 0;
        std::int64_t since_ps = 0, share = ONE;
        std::uint32_t number = NO_CLASS;
    };

    // The virtual time of the class is the virtual time of its group plus `ahead`.
    struct Class {
        Wide ahead = 0;
        std::uint32_t group = FREE_GROUP;
        EndHeap ends;  // ends of its flows
    };

    // `time` is the virtual time at `since_ps`. `waiting` are the workers whose flows begin later than `since_ps`.
    struct Group {
        Wide time = 0;
        std::int64_t since_ps = 0, level = ONE;
        EndHeap ends;  // the first ends of its classes, in the time of the group
        std::vector<std::uint32_t> waiting;
        bool touched = false;

        Wide time_at(std::int64_t ps) const { return time + Wide{ps - since_ps} * level; }
    };

    const Group& group_of(const Flow& flow) const { return groups_[classes_[flow.number].group]; }

    // The event at `due_ps` of all flows that end until the virtual time `until`. The event names the lowest worker.
    EventKey event_of(const Group& group, std::int64_t due_ps, Wide until) const {
        std::uint32_t first = UINT32_MAX;
        group.ends.each_until(until, [&](std::uint32_t number) {
            const Class& each = classes_[number];
            each.ends.each_until(until + each.ahead, [&](std::uint32_t worker) { first = std::min(first, worker); });
        });
        return first == UINT32_MAX ? NO_EVENT : event_key(due_ps, SEG_END, first);
    }

    // What is left of a flow at `now_ps`, or at the start of the flow if the start is later.
    Wide left(const Flow& flow, std::int64_t now_ps) const {
        const std::int64_t at_ps = std::max(flow.since_ps, now_ps);
        const Wide left = flow.number == NO_CLASS
                              ? flow.left - Wide{at_ps - flow.since_ps} * flow.share
                              : flow.left - classes_[flow.number].ahead - group_of(flow).time_at(at_ps);
        return std::max<Wide>(0, left);
    }

    // Put a flow into a class. `left` is the work of the flow that is left at the flow's `since_ps`.
    void enter(std::uint32_t worker, std::uint32_t number, Wide left) {
        Flow& flow = flows_[worker];
        const Class& entered = classes_[number];
        Group& group = groups_[entered.group];
        flow.number = number;
        flow.left = group.time_at(flow.since_ps) + entered.ahead + left;
        if (flow.since_ps > group.since_ps) group.waiting.push_back(worker);
        put_end(worker);
    }

    void take_out(std::uint32_t worker) {
        Flow& flow = flows_[worker];
        Class& left = classes_[flow.number];
        Group& group = groups_[left.group];
        if (flow.since_ps > group.since_ps) std::erase(group.waiting, worker);
        const bool was_first = left.ends.is_first(worker);
        left.ends.take_out(worker, flow_places_);
        if (was_first) put_first_end(flow.number);
        touch(left.group);
        flow.number = NO_CLASS;
        flow.share = ONE;
    }

    // Set `time` of a group to its virtual time at `now_ps`. Flows that have begun by then are no longer `waiting`.
    void advance(Group& group, std::int64_t now_ps) {
        group.time = group.time_at(now_ps);
        group.since_ps = now_ps;
        std::erase_if(group.waiting, [&](std::uint32_t worker) { return flows_[worker].since_ps <= now_ps; });
    }

    // Put the end of the worker's flow into the heaps. Even if it is not the first end, the group's first event may
    // change: the flow may end in the same instant as the first one and have a lower worker.
    void put_end(std::uint32_t worker) {
        const Flow& flow = flows_[worker];
        Class& changed = classes_[flow.number];
        const bool was_first = changed.ends.is_first(worker);
        changed.ends.put({flow.left, worker}, flow_places_);
        if (was_first || changed.ends.is_first(worker)) put_first_end(flow.number);
        touch(changed.group);
    }

    // Update the first end of a class in the heap of its group.
    void put_first_end(std::uint32_t number) {
        const Class& changed = classes_[number];
        EndHeap& ends = groups_[changed.group].ends;
        if (changed.ends.empty()) {
            ends.take_out(number, class_places_);
        } else {
            ends.put({changed.ends.first().time - changed.ahead, number}, class_places_);
        }
        touch(changed.group);
    }

    void touch(std::uint32_t group) {
        if (groups_[group].touched) return;
        groups_[group].touched = true;
        touched_.push_back(group);
    }

    std::vector<Flow> flows_;     // [workers]
    std::vector<Class> classes_;  // [workers]
    std::vector<Group> groups_;
    EndHeap::Places flow_places_, class_places_;  // [workers]
    std::vector<std::uint32_t> touched_;
};

}  // namespace numasim
