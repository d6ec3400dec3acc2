// Steals in bulk: while the rich stay rich and the poor stay poor, what comes of a probe does not depend on when it is
// sent (model 1.8, for thieves).
//
// Where some workers have run out of like items and others have many left, each thief's course is its own: it draws
// victims, finds a task exactly where the victim is rich, and executes it. So the thieves are followed one by one,
// without a common clock, to a time before which no rich queue should have run dry; only if none has, it is taken over.
#include <algorithm>
#include <array>
#include <limits>

#include "engine.hpp"

namespace numasim {

namespace {

constexpr std::int64_t MANY_ITEMS = 64;        // a queue with so many counts as rich
constexpr std::int64_t EVENTS_BETWEEN = 4096;  // tries that cannot succeed cost little beside so many events

}  // namespace

void Engine::pass_steals() {
    next_plunder_ = events_ + EVENTS_BETWEEN;
    if (ahead_ != ranges_.get() || listened_ || plan_.backoff_after_probe || !sort_rich_and_poor()) return;
    const std::int64_t least_ps =
        MANY_ITEMS * times_of_phase().total_ps(static_cast<std::size_t>(workers_[poor_.front()].node), 0);
    for (std::int64_t far_ps = riches_last_ps(); far_ps > least_ps; far_ps /= 2) {
        if (!pass_steals_until(now_ + far_ps)) continue;
        next_plunder_ = events_;
        return;
    }
}

// Whether every worker either has many items left or is executing its last and then steals at random.
bool Engine::sort_rich_and_poor() {
    if (!times_of_phase().uniform()) return false;
    poor_.clear();
    rich_.assign(queues_.count(), 0);
    for (Worker& w : workers_) {
        if (w.rank != SEG_END) return false;
        if (ranges_->holds_task(w, now_)) {
            if (ranges_->end_ps(w.id) - now_ < MANY_ITEMS * ranges_->item_ps(w)) return false;
            rich_[static_cast<std::size_t>(w.own)] = 1;
        } else {
            if (!w.quiet.known) learn_quiet_round(w);
            if (!w.quiet.known || w.quiet.probes <= 0) return false;
            poor_.push_back(w.id);
        }
    }
    return !poor_.empty() && poor_.size() < workers_.size();
}

// For how long no rich queue should run dry, if thieves rob all of them alike.
std::int64_t Engine::riches_last_ps() const {
    std::int64_t last = std::numeric_limits<std::int64_t>::max();
    for (const Worker& w : workers_) {
        if (!rich_[static_cast<std::size_t>(w.own)]) continue;
        const std::int64_t rich = static_cast<std::int64_t>(workers_.size() - poor_.size());
        const std::int64_t items = (ranges_->end_ps(w.id) - now_) / ranges_->item_ps(w);
        const std::int64_t stolen_ps =
            times_of_phase().total_ps(static_cast<std::size_t>(workers_[poor_.front()].node), 0);
        const std::int64_t robbed_every_ps =
            std::max<std::int64_t>(1, stolen_ps * rich / static_cast<std::int64_t>(poor_.size()));
        // the owner takes one item in item_ps, the thieves one in robbed_every_ps
        const std::int64_t both_ps = std::max<std::int64_t>(
            1, robbed_every_ps * (ranges_->item_ps(w) / 16) / (robbed_every_ps / 16 + ranges_->item_ps(w) / 16 + 1));
        last = std::min(last, items * both_ps);
    }
    return last / 16 * 15;
}

// Follow the poor until they end strands at `until_ps` or later; false, and nothing has changed, if a rich queue could
// have run dry by then.
bool Engine::pass_steals_until(std::int64_t until_ps) {
    std::vector<Plunder> plunders;
    std::vector<ns_stream> before;
    for (const std::uint32_t id : poor_) before.push_back(actors_[id].victims);
    const bool found = std::ranges::all_of(poor_, [&](std::uint32_t id) {
        plunders.push_back({.thief = id,
                            .tries = std::vector<std::int64_t>(queues_.count()),
                            .got = std::vector<std::int64_t>(queues_.count())});
        return plunder(plunders.back(), until_ps);
    });
    std::int64_t last_look_ps = now_;
    for (const Plunder& each : plunders) last_look_ps = std::max(last_look_ps, each.last_look_ps);
    const bool stayed = found && std::ranges::all_of(workers_, [&](const Worker& w) {
                            const auto q = static_cast<std::size_t>(w.own);
                            std::int64_t lost = 1;
                            for (const Plunder& each : plunders) lost += each.got[q];
                            return !rich_[q] || ranges_->end_ps(w.id) - lost * ranges_->item_ps(w) > last_look_ps;
                        });
    if (stayed) {
        for (const Plunder& each : plunders) commit(each);
        return true;
    }
    for (std::size_t i = 0; i < poor_.size(); ++i) actors_[poor_[i]].victims = before[i];
    return false;
}

// Follow one thief; false where it finds nobody to rob.
bool Engine::plunder(Plunder& plunder, std::int64_t until_ps) {
    Worker& w = workers_[plunder.thief];
    ns_stream& draws = actors_[w.id].victims;
    const ns_plan& steal = plan_.steal;
    const std::int64_t total_ps = times_of_phase().total_ps(static_cast<std::size_t>(w.node), 0);
    const std::int64_t latest_ps = 2 * until_ps - now_;
    std::vector<std::int64_t> step_ps(queues_.count());
    std::vector<std::uint8_t> remote(queues_.count());
    for (std::uint32_t q = 0; q < queues_.count(); ++q) {
        step_ps[q] = probe_ps(w, q);
        remote[q] = is_remote(w, q);
    }
    RecordSet records(nullptr);
    const auto record = [&](std::int64_t time, Rank rank, std::uint64_t first, std::uint64_t second) {
        records.add({static_cast<std::uint64_t>(time), rank, w.id, first, second});
    };
    plunder.end_ps = w.due_ps;
    while (plunder.end_ps < until_ps) {
        std::int64_t time = plunder.end_ps, rounds = 0;
        std::uint64_t failed = 0, failed_remote = 0;
        for (std::size_t probe = 0;;) {
            const std::uint32_t segment = w.quiet.segments[probe], low = steal.seg[segment];
            const std::uint32_t q = steal.queue[low + ns_stream_below(&draws, steal.seg[segment + 1] - low)];
            ++plunder.tries[q];
            time += step_ps[q];
            if (rich_[q]) {
                ++plunder.got[q];
                record(time, LOOK, q, 1);
                record(time, POLL, failed, failed_remote);
                plunder.last_look_ps = std::max(plunder.last_look_ps, time);
                plunder.end_ps = time + take_ps(w, q) + total_ps;
                break;
            }
            ++failed;
            failed_remote += remote[q];
            if (++probe < w.quiet.segments.size()) continue;
            probe = 0;
            const std::int64_t wait = wait_ps(++rounds, true);
            plunder.waited_ps += wait;
            time += wait;
            if (time > latest_ps) return false;
        }
    }
    plunder.hash = records.total();
    return true;
}

// Let the thief execute the last item that it got, and count all before as if each had been an event.
void Engine::commit(const Plunder& plunder) {
    Worker& w = workers_[plunder.thief];
    std::int64_t items = 0;
    for (std::uint32_t q = 0; q < queues_.count(); ++q) {
        const std::int64_t tries = plunder.tries[q], got = plunder.got[q];
        if (tries == 0) continue;
        w.counters.idle_steal_ps += tries * probe_ps(w, q);
        w.counters.overhead_ps += got * take_ps(w, q);
        count_attempts(w, q, tries, got, got);
        if (got == 0) continue;
        items += got;
        Worker& victim = owner_of(q);
        ranges_->lose_like(victim, got);
        follow_strand(victim);
    }
    w.counters.idle_backoff_ps += plunder.waited_ps;
    steps_.add_hashed(plunder.hash);
    if (items == 0) return;
    ranges_->steal_like(w, times_of_phase(), items, plunder.end_ps);
    follow_strand(w);
}

}  // namespace numasim
