#include "idle/polling.hpp"

#include <algorithm>

#include "vectors.hpp"

namespace numasim {

namespace {

constexpr std::int32_t LONGEST_ROUND = 4096;  // probes of a round that is counted without events
constexpr std::int64_t TURNS_BETWEEN_PAUSES = 4096;
constexpr std::int64_t MANY_ROUNDS = 32, MOST_ROUNDS = 1024;  // that are counted together,
constexpr std::int64_t MOST_CHOICES = 4;                      // where there are not many more choices a round

// Draws number `first`, `first + step`, ... of a stream, mapped to [0, size).
NUMASIM_VECTORS void pick(std::uint64_t base, std::uint64_t first, std::uint64_t step, std::uint32_t size,
                          std::int64_t count, std::uint32_t* picked) {
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint64_t number = ns_draw(base, first + static_cast<std::uint64_t>(i) * step);
        picked[i] = static_cast<std::uint32_t>(((number >> 32) * size + ((number & UINT32_MAX) * size >> 32)) >> 32);
    }
}

bool all_levels_of_me(const ns_plan& steal) {
    return std::all_of(steal.level, steal.level + steal.steal_levels,
                       [](const ns_level& level) { return level.anchor == NS_ANCHOR_ME; });
}

}  // namespace

// The time of the next event that can bring a task into a queue or end a join.
std::int64_t Polling::next_change_ps() {
    if (source_.unfinished() == 0) return run_.clock.now_ps();
    if (skipping_.active()) return skipping_.no_task_before_ps();
    if (source_.starting()) return run_.clock.now_ps();
    std::int64_t due = source_.next_item_ps();
    // where nobody is busy, the first end of a group is that of a flow which has ended at this instant
    if (run_.clock.anybody_is_busy()) due = std::min(due, run_.clock.first_busy_end_ps());
    for (const std::uint32_t w : run_.joins.over()) due = std::min(due, run_.team[w].step.due_ps());
    const auto holds_unit = [](const Worker& w) { return w.reserved != NOTHING_RESERVED; };
    if (std::any_of(run_.team.begin(), run_.team.end(), holds_unit)) return run_.clock.now_ps();
    if (due == NEVER_PS) throw Deadlock(source_.unfinished(), run_.clock.now_ps());
    return due;
}

void Polling::learn(Worker& w) {
    levels_.resize(LONGEST_ROUND);
    segments_.resize(LONGEST_ROUND);
    QuietRound& quiet = w.quiet;
    quiet.probes =
        ns_quiet_round(&run_.plan.steal, &run_.queues.actor(w.id), levels_.data(), segments_.data(), LONGEST_ROUND);
    const std::int32_t count = std::max(quiet.probes, 0);
    quiet.levels.assign(levels_.begin(), levels_.begin() + count);
    quiet.segments.assign(segments_.begin(), segments_.begin() + count);
    quiet.known = all_levels_of_me(run_.plan.steal);
    quiet.longest_ps = longest_round_ps(w);
    quiet.choices = 0;
    for (const std::uint32_t segment : quiet.segments)
        quiet.choices += run_.plan.steal.seg[segment + 1] - run_.plan.steal.seg[segment];
}

std::int64_t Polling::pass_over(Worker& w, std::int64_t wait_ps) {
    const ns_queues& queues = run_.queues.contents();
    if (queues.marked != 0 || (queues.total != 0 && !run_.plan.sees_marks_only)) return 0;
    const std::int64_t until_ps = next_change_ps();
    if (!run_.plan.skip || memory_.settles()) return 0;  // flows may end earlier than is known yet
    return pass_over(w, run_.clock.after(w.owed_ps + wait_ps), until_ps);
}

// Count the rounds from `poll_ps` on that end before `until_ps`; the time that they take.
std::int64_t Polling::pass_over(Worker& w, std::int64_t poll_ps, std::int64_t until_ps) {
    until_ps = std::min(until_ps, LATEST_PS);
    if (poll_ps >= until_ps || run_.plan.locks_probes || run_.plan.backoff_after_probe ||
        (!w.stack.empty() && ns_joins_by_itself(&run_.plan)))
        return 0;
    const std::int32_t probes = quiet_round(w).probes;
    if (probes < 0) return 0;
    return probes == 0 ? pass_over_waits(w, poll_ps, until_ps) : pass_over_probes(w, poll_ps, until_ps);
}

// Rounds that probe nobody: waits alone.
std::int64_t Polling::pass_over_waits(Worker& w, std::int64_t poll_ps, std::int64_t until_ps) {
    std::int64_t at = poll_ps, rounds = 0;
    while (at < until_ps) {
        const std::int64_t wait = wait_ps(w.fails + rounds + 1, false);
        const bool lasting = wait == wait_ps(w.fails + rounds + 63, false);
        const std::int64_t more = lasting ? (until_ps - at - 1) / wait + 1 : 1;
        rounds += more;
        at += more * wait;
    }
    w.fails += rounds;
    ns_count_empty_rounds(&run_.plan, &w, rounds);
    w.counters.idle_backoff_ps += at - poll_ps;
    return at - poll_ps;
}

