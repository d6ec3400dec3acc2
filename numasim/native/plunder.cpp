// Steals in bulk: while the rich stay rich and the poor stay poor, what comes of a probe does not depend on when it is
// sent (model 1.8, for thieves).
//
// Where some workers have run out of like items and others have many left, each thief's course is its own: it draws
// victims, finds a task exactly where the victim is rich, and executes it. So the thieves are followed one by one,
// without a common clock, to a time before which no rich queue should have run dry; only if none has, it is taken over.
#include <algorithm>
#include <limits>

#include "engine.hpp"

namespace numasim {

namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t MANY_ITEMS = 64;        // a queue with so many counts as rich
constexpr std::int64_t EVENTS_BETWEEN = 4096;  // tries that cannot succeed cost little beside so many events

}  // namespace

void Engine::pass_steals() {
    next_plunder_ = events_ + EVENTS_BETWEEN;
    if (ahead_ != ranges_.get() || listened_ || plan_.backoff_after_probe || !sort_rich_and_poor()) return;
    const std::int64_t least_ps = MANY_ITEMS * stolen_item_ps();
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

// For how long no rich queue should run dry if thieves rob all of them alike: its owner takes an item every `item_ps`,
// the thieves together one every `stolen_ps` * rich / poor. A little less, as they do not rob alike.
std::int64_t Engine::riches_last_ps() const {
    const std::int64_t stolen_ps = stolen_item_ps();
    std::int64_t last = std::numeric_limits<std::int64_t>::max();
    for (const Worker& w : workers_) {
        if (!rich_[static_cast<std::size_t>(w.own)]) continue;
        const Wide undisturbed_ps = ranges_->end_ps(w.id) - now_;
        const Wide owner = Wide{stolen_ps} * static_cast<std::int64_t>(workers_.size() - poor_.size());
        const Wide thieves = Wide{ranges_->item_ps(w)} * static_cast<std::int64_t>(poor_.size());
        last = std::min(last, static_cast<std::int64_t>(undisturbed_ps * owner / std::max<Wide>(1, owner + thieves)));
    }
    return last / 16 * 15;
}

// What a stolen item takes a thief; thieves on other nodes may be a little faster or slower.
std::int64_t Engine::stolen_item_ps() const {
    return times_of_phase().total_ps(static_cast<std::size_t>(workers_[poor_.front()].node), 0);
}

// Follow the poor through all steals that take effect before `until_ps`; false, and nothing has changed, if a rich
// queue could have run dry by then.
bool Engine::pass_steals_until(std::int64_t until_ps) {
    std::vector<Plunder> plunders;
    std::vector<ns_stream> before;
    for (const std::uint32_t id : poor_) {
        before.push_back(actors_[id].victims);
        plunders.push_back({.thief = id,
                            .tries = std::vector<std::int64_t>(queues_.count()),
                            .got = std::vector<std::int64_t>(queues_.count())});
        plunder(plunders.back(), until_ps);
        pause();
    }
    const bool stayed = std::ranges::all_of(workers_, [&](const Worker& w) {
        const auto q = static_cast<std::size_t>(w.own);
        std::int64_t lost = 1;
        for (const Plunder& each : plunders) lost += each.got[q];
        return !rich_[q] || ranges_->end_ps(w.id) - lost * ranges_->item_ps(w) > until_ps;
    });
    if (stayed) {
        for (const Plunder& each : plunders) commit(each);
        return true;
    }
    for (std::size_t i = 0; i < poor_.size(); ++i) actors_[poor_[i]].victims = before[i];
    return false;
}

// Follow one thief up to the end of the last item that it gets before `until_ps`.
void Engine::plunder(Plunder& plunder, std::int64_t until_ps) {
    const Worker& w = workers_[plunder.thief];
    const std::int64_t total_ps = times_of_phase().total_ps(static_cast<std::size_t>(w.node), 0);
    std::vector<std::int64_t> step_ps(queues_.count());
    for (std::uint32_t q = 0; q < queues_.count(); ++q) step_ps[q] = probe_ps(w, q);
    RecordSet records(nullptr);
    const auto record = [&](std::int64_t time, Rank rank, std::uint64_t first, std::uint64_t second) {
        records.add({static_cast<std::uint64_t>(time), rank, w.id, first, second});
    };
    Raid raid;
    plunder.end_ps = w.due_ps;
    while (plunder.end_ps < until_ps && find_rich(raid, w, plunder.end_ps, until_ps, step_ps)) {
        for (const std::uint32_t q : raid.probed) ++plunder.tries[q];
        ++plunder.got[raid.probed.back()];
        plunder.waited_ps += raid.waited_ps;
        record(raid.time_ps, LOOK, raid.probed.back(), 1);
        record(raid.time_ps, POLL, raid.probed.size() - 1, raid.failed_remote);
        plunder.end_ps = raid.time_ps + take_ps(w, raid.probed.back()) + total_ps;
    }
    plunder.hash = records.total();
}

// The rounds of a thief from `start_ps` on up to its next success; false, and no draw taken, if there is none before
// `until_ps`.
bool Engine::find_rich(Raid& raid, const Worker& w, std::int64_t start_ps, std::int64_t until_ps,
                       const std::vector<std::int64_t>& step_ps) {
    ns_stream& draws = actors_[w.id].victims;
    const ns_stream before = draws;
    raid.probed.clear();
    raid.waited_ps = 0;
    raid.failed_remote = 0;
    raid.time_ps = start_ps;
    for (std::int64_t rounds = 1;; ++rounds) {
        for (const std::uint32_t segment : w.quiet.segments) {
            const std::uint32_t low = plan_.steal.seg[segment], size = plan_.steal.seg[segment + 1] - low;
            const std::uint32_t q = plan_.steal.queue[low + ns_stream_below(&draws, size)];
            raid.time_ps += step_ps[q];
            raid.probed.push_back(q);
            if (rich_[q] && raid.time_ps < until_ps) return true;
            raid.failed_remote += is_remote(w, q);
        }
        const std::int64_t wait = wait_ps(rounds, true);
        raid.waited_ps += wait;
        raid.time_ps += wait;
        if (raid.time_ps >= until_ps) {
            draws = before;
            return false;
        }
    }
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
