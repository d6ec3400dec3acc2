// Passing over polls that cannot succeed (model 1.5; numasim/engine/polling.py), and finding out that none ever will.
#include <algorithm>
#include <limits>

#include "engine.hpp"
#include "vectors.hpp"

namespace numasim {

namespace {

constexpr std::int64_t NEVER = std::numeric_limits<std::int64_t>::max();
constexpr std::int32_t MOST_PROBES = 4096;
constexpr std::int64_t TURNS_BETWEEN_PAUSES = 4096;
constexpr std::int64_t MANY_ROUNDS = 32, MOST_ROUNDS = 1024;  // that are counted together

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
std::int64_t Engine::next_change() {
    if (outstanding_ == 0) return now_;
    if (ahead_ != nullptr) return ahead_->barren_until_ps(workers_, now_);
    if (starting_) return now_;
    std::int64_t due = *std::min_element(busy_until_.begin(), busy_until_.end());
    if (plan_.join == Join::HELP || plan_.join == Join::OWN || plan_.join == Join::STRICT) {
        for (const Worker& w : workers_) {
            if (join_is_over(w)) due = std::min(due, w.due_ps);
        }
    }
    for (const Producer& p : producers_) {
        if (p.left != 0 && !p.waiting) due = std::min(due, p.due_ps);
    }
    if (due == NEVER) throw Deadlock(outstanding_, now_);
    return due;
}

// Whether anything but fruitless probes can ever happen.
bool Engine::can_go_on() const {
    if (starting_) return true;
    const auto works = [this](const Worker& w) { return busy_until_[w.id] != NEVER || join_is_over(w); };
    return std::any_of(workers_.begin(), workers_.end(), works) ||
           std::any_of(producers_.begin(), producers_.end(),
                       [](const Producer& p) { return p.left != 0 && !p.waiting; }) ||
           std::any_of(workers_.begin(), workers_.begin() + static_cast<std::ptrdiff_t>(team_),
                       [this](const Worker& w) { return can_find(w); });
}

// Whether some round of the worker can bring it a task while no queue changes.
bool Engine::can_find(const Worker& w) const {
    if (w.blocked || (!w.stack.empty() && plan_.join == Join::OWN)) return false;
    struct Context {
        const Engine* engine;
        const Worker* worker;
    } context{this, &w};
    const auto brings = [](void* given, std::uint32_t level, std::uint32_t q) {
        const auto& [engine, worker] = *static_cast<Context*>(given);
        return ns_level_amount(&engine->plan_.steal.level[level], engine->queues_.length(q)) != 0 &&
               (!engine->strict_ || engine->may_run(*worker, q, engine->probe_back(level, q)));
    };
    const ns_view seen = view();
    return ns_any_within_reach(&plan_.steal, &actors_[w.id], &seen, brings, &context);
}

void Engine::learn_quiet_round(Worker& w) {
    quiet_levels_.resize(MOST_PROBES);
    quiet_segments_.resize(MOST_PROBES);
    QuietRound& quiet = w.quiet;
    quiet.probes =
        ns_quiet_round(&plan_.steal, &actors_[w.id], quiet_levels_.data(), quiet_segments_.data(), MOST_PROBES);
    const std::int32_t count = std::max(quiet.probes, 0);
    quiet.levels.assign(quiet_levels_.begin(), quiet_levels_.begin() + count);
    quiet.segments.assign(quiet_segments_.begin(), quiet_segments_.begin() + count);
    quiet.known = all_levels_of_me(plan_.steal);
}

// Count the rounds from `poll_ps` on that end before `until_ps`; the time that they take.
std::int64_t Engine::pass_over(Worker& w, std::int64_t poll_ps, std::int64_t until_ps) {
    until_ps = std::min(until_ps, LATEST_PS);
    if (poll_ps >= until_ps || locks_search_ || plan_.backoff_after_probe ||
        (!w.stack.empty() && plan_.join == Join::OWN))
        return 0;
    if (!w.quiet.known) learn_quiet_round(w);
    if (w.quiet.probes < 0) return 0;
    return w.quiet.probes == 0 ? pass_over_waits(w, poll_ps, until_ps) : pass_over_probes(w, poll_ps, until_ps);
}

// Rounds that probe nobody: waits alone.
std::int64_t Engine::pass_over_waits(Worker& w, std::int64_t poll_ps, std::int64_t until_ps) {
    std::int64_t at = poll_ps, rounds = 0;
    while (at < until_ps) {
        const std::int64_t wait = wait_ps(w.fails + rounds + 1, false);
        const bool lasting = wait == wait_ps(w.fails + rounds + 63, false);
        const std::int64_t more = lasting ? (until_ps - at - 1) / wait + 1 : 1;
        rounds += more;
        at += more * wait;
    }
    w.fails += rounds;
    w.counters.no_victim += rounds;
    w.counters.idle_backoff_ps += at - poll_ps;
    if (plan_.backoff_counts_empty) {
        w.counters.steal_attempts += rounds;
        w.failed += rounds;
    }
    return at - poll_ps;
}

// Rounds of random picks, one draw each.
std::int64_t Engine::pass_over_probes(Worker& w, std::int64_t poll_ps, std::int64_t until_ps) {
    std::int64_t at = poll_ps;
    for (std::int64_t turn = 1;; ++turn) {
        if (turn % TURNS_BETWEEN_PAUSES == 0) pause();
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
std::int64_t Engine::pass_over_one(Worker& w, std::int64_t poll_ps, std::int64_t until_ps) {
    ns_actor& actor = actors_[w.id];
    const std::size_t probes = w.quiet.segments.size();
    const ns_stream before = actor.victims;
    std::int64_t look = poll_ps;
    picked_.resize(std::max(picked_.size(), probes));
    for (std::size_t i = 0; i < probes; ++i) {
        const std::uint32_t low = plan_.steal.seg[w.quiet.segments[i]];
        const std::uint32_t size = plan_.steal.seg[w.quiet.segments[i] + 1] - low;
        picked_[i] = plan_.steal.queue[low + ns_stream_below(&actor.victims, size)];
        look += probe_ps(w, picked_[i]);
    }
    if (look >= until_ps) {
        actor.victims = before;
        return poll_ps;
    }
    for (std::size_t i = 0; i < probes; ++i) {
        if (is_attempt(w.quiet.levels[i])) count_attempt(w, picked_[i], 0);
    }
    const std::int64_t wait = wait_ps(++w.fails, true);
    w.counters.idle_steal_ps += look - poll_ps;
    w.counters.idle_backoff_ps += wait;
    return look + wait;
}

// As many rounds as end before `until_ps` wherever their probes go, if they are many and their waits are alike. Only
// how often each queue is picked matters then.
std::int64_t Engine::pass_over_many(Worker& w, std::int64_t poll_ps, std::int64_t until_ps) {
    const std::int64_t wait = wait_ps(w.fails + 1, true);
    const std::int64_t probe =
        std::max(plan_.costs.least_probe_ps, std::min(plan_.costs.probe_near_ps, plan_.costs.probe_far_ps));
    const std::int64_t shortest_ps = static_cast<std::int64_t>(w.quiet.segments.size()) * probe;
    if (until_ps - poll_ps < MANY_ROUNDS * (shortest_ps + wait) || wait != wait_ps(w.fails + 63, true)) return poll_ps;
    const std::int64_t rounds = std::min(MOST_ROUNDS, (until_ps - poll_ps - 1) / (longest_round_ps(w) + wait));
    if (rounds < MANY_ROUNDS) return poll_ps;
    std::int64_t probing = 0;
    for (std::size_t i = 0; i < w.quiet.segments.size(); ++i) probing += pass_over_probe(w, i, rounds);
    actors_[w.id].victims.drawn += static_cast<std::uint64_t>(rounds) * w.quiet.segments.size();
    w.fails += rounds;
    w.counters.idle_steal_ps += probing;
    w.counters.idle_backoff_ps += rounds * wait;
    return poll_ps + probing + rounds * wait;
}

std::int64_t Engine::longest_round_ps(const Worker& w) const {
    std::int64_t sum = 0;
    for (const std::uint32_t segment : w.quiet.segments) {
        std::int64_t longest = 0;
        for (std::uint32_t i = plan_.steal.seg[segment]; i < plan_.steal.seg[segment + 1]; ++i) {
            longest = std::max(longest, probe_ps(w, plan_.steal.queue[i]));
        }
        sum += longest;
    }
    return sum;
}

// Count probe number `probe` of each of the next rounds; the time that they take.
std::int64_t Engine::pass_over_probe(Worker& w, std::size_t probe, std::int64_t rounds) {
    const std::uint32_t low = plan_.steal.seg[w.quiet.segments[probe]];
    const std::uint32_t size = plan_.steal.seg[w.quiet.segments[probe] + 1] - low;
    const ns_stream& victims = actors_[w.id].victims;
    picked_.resize(std::max(picked_.size(), static_cast<std::size_t>(rounds)));
    pick(victims.base, victims.drawn + probe, w.quiet.segments.size(), size, rounds, picked_.data());
    times_picked_.assign(size, 0);
    for (std::int64_t i = 0; i < rounds; ++i) ++times_picked_[picked_[static_cast<std::size_t>(i)]];
    std::int64_t probing = 0;
    for (std::uint32_t i = 0; i < size; ++i) {
        const std::int64_t times = times_picked_[i];
        const std::uint32_t q = plan_.steal.queue[low + i];
        probing += times * probe_ps(w, q);
        if (!is_attempt(w.quiet.levels[probe])) continue;
        count_attempts(w, q, times, 0, 0);
        w.failed += times;
        w.failed_remote += is_remote(w, q) ? times : 0;
    }
    return probing;
}

}  // namespace numasim
