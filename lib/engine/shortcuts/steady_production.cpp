#include "shortcuts/steady_production.hpp"

#include <algorithm>

#include "policy/dispatch.h"

namespace numasim {

void SteadyProduction::producer_waits() {
    const Producer& p = source_.producers().back();
    const auto number = source_.producers().size();
    if (number != tried_for_) try_below_ = ~std::uint64_t{0};
    tried_for_ = number;
    const std::int32_t rule = ns_dealing_rule(&run_.plan.steal, static_cast<std::int32_t>(run_.clock.producer()));
    if (!run_.plan.skip || rule < 0 || p.left >= try_below_ || !is_steady()) return;
    std::int64_t& cursor = run_.queues.actor(run_.clock.producer()).cursor[rule];
    Steady steady{
        .waiting_since_ps = run_.clock.now_ps(),
        .cursor = static_cast<std::uint64_t>(cursor),
        .push_ps = run_.plan.costs.push_ps,
        .left = p.left,
    };
    const ItemTimes& times = run_.ranges.times(run_.ranges.family_of(static_cast<Task>(p.next)));
    for (const Worker& w : run_.team) {
        const auto q = static_cast<std::uint32_t>(w.own);
        const std::int64_t low =
            std::max(run_.queues.contents().thresholds[q].low, std::max<std::int64_t>(run_.plan.refill, 0));
        steady.end_ps.push_back(memory_.end_ps(w));
        steady.period_ps.push_back(run_.plan.costs.pop_ps + memory_.steady_ps(w, times));
        steady.spare.push_back(std::max<std::int64_t>(0, run_.queues.contents().capacity[q] - low - 2));
        steady.announces.push_back(ns_queues_room_to_announce(&run_.queues.contents(), q));
    }
    const std::optional<Moment> moment = follow(steady);
    try_below_ = p.left / 2;
    if (!moment) return;
    cursor = static_cast<std::int64_t>(moment->cursor);
    move_on(times, *moment, taken_before(steady, moment->time_ps));
}

// Whether nothing but the taking and the making of like items goes on.
bool SteadyProduction::is_steady() const {
    const auto has_only_an_item = [this](const Worker& w) {
        return w.step.rank() == SEG_END && memory_.end_ps(w) > run_.clock.now_ps() && w.stack.size() == 1 &&
               run_.ranges.holds(w.stack.back()) && w.agenda.empty();
    };
    if (memory_.coupled() && (memory_.settles() || run_.plan.effects.task_noise_ppm != 0)) return false;
    return run_.plan.one_queue_each && !run_.plan.locks_search && run_.queues.contents().total == run_.plan.room &&
           run_.ranges.all_uniform() && std::all_of(run_.team.begin(), run_.team.end(), has_only_an_item) &&
           run_.queues.none_below(run_.plan.graph.tasks);
}

// Take the state of `moment`, when worker w has taken `taken[w]` items more.
void SteadyProduction::move_on(const ItemTimes& times, const Moment& moment, const std::vector<std::int64_t>& taken) {
    std::int64_t made = 0;
    for (Worker& w : run_.team) {
        const std::int64_t items = taken[w.id];
        const std::int64_t due_ps = memory_.end_ps(w) + items * (run_.plan.costs.pop_ps + memory_.steady_ps(w, times));
        w.counters.tasks += items;
        w.counters.overhead_ps += items * run_.plan.costs.pop_ps;
        run_.queues.pass(static_cast<std::uint32_t>(w.own), items);
        if (moment.announced[w.id]) ns_queues_announce(run_.queues.core(), static_cast<std::uint32_t>(w.own));
        memory_.pass_items(w, times, items, due_ps);
        made += items;
    }
    for (Worker& w : run_.team) w.stack.back() += made;
    run_.queues.renumber(made);
    source_.pass_items(made, moment.waiting_since_ps);
    passed_items_ += made;
    run_.recorder.lose_details();
}

}  // namespace numasim
