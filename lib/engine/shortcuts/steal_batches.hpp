// Steals in bulk: while long queues stay long and empty queues stay empty, the result of a probe does not depend on the
// time of the probe (model 1.8, as it applies to thieves).
//
// If all items take equal times, and each worker has either many items or none left, thieves do not influence each
// other: a thief draws victims, finds an item if and only if the victim's queue is long, and executes the item. The
// thieves are therefore followed one by one, without a common clock, up to a time at which no long queue should be
// empty yet. The result is used only if no long queue is empty at that time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "checked.hpp"
#include "idle/polling.hpp"
#include "shortcuts/skip_ahead.hpp"
#include "state/run.hpp"

namespace numasim {

constexpr std::int64_t MANY_ITEMS = 64;        // a queue with so many items is long
constexpr std::int64_t EVENTS_BETWEEN = 4096;  // between two tries, so that tries cost little

class StealBatches {
public:
    StealBatches(Run& run, SkipAhead& skipping, Polling& polling) : run_(run), skipping_(skipping), polling_(polling) {}

    // A steal has succeeded. Pass over the following steals if possible, unless the last try was a few events ago.
    void after_steal() {
        if (run_.clock.events() >= next_try_) pass();
    }

private:
    // The steals of one thief in the time that is passed over: probes and stolen items by queue.
    struct StealBatch {
        std::uint32_t thief;
        std::vector<std::int64_t> tries, got;  // [queues]
        std::int64_t waited_ps = 0, end_ps = 0;
        std::uint64_t hash = 0;  // of the thief's records of steps
    };

    // A thief's rounds until it finds an item: the queues that it has probed, of which only the last is long.
    struct Search {
        std::vector<std::uint32_t> probed;
        std::int64_t time_ps = 0, waited_ps = 0;
        std::uint64_t failed_remote = 0;
    };

    [[gnu::noinline]] void pass() {
        next_try_ = run_.clock.events() + EVENTS_BETWEEN;
        items_ = skipping_.ranges();
        if (items_ == nullptr || run_.recorder.listened() || run_.plan.backoff_after_probe || !sort_workers()) return;
        const std::int64_t least_ps = MANY_ITEMS * stolen_item_ps();
        for (std::int64_t far_ps = queues_last_ps(); far_ps > least_ps; far_ps /= 2) {
            if (!pass_until(run_.clock.now_ps() + far_ps)) continue;
            next_try_ = run_.clock.events();
            return;
        }
    }

    // Whether every worker either has many items left, or executes its last item and will then steal at random.
    bool sort_workers() {
        if (!items_->like_and_steady()) return false;
        thieves_.clear();
        long_.assign(queue_count(), 0);
        for (Worker& w : run_.team) {
            if (w.step.rank() != SEG_END) return false;
            if (items_->holds_task(w, run_.clock.now_ps())) {
                if (items_->end_ps(w.id) - run_.clock.now_ps() < MANY_ITEMS * items_->item_ps(w)) return false;
                long_[static_cast<std::size_t>(w.own)] = 1;
            } else {
                const QuietRound& quiet = polling_.quiet_round(w);
                if (!quiet.known || quiet.probes <= 0) return false;
                thieves_.push_back(w.id);
            }
        }
        return !thieves_.empty() && thieves_.size() < run_.team.size();
    }

    // Return an estimate of how long no long queue runs empty, if thieves take equally often from all long queues: from
    // each queue, the owner takes an item every `item_ps`, and the thieves take one every `stolen_ps` * long queues /
    // thieves. The result is reduced by a sixteenth, because thieves do not take exactly equally often.
    std::int64_t queues_last_ps() const {
        const std::int64_t stolen_ps = stolen_item_ps();
        std::int64_t last = std::numeric_limits<std::int64_t>::max();
        for (const Worker& w : run_.team) {
            if (!long_[static_cast<std::size_t>(w.own)]) continue;
            const Wide undisturbed_ps = items_->end_ps(w.id) - run_.clock.now_ps();
            const Wide owner = Wide{stolen_ps} * static_cast<std::int64_t>(run_.team.size() - thieves_.size());
            const Wide thieves = Wide{items_->item_ps(w)} * static_cast<std::int64_t>(thieves_.size());
            last =
                std::min(last, static_cast<std::int64_t>(undisturbed_ps * owner / std::max<Wide>(1, owner + thieves)));
        }
        return last / 16 * 15;
    }

    // How long the first thief takes for a stolen item. Thieves on other nodes may be a little faster or slower.
    std::int64_t stolen_item_ps() const { return items_->stolen_item_ps(run_.team[thieves_.front()]); }

