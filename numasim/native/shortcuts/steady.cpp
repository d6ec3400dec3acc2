#include "shortcuts/steady.hpp"

#include <algorithm>

#include "state/event_tree.hpp"

namespace numasim {

namespace {

constexpr std::uint64_t LEFT_PER_WORKER = 4;  // items per worker that are left for the event-by-event run
constexpr std::int64_t NO_PUSH = -1;

}  // namespace

std::vector<std::int64_t> taken_before(const Steady& steady, std::int64_t time_ps) {
    std::vector<std::int64_t> taken;
    for (std::size_t w = 0; w < steady.end_ps.size(); ++w) {
        const std::int64_t behind = time_ps - steady.end_ps[w];
        taken.push_back(behind > 0 ? (behind - 1) / steady.period_ps[w] + 1 : 0);
    }
    return taken;
}

std::optional<Moment> follow(const Steady& steady) {
    const std::size_t workers = steady.end_ps.size();
    const std::uint64_t kept = LEFT_PER_WORKER * workers;
    if (steady.left <= kept) return std::nullopt;
    for (const std::int64_t period : steady.period_ps) {
        if (period == 0) return std::nullopt;  // it takes all that there are at once
    }
    const std::uint64_t allowed = steady.left - kept;
    EventTree takes(workers);
    for (std::size_t w = 0; w < workers; ++w)
        ns_clock_set(&takes, w, ns_event_key_of(steady.end_ps[w], SEG_END, static_cast<std::uint32_t>(w)));
    std::vector<std::int64_t> rooms(workers, 0);
    std::size_t cursor = steady.cursor % workers;
    std::int64_t waiting_since = steady.waiting_since_ps, next_push = NO_PUSH;
    std::uint64_t opened = 0, filled = 0;
    std::optional<Moment> moment;
    const auto step = [workers](std::size_t at) { return at + 1 < workers ? at + 1 : 0; };
    while (opened < allowed) {
        const ns_event_key next = ns_clock_next(&takes);
        const std::int64_t time = ns_event_time(next);
        const std::uint32_t w = ns_event_actor(next);
        while (next_push != NO_PUSH && next_push < time) {
            while (rooms[cursor] == 0) cursor = step(cursor);
            --rooms[cursor];
            cursor = step(cursor);
            waiting_since = next_push;
            next_push = ++filled < opened ? next_push + steady.push_ps : NO_PUSH;
        }
        if (next_push == NO_PUSH) {
            moment = Moment{time, waiting_since, cursor};
            next_push = time + steady.push_ps;
        }
        if (rooms[w] == steady.spare[w]) break;
        ns_clock_set(&takes, w, ns_event_key_of(time + steady.period_ps[w], SEG_END, w));
        ++rooms[w];
        ++opened;
    }
    return opened > kept ? moment : std::nullopt;
}

}  // namespace numasim
