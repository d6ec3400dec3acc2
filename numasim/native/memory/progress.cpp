#include "memory/progress.hpp"

#include <algorithm>

namespace numasim {

namespace {

constexpr std::int64_t TOO_LATE_PS = LATEST_PS + 1;

// `since_ps` and the time that `left` takes at `share`, rounded up.
std::int64_t end_after(std::int64_t since_ps, Wide left, std::int64_t share) {
    if (left <= 0) return since_ps;
    const Wide end = since_ps + (share == ONE ? (left + ONE - 1) >> SHARE_BITS : (left + share - 1) / share);
    return end > TOO_LATE_PS ? TOO_LATE_PS : static_cast<std::int64_t>(end);
}

}  // namespace

// ---- starts, ends, other speeds -----------------------------------------------------------------------------------

void Progress::start(std::uint32_t worker, std::int64_t left_ps, std::int64_t since_ps, std::int64_t share) {
    Flow& flow = flows_[worker];
    flow.left = Wide{left_ps} << SHARE_BITS;
    flow.since_ps = since_ps;
    flow.share = share;
}

void Progress::stop(std::uint32_t worker) {
    if (flows_[worker].number != NO_CLASS) take_out(worker);
}

std::int64_t Progress::left_ps(std::uint32_t worker, std::int64_t now_ps) const {
    return static_cast<std::int64_t>((left(flows_[worker], now_ps) + ONE - 1) >> SHARE_BITS);
}

void Progress::put_left(std::uint32_t worker, std::int64_t left_ps, std::int64_t now_ps) {
    restart(worker, left_ps, std::max(flows_[worker].since_ps, now_ps));
}

void Progress::restart(std::uint32_t worker, std::int64_t left_ps, std::int64_t since_ps) {
    Flow& flow = flows_[worker];
    if (!flow.held) return start(worker, left_ps, since_ps, flow.share);
    const std::uint32_t number = flow.number;
    take_out(worker);
    flow.number = number;
    flow.since_ps = since_ps;
    enter(worker, Wide{left_ps} << SHARE_BITS);
}

// What is left of a flow at `now_ps`, or, if it begins later, then.
Wide Progress::left(const Flow& flow, std::int64_t now_ps) const {
    const std::int64_t at_ps = std::max(flow.since_ps, now_ps);
    const Wide left = flow.held ? flow.left - classes_[flow.number].time_at(at_ps)
                                : flow.left - Wide{at_ps - flow.since_ps} * flow.share;
    return std::max<Wide>(0, left);
}

// ---- shares and levels --------------------------------------------------------------------------------------------

std::int64_t Progress::share(std::size_t worker) const {
    const Flow& flow = flows_[worker];
    return flow.held ? classes_[flow.number].level : flow.share;
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
    flow.number = number;
    if (number == NO_CLASS) return;
    Class& entered = classes_[number];
    if (entered.held) {
        advance(entered, now_ps);
        return enter(worker, left);
    }
    flow.at = static_cast<std::uint32_t>(entered.free.size());
    entered.free.push_back(worker);
}

void Progress::set_level(std::uint32_t number, std::int64_t level, std::int64_t now_ps) {
    Class& changed = classes_[number];
    if (!changed.held) hold(changed, now_ps);
    advance(changed, now_ps);
    for (const std::uint32_t worker : changed.ahead) {
        Flow& flow = flows_[worker];
        flow.left += Wide{level - changed.level} * (flow.since_ps - now_ps);
        sift(changed.ends, flow.at, {flow.left, worker});
    }
    changed.level = level;
    changed.held = level != ONE || !changed.ends.empty();
    touch(number);
}

// Let the flows of the class go by its virtual time.
void Progress::hold(Class& held, std::int64_t now_ps) {
    advance(held, now_ps);
    held.held = true;
    for (const std::uint32_t worker : held.free) {
        Flow& flow = flows_[worker];
        const Wide left = this->left(flow, now_ps);
        flow.since_ps = std::max(flow.since_ps, now_ps);
        enter(worker, left);
        caught_.push_back(worker);
    }
    held.free.clear();
}

// Let the virtual time be that of now; the ends of flows that have begun until then are fixed.
void Progress::advance(Class& advanced, std::int64_t now_ps) {
    advanced.time = advanced.time_at(now_ps);
    advanced.since_ps = now_ps;
    std::erase_if(advanced.ahead, [&](std::uint32_t worker) { return flows_[worker].since_ps <= now_ps; });
}

// ---- the flows of one class ---------------------------------------------------------------------------------------

// A flow of which this is left since it began, or will be when it begins, is held.
void Progress::enter(std::uint32_t worker, Wide left) {
    Flow& flow = flows_[worker];
    Class& entered = classes_[flow.number];
    flow.left = entered.time_at(flow.since_ps) + left;
    flow.held = true;
    if (flow.since_ps > entered.since_ps) entered.ahead.push_back(worker);
    entered.ends.push_back({});
    sift(entered.ends, entered.ends.size() - 1, {flow.left, worker});
    touch(flow.number);
}

void Progress::take_out(std::uint32_t worker) {
    Flow& flow = flows_[worker];
    Class& left = classes_[flow.number];
    if (flow.held) {
        if (flow.since_ps > left.since_ps) std::erase(left.ahead, worker);
        const End last = left.ends.back();
        left.ends.pop_back();
        if (last.worker != worker) sift(left.ends, flow.at, last);
        touch(flow.number);
    } else {
        const std::uint32_t last = left.free.back();
        left.free[flow.at] = last;
        flows_[last].at = flow.at;
        left.free.pop_back();
    }
    flow.number = NO_CLASS;
    flow.held = false;
    flow.share = ONE;
}

// Put `end` where it belongs, above or below the free place `at`.
void Progress::sift(std::vector<End>& ends, std::size_t at, End end) {
    const auto put = [&](const End& what) {
        ends[at] = what;
        flows_[what.worker].at = static_cast<std::uint32_t>(at);
    };
    while (at != 0 && end < ends[(at - 1) / 2]) {
        put(ends[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (;;) {
        std::size_t child = 2 * at + 1;
        if (child + 1 < ends.size() && ends[child + 1] < ends[child]) ++child;
        if (child >= ends.size() || !(ends[child] < end)) break;
        put(ends[child]);
        at = child;
    }
    put(end);
}

void Progress::touch(std::uint32_t number) {
    if (classes_[number].touched) return;
    classes_[number].touched = true;
    touched_.push_back(number);
}

void Progress::forget_changes() {
    for (const std::uint32_t each : touched_) classes_[each].touched = false;
    touched_.clear();
    caught_.clear();
}

// ---- ends ---------------------------------------------------------------------------------------------------------

std::int64_t Progress::end_ps(std::size_t worker) const {
    const Flow& flow = flows_[worker];
    if (!flow.held) return end_after(flow.since_ps, flow.left, flow.share);
    const Class& held = classes_[flow.number];
    return end_after(held.since_ps, flow.left - held.time, held.level);
}

// Of flows that end in the same instant, that of the lowest worker comes first.
ns_event_key Progress::first_end(std::size_t number) const {
    const Class& held = classes_[number];
    if (held.ends.empty()) return NS_NO_EVENT;
    std::uint32_t first = held.ends.front().worker;
    const std::int64_t due_ps = end_ps(first);
    find_lower(held.ends, 0, held.time_at(due_ps), first);
    return ns_event_key_of(due_ps, SEG_END, first);
}

// Of the heap from `at` downwards, the lowest worker whose flow ends not after `until`, if lower than `first`.
void Progress::find_lower(const std::vector<End>& ends, std::size_t at, Wide until, std::uint32_t& first) {
    if (at >= ends.size() || ends[at].time > until) return;
    first = std::min(first, ends[at].worker);
    find_lower(ends, 2 * at + 1, until, first);
    find_lower(ends, 2 * at + 2, until, first);
}

}  // namespace numasim
