#include "sharing/progress.hpp"

#include <algorithm>

namespace numasim {

namespace {

constexpr std::int64_t TOO_LATE_PS = LATEST_PS + 1;

// The time at which `left` is done from `since_ps` on at `share`, rounded up.
std::int64_t end_after(std::int64_t since_ps, Wide left, std::int64_t share) {
    if (left <= 0) return since_ps;
    const Wide end = since_ps + (share == ONE ? (left + ONE - 1) >> SHARE_BITS : (left + share - 1) / share);
    return end > TOO_LATE_PS ? TOO_LATE_PS : static_cast<std::int64_t>(end);
}

}  // namespace

Progress::Progress(std::size_t workers, std::size_t groups)
    : flows_(workers),
      classes_(workers),
      groups_(groups),
      flow_places_(workers, EndHeap::NOWHERE),
      class_places_(workers, EndHeap::NOWHERE) {}

// ---- starts, ends, other speeds -----------------------------------------------------------------------------------

void Progress::start(std::uint32_t worker, std::int64_t left_ps, std::int64_t since_ps, std::int64_t share) {
    Flow& flow = flows_[worker];
    flow.left = Wide{left_ps} << SHARE_BITS;
    flow.since_ps = since_ps;
    flow.share = share;
}

void Progress::stop(std::uint32_t worker) {
    if (is_grouped(worker)) take_out(worker);
}

std::int64_t Progress::left_ps(std::uint32_t worker, std::int64_t now_ps) const {
    return static_cast<std::int64_t>((left(flows_[worker], now_ps) + ONE - 1) >> SHARE_BITS);
}

void Progress::put_left(std::uint32_t worker, std::int64_t left_ps, std::int64_t now_ps) {
    restart(worker, left_ps, std::max(flows_[worker].since_ps, now_ps));
}

void Progress::restart(std::uint32_t worker, std::int64_t left_ps, std::int64_t since_ps) {
    Flow& flow = flows_[worker];
    if (!is_grouped(worker)) return start(worker, left_ps, since_ps, flow.share);
    const std::uint32_t number = flow.number;
    take_out(worker);
    flow.since_ps = since_ps;
    enter(worker, number, Wide{left_ps} << SHARE_BITS);
}

// What is left of a flow at `now_ps`, or at its begin if that is later.
Wide Progress::left(const Flow& flow, std::int64_t now_ps) const {
    const std::int64_t at_ps = std::max(flow.since_ps, now_ps);
    const Wide left = flow.number == NO_CLASS ? flow.left - Wide{at_ps - flow.since_ps} * flow.share
                                              : flow.left - classes_[flow.number].ahead - group_of(flow).time_at(at_ps);
    return std::max<Wide>(0, left);
}

// ---- shares and levels --------------------------------------------------------------------------------------------

std::int64_t Progress::share(std::size_t worker) const {
    const Flow& flow = flows_[worker];
    return flow.number == NO_CLASS ? flow.share : group_of(flow).level;
}

void Progress::set_share(std::uint32_t worker, std::int64_t share, std::int64_t now_ps) {
    Flow& flow = flows_[worker];
    flow.left = left(flow, now_ps);
    flow.since_ps = std::max(flow.since_ps, now_ps);
    flow.share = share;
}

void Progress::move(std::uint32_t worker, std::uint32_t number, std::int64_t now_ps) {
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

void Progress::regroup(std::uint32_t number, std::uint32_t group, std::int64_t now_ps) {
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

void Progress::set_level(std::uint32_t group, std::int64_t level, std::int64_t now_ps) {
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

// Bring the virtual time of a group to `now_ps`. The virtual ends of flows that have begun by then are fixed.
void Progress::advance(Group& group, std::int64_t now_ps) {
    group.time = group.time_at(now_ps);
    group.since_ps = now_ps;
    std::erase_if(group.waiting, [&](std::uint32_t worker) { return flows_[worker].since_ps <= now_ps; });
}

// ---- the flows of a class -----------------------------------------------------------------------------------------

// Put a flow into a class. `left` is what is left of the flow at its `since_ps`.
void Progress::enter(std::uint32_t worker, std::uint32_t number, Wide left) {
    Flow& flow = flows_[worker];
    const Class& entered = classes_[number];
    Group& group = groups_[entered.group];
    flow.number = number;
    flow.left = group.time_at(flow.since_ps) + entered.ahead + left;
    if (flow.since_ps > group.since_ps) group.waiting.push_back(worker);
    put_end(worker);
}

void Progress::take_out(std::uint32_t worker) {
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

// A change of a later end may change the first event, too: the later end may be in the same instant, of a lower worker.
void Progress::put_end(std::uint32_t worker) {
    const Flow& flow = flows_[worker];
    Class& changed = classes_[flow.number];
    const bool was_first = changed.ends.is_first(worker);
    changed.ends.put({flow.left, worker}, flow_places_);
    if (was_first || changed.ends.is_first(worker)) put_first_end(flow.number);
    touch(changed.group);
}

// Bring the first end of a class up to date in the heap of its group.
void Progress::put_first_end(std::uint32_t number) {
    const Class& changed = classes_[number];
    EndHeap& ends = groups_[changed.group].ends;
    if (changed.ends.empty()) {
        ends.take_out(number, class_places_);
    } else {
        ends.put({changed.ends.first().time - changed.ahead, number}, class_places_);
    }
    touch(changed.group);
}

void Progress::touch(std::uint32_t group) {
    if (groups_[group].touched) return;
    groups_[group].touched = true;
    touched_.push_back(group);
}

void Progress::forget_changes() {
    for (const std::uint32_t each : touched_) groups_[each].touched = false;
    touched_.clear();
}

// ---- ends ---------------------------------------------------------------------------------------------------------

std::int64_t Progress::end_ps(std::size_t worker) const {
    const Flow& flow = flows_[worker];
    if (flow.number == NO_CLASS) return end_after(flow.since_ps, flow.left, flow.share);
    const Group& group = group_of(flow);
    return end_after(group.since_ps, flow.left - classes_[flow.number].ahead - group.time, group.level);
}

EventKey Progress::first_end(std::uint32_t group) const {
    const Group& ending = groups_[group];
    if (ending.ends.empty()) return NO_EVENT;
    const Wide first = ending.ends.first().time;
    const std::int64_t due_ps = end_after(ending.since_ps, first - ending.time, ending.level);
    return event_of(ending, due_ps, std::max(first, ending.time_at(due_ps)));
}

EventKey Progress::first_end_now(std::uint32_t group, std::int64_t now_ps) const {
    return event_of(groups_[group], now_ps, groups_[group].time_at(now_ps));
}

// Of the flows that end at or before the virtual time `until`, in the same instant, the flow of the lowest worker comes
// first.
EventKey Progress::event_of(const Group& group, std::int64_t due_ps, Wide until) const {
    std::uint32_t first = UINT32_MAX;
    group.ends.each_until(until, [&](std::uint32_t number) {
        const Class& each = classes_[number];
        each.ends.each_until(until + each.ahead, [&](std::uint32_t worker) { first = std::min(first, worker); });
    });
    return first == UINT32_MAX ? NO_EVENT : event_key(due_ps, SEG_END, first);
}

}  // namespace numasim
