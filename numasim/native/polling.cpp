// Passing over polls that cannot succeed (model 1.5; numasim/engine/polling.py), and finding out that none ever will.
#include <algorithm>
#include <limits>

#include "engine.hpp"

namespace numasim {

namespace {

constexpr std::int64_t NEVER = std::numeric_limits<std::int64_t>::max();
constexpr std::int32_t MOST_PROBES = 4096;

bool all_levels_of_me(const ns_plan& steal) {
    return std::all_of(steal.level, steal.level + steal.steal_levels, [](const ns_level& level) { return level.anchor == NS_ANCHOR_ME; });
}

}  // namespace

// The time of the next event that can bring a task into a queue or end a join.
std::int64_t Engine::next_change() {
    if (outstanding_ == 0) return now_;
    if (ahead_ != nullptr) return ahead_->barren_until_ps(workers_, now_);
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
    const auto works = [this](const Worker& w) { return busy_until_[w.id] != NEVER || join_is_over(w); };
    return std::any_of(workers_.begin(), workers_.end(), works) ||
           std::any_of(producers_.begin(), producers_.end(), [](const Producer& p) { return p.left != 0 && !p.waiting; }) ||
           std::any_of(workers_.begin(), workers_.begin() + static_cast<std::ptrdiff_t>(team_), [this](const Worker& w) { return can_find(w); });
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
    QuietRound& quiet = w.quiet;
    quiet.levels.resize(MOST_PROBES);
    quiet.segments.resize(MOST_PROBES);
    quiet.probes = ns_quiet_round(&plan_.steal, &actors_[w.id], quiet.levels.data(), quiet.segments.data(), MOST_PROBES);
    quiet.levels.resize(static_cast<std::size_t>(std::max(quiet.probes, 0)));
    quiet.segments.resize(quiet.levels.size());
    quiet.known = all_levels_of_me(plan_.steal);
}

// Count the rounds from `poll_ps` on that end before `until_ps`; the time that they take.
std::int64_t Engine::pass_over(Worker& w, std::int64_t poll_ps, std::int64_t until_ps) {
    if (poll_ps >= until_ps || plan_.backoff_after_probe || (!w.stack.empty() && plan_.join == Join::OWN)) return 0;
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
    ns_actor& actor = actors_[w.id];
    const ns_plan& steal = plan_.steal;
    const std::size_t probes = w.quiet.segments.size();
    std::int64_t at = poll_ps;
    picked_.resize(probes);
    for (;;) {
        const ns_stream before = actor.victims;
        std::int64_t look = at;
        for (std::size_t i = 0; i < probes; ++i) {
            const std::uint32_t low = steal.seg[w.quiet.segments[i]], high = steal.seg[w.quiet.segments[i] + 1];
            picked_[i] = steal.queue[low + ns_stream_below(&actor.victims, high - low)];
            look += probe_ps(w, picked_[i]);
        }
        if (look >= until_ps) {
            actor.victims = before;
            return at - poll_ps;
        }
        for (std::size_t i = 0; i < probes; ++i) {
            if ((steal.level[w.quiet.levels[i]].flags & NS_FLAG_ATTEMPT) != 0) count_attempt(w, picked_[i], 0);
        }
        const std::int64_t wait = wait_ps(++w.fails, true);
        w.counters.idle_steal_ps += look - at;
        w.counters.idle_backoff_ps += wait;
        at = look + wait;
    }
}

}  // namespace numasim
