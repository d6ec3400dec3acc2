// Steals in bulk: while the rich stay rich and the poor stay poor, what comes of a probe does not depend on when it is sent
// (model 1.8, for thieves).
//
// Where some workers have run out of like items and others have many left, each thief's course is its own: it draws
// victims, finds a task exactly where the victim is rich, and executes it. So the thieves are followed one by one, without
// a common clock, to a time before which no rich queue can have run dry; afterwards it is checked that none has.
#include <algorithm>
#include <limits>

#include "engine.hpp"

namespace numasim {

namespace {

constexpr std::int64_t MANY_ITEMS = 64;        // a queue with so many counts as rich
constexpr std::int64_t EVENTS_BETWEEN = 4096;  // tries that cannot succeed cost little beside so many events

// What a try changes and gives back if it fails.
struct Before {
    std::vector<Counters> counters;
    std::vector<ns_stream> victims;
    std::vector<std::int64_t> attempts, success;
};

}  // namespace

void Engine::pass_steals() {
    plunder_.next_try = events_ + EVENTS_BETWEEN;
    if (ahead_ != ranges_.get() || listened_ || plan_.backoff_after_probe || !sort_rich_and_poor()) return;
    std::int64_t undisturbed = std::numeric_limits<std::int64_t>::max(), item = 0;
    for (const Worker& w : workers_) {
        if (!plunder_.rich[w.id]) continue;
        undisturbed = std::min(undisturbed, ranges_->end_ps(w.id) - now_);
        item = std::max(item, ranges_->item_ps(w));
    }
    while (undisturbed / 16 * plunder_.sixteenths > MANY_ITEMS * item) {
        if (pass_steals_until(now_ + undisturbed / 16 * plunder_.sixteenths)) {
            plunder_.next_try = events_;
            return;
        }
        if (plunder_.sixteenths == 1) return;
        --plunder_.sixteenths;
    }
}

// Whether every worker either has many items left or is executing its last and then steals at random.
bool Engine::sort_rich_and_poor() {
    const ItemTimes& times = families_[static_cast<std::size_t>(plan_.phases[phase_].family)];
    if (!times.uniform()) return false;
    plunder_.poor.clear();
    plunder_.rich.assign(workers_.size(), 0);
    bool any_rich = false;
    for (Worker& w : workers_) {
        if (w.rank != SEG_END) return false;
        if (ranges_->holds_task(w, now_)) {
            if (ranges_->end_ps(w.id) - now_ < MANY_ITEMS * ranges_->item_ps(w)) return false;
            plunder_.rich[w.id] = any_rich = true;
        } else {
            if (!w.quiet.known) learn_quiet_round(w);
            if (!w.quiet.known || w.quiet.probes <= 0) return false;
            plunder_.poor.push_back(w.id);
        }
    }
    return any_rich && !plunder_.poor.empty();
}

// Follow the poor until they end strands at `until_ps` or later; false, and nothing has changed, if a rich queue could have
// run dry by then.
bool Engine::pass_steals_until(std::int64_t until_ps) {
    Before before{{}, {}, node_attempts_, node_success_};
    for (const std::uint32_t id : plunder_.poor) {
        before.counters.push_back(workers_[id].counters);
        before.victims.push_back(actors_[id].victims);
    }
    plunder_.lost.assign(workers_.size(), 0);
    plunder_.got.assign(workers_.size(), 0);
    plunder_.end_ps.assign(workers_.size(), 0);
    plunder_.last_look_ps = until_ps;
    RecordSet hashed(nullptr);
    std::swap(hashed, steps_);
    const bool found = std::ranges::all_of(plunder_.poor, [&](std::uint32_t id) { return steal_until(workers_[id], until_ps); });
    std::swap(hashed, steps_);
    const bool stayed = std::ranges::all_of(workers_, [&](const Worker& w) {
        return !plunder_.rich[w.id] || ranges_->end_ps(w.id) - (plunder_.lost[w.id] + 1) * ranges_->item_ps(w) > plunder_.last_look_ps;
    });
    if (found && stayed) {
        steps_.add_hashed(hashed.total());
        commit_steals();
        return true;
    }
    for (std::size_t i = 0; i < plunder_.poor.size(); ++i) {
        workers_[plunder_.poor[i]].counters = before.counters[i];
        actors_[plunder_.poor[i]].victims = before.victims[i];
    }
    node_attempts_ = std::move(before.attempts);
    node_success_ = std::move(before.success);
    return false;
}

// Follow one thief; false where it finds nobody to rob.
bool Engine::steal_until(Worker& w, std::int64_t until_ps) {
    const ItemTimes& times = families_[static_cast<std::size_t>(plan_.phases[phase_].family)];
    const std::int64_t total_ps = times.total_ps(static_cast<std::size_t>(w.node), 0), started = now_;
    std::int64_t end = w.due_ps;
    while (end < until_ps) {
        w.failed = w.failed_remote = 0;
        std::int64_t look = end;
        const std::uint32_t q = find_victim(w, look, 2 * until_ps - started);
        if (q == NOBODY) return false;
        now_ = look;
        count_attempt(w, q, 1);
        record_step(LOOK, w.id, q, 1);
        record_step(POLL, w.id, w.failed, w.failed_remote);
        now_ = started;
        w.counters.overhead_ps += take_ps(w, q);
        plunder_.last_look_ps = std::max(plunder_.last_look_ps, look);
        ++plunder_.lost[owner_of(q).id];
        ++plunder_.got[w.id];
        end = look + take_ps(w, q) + total_ps;
    }
    plunder_.end_ps[w.id] = end;
    return true;
}

// The queue at which a thief's rounds from `time_ps` on first succeed, and when: NOBODY where that is later than `latest_ps`.
std::uint32_t Engine::find_victim(Worker& w, std::int64_t& time_ps, std::int64_t latest_ps) {
    const ns_plan& steal = plan_.steal;
    for (std::int64_t fails = 1; time_ps <= latest_ps; ++fails) {
        for (const std::uint32_t segment : w.quiet.segments) {
            const std::uint32_t low = steal.seg[segment];
            const std::uint32_t q = steal.queue[low + ns_stream_below(&actors_[w.id].victims, steal.seg[segment + 1] - low)];
            const std::int64_t step = probe_ps(w, q);
            w.counters.idle_steal_ps += step;
            time_ps += step;
            if (plunder_.rich[owner_of(q).id]) return q;
            count_attempt(w, q, 0);
        }
        const std::int64_t wait = wait_ps(fails, true);
        w.counters.idle_backoff_ps += wait;
        time_ps += wait;
    }
    return NOBODY;
}

// Let the state be that in which every thief executes the last item that it got.
void Engine::commit_steals() {
    const ItemTimes& times = families_[static_cast<std::size_t>(plan_.phases[phase_].family)];
    for (Worker& w : workers_) {
        if (plunder_.lost[w.id] != 0) {
            ranges_->lose_like(w, plunder_.lost[w.id]);
            follow_strand(w);
        }
        if (plunder_.got[w.id] != 0) {
            ranges_->steal_like(w, times, plunder_.got[w.id], plunder_.end_ps[w.id]);
            follow_strand(w);
        }
    }
}

}  // namespace numasim