    // Follow the thieves through all steals that take effect before `until_ps`. Returns false and changes nothing if a
    // long queue could be empty by then.
    bool pass_until(std::int64_t until_ps) {
        std::vector<StealBatch> batches;
        std::vector<ns_stream> before;
        for (const std::uint32_t id : thieves_) {
            before.push_back(run_.queues.actor(id).victims);
            batches.push_back({.thief = id,
                               .tries = std::vector<std::int64_t>(queue_count()),
                               .got = std::vector<std::int64_t>(queue_count())});
            follow(batches.back(), until_ps);
            run_.pause();
        }
        const bool stayed = std::ranges::all_of(run_.team, [&](const Worker& w) {
            const auto q = static_cast<std::size_t>(w.own);
            std::int64_t lost = 1;
            for (const StealBatch& each : batches) lost += each.got[q];
            return !long_[q] || items_->end_ps(w.id) - lost * items_->item_ps(w) > until_ps;
        });
        if (stayed) {
            for (const StealBatch& each : batches) commit(each);
            return true;
        }
        for (std::size_t i = 0; i < thieves_.size(); ++i) run_.queues.actor(thieves_[i]).victims = before[i];
        return false;
    }

    // Follow one thief up to the end of the last item that it steals before `until_ps`.
    void follow(StealBatch& batch, std::int64_t until_ps) {
        const Worker& w = run_.team[batch.thief];
        const std::int64_t total_ps = items_->stolen_item_ps(w);
        std::vector<std::int64_t> step_ps(queue_count());
        for (std::uint32_t q = 0; q < queue_count(); ++q) step_ps[q] = ns_probe_ps(&run_.plan, &w, q);
        RecordSet records(nullptr);
        const auto record = [&](std::int64_t time, Rank rank, std::uint64_t first, std::uint64_t second) {
            records.add({static_cast<std::uint64_t>(time), rank, w.id, first, second});
        };
        Search search;
        batch.end_ps = w.step.due_ps();
        while (batch.end_ps < until_ps && find_task(search, w, batch.end_ps, until_ps, step_ps)) {
            for (const std::uint32_t q : search.probed) ++batch.tries[q];
            ++batch.got[search.probed.back()];
            batch.waited_ps += search.waited_ps;
            record(search.time_ps, LOOK, search.probed.back(), 1);
            record(search.time_ps, POLL, search.probed.size() - 1, search.failed_remote);
            batch.end_ps = search.time_ps + ns_take_ps(&run_.plan, &w, search.probed.back()) + total_ps;
        }
        batch.hash = records.total();
    }

    // Make the rounds of a thief from `start_ps` until it finds an item. Returns false, and uses up no random number,
    // if it finds no item before `until_ps`.
    bool find_task(Search& search, const Worker& w, std::int64_t start_ps, std::int64_t until_ps,
                   const std::vector<std::int64_t>& step_ps) {
        ns_stream& draws = run_.queues.actor(w.id).victims;
        const ns_stream before = draws;
        std::uint64_t lap_begin = before.drawn;
        search.probed.clear();
        search.waited_ps = 0;
        search.failed_remote = 0;
        search.time_ps = start_ps;
        for (std::int64_t rounds = 1;; ++rounds) {
            for (const std::uint32_t segment : w.quiet.segments) {
                const std::uint32_t q = ns_segment_draw(&run_.plan.steal, segment, &draws);
                search.time_ps += step_ps[q];
                search.probed.push_back(q);
                if (long_[q] && search.time_ps < until_ps) return true;
                search.failed_remote += ns_is_remote(&run_.plan, &w, q);
            }
            ns_begin_lap(&run_.plan.steal, rounds, &lap_begin, &draws);
            const std::int64_t wait = ns_backoff_wait_ps(&run_.plan.backoff, rounds, true);
            search.waited_ps += wait;
            search.time_ps += wait;
            if (search.time_ps >= until_ps) {
                draws = before;
                return false;
            }
        }
    }

    // Let the thief execute its last stolen item. Count its earlier stolen items as if each had been an event.
    void commit(const StealBatch& batch) {
        Worker& w = run_.team[batch.thief];
        std::int64_t items = 0;
        for (std::uint32_t q = 0; q < queue_count(); ++q) {
            const std::int64_t tries = batch.tries[q], got = batch.got[q];
            if (tries == 0) continue;
            w.counters.idle_steal_ps += tries * ns_probe_ps(&run_.plan, &w, q);
            w.counters.overhead_ps += got * ns_take_ps(&run_.plan, &w, q);
            ns_count_attempts(&run_.steals, &run_.plan, &w, q, tries, got, got);
            if (got == 0) continue;
            items += got;
            Worker& victim = skipping_.owner_of(q);
            items_->lose_like(victim, got);
            skipping_.reschedule(victim);
        }
        w.counters.idle_backoff_ps += batch.waited_ps;
        run_.recorder.add_hashed_steps(batch.hash);
        if (items == 0) return;
        items_->steal_like(w, items, batch.end_ps);
        skipping_.reschedule(w);
    }

    std::uint32_t queue_count() const { return run_.plan.steal.queue_count; }

    Run& run_;
    SkipAhead& skipping_;
    Polling& polling_;
    SkippedRanges* items_ = nullptr;      // the range of the present phase
    std::vector<std::uint8_t> long_;      // [queues] whether each holds many items
    std::vector<std::uint32_t> thieves_;  // the workers that steal
    std::int64_t next_try_ = 0;           // number of the event
};

}  // namespace numasim