// Rounds of random picks, one draw each.
std::int64_t Polling::pass_over_probes(Worker& w, std::int64_t poll_ps, std::int64_t until_ps) {
    std::int64_t at = poll_ps;
    for (std::int64_t turn = 1;; ++turn) {
        if (turn % TURNS_BETWEEN_PAUSES == 0) run_.pause();
        const std::int64_t many_end = pass_over_many(w, at, until_ps);
        if (many_end != at) {
            at = many_end;
        } else if (const std::int64_t one_end = pass_over_one(w, at, until_ps); one_end != at) {
            at = one_end;
        } else {
            return at - poll_ps;
        }
    }
}

// One round, if its last probe takes effect before `until_ps`; the time after it and its wait.
std::int64_t Polling::pass_over_one(Worker& w, std::int64_t poll_ps, std::int64_t until_ps) {
    ns_actor& actor = run_.queues.actor(w.id);
    const std::size_t probes = w.quiet.segments.size();
    const ns_stream before = actor.victims;
    std::int64_t look = poll_ps;
    picked_.resize(std::max(picked_.size(), probes));
    for (std::size_t i = 0; i < probes; ++i) {
        picked_[i] = ns_segment_draw(&run_.plan.steal, w.quiet.segments[i], &actor.victims);
        look += ns_probe_ps(&run_.plan, &w, picked_[i]);
    }
    if (look >= until_ps) {
        actor.victims = before;
        return poll_ps;
    }
    for (std::size_t i = 0; i < probes; ++i) {
        if (ns_is_attempt(&run_.plan, w.quiet.levels[i])) count_failed(w, picked_[i], 1);
    }
    const std::int64_t wait = wait_ps(++w.fails, true);
    w.counters.idle_steal_ps += look - poll_ps;
    w.counters.idle_backoff_ps += wait;
    return look + wait;
}

// As many rounds as end before `until_ps` wherever their probes go, if they are many and their waits are alike. Only
// how often each queue is picked matters then.
std::int64_t Polling::pass_over_many(Worker& w, std::int64_t poll_ps, std::int64_t until_ps) {
    const std::int64_t wait = wait_ps(w.fails + 1, true);
    const std::int64_t probe =
        std::max(run_.plan.costs.least_probe_ps, std::min(run_.plan.costs.probe_near_ps, run_.plan.costs.probe_far_ps));
    const std::int64_t shortest_ps = static_cast<std::int64_t>(w.quiet.segments.size()) * probe;
    if (until_ps - poll_ps < MANY_ROUNDS * (shortest_ps + wait) || wait != wait_ps(w.fails + 63, true)) return poll_ps;
    const std::int64_t rounds = std::min(MOST_ROUNDS, (until_ps - poll_ps - 1) / (w.quiet.longest_ps + wait));
    if (rounds < MANY_ROUNDS || rounds * MOST_CHOICES < w.quiet.choices) return poll_ps;
    std::int64_t probing = 0;
    for (std::size_t i = 0; i < w.quiet.segments.size(); ++i) probing += pass_over_probe(w, i, rounds);
    run_.queues.actor(w.id).victims.drawn += static_cast<std::uint64_t>(rounds) * w.quiet.segments.size();
    w.fails += rounds;
    w.counters.idle_steal_ps += probing;
    w.counters.idle_backoff_ps += rounds * wait;
    return poll_ps + probing + rounds * wait;
}

void Polling::count_failed(Worker& w, std::uint32_t q, std::int64_t attempts) {
    ns_count_attempts(&run_.steals, &run_.plan, &w, q, attempts, 0, 0);
    ns_count_failed(&run_.plan, &w, q, attempts);
}

std::int64_t Polling::longest_round_ps(const Worker& w) const {
    std::int64_t sum = 0;
    for (const std::uint32_t segment : w.quiet.segments) {
        std::int64_t longest = 0;
        for (std::uint32_t i = run_.plan.steal.seg[segment]; i < run_.plan.steal.seg[segment + 1]; ++i) {
            longest = std::max(longest, ns_probe_ps(&run_.plan, &w, run_.plan.steal.queue[i]));
        }
        sum += longest;
    }
    return sum;
}

// Count probe number `probe` of each of the next rounds; the time that they take.
std::int64_t Polling::pass_over_probe(Worker& w, std::size_t probe, std::int64_t rounds) {
    const std::uint32_t low = run_.plan.steal.seg[w.quiet.segments[probe]];
    const std::uint32_t size = run_.plan.steal.seg[w.quiet.segments[probe] + 1] - low;
    const ns_stream& victims = run_.queues.actor(w.id).victims;
    picked_.resize(std::max(picked_.size(), static_cast<std::size_t>(rounds)));
    pick(victims.base, victims.drawn + probe, w.quiet.segments.size(), size, rounds, picked_.data());
    times_picked_.assign(size, 0);
    for (std::int64_t i = 0; i < rounds; ++i) ++times_picked_[picked_[static_cast<std::size_t>(i)]];
    std::int64_t probing = 0;
    for (std::uint32_t i = 0; i < size; ++i) {
        const std::int64_t times = times_picked_[i];
        const std::uint32_t q = run_.plan.steal.queue[low + i];
        probing += times * ns_probe_ps(&run_.plan, &w, q);
        if (ns_is_attempt(&run_.plan, w.quiet.levels[probe])) count_failed(w, q, times);
    }
    return probing;
}

}  // namespace numasim
