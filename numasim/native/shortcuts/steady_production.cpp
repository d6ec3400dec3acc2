#include "shortcuts/steady_production.hpp"

#include <algorithm>

#include "policy/dispatch.h"

namespace numasim {

void SteadyProduction::producer_waits() {
    const Producer& p = source_.producers().back();
    const auto number = source_.producers().size();
    if (number != tried_for_) try_below_ = ~std::uint64_t{0};
    tried_for_ = number;
    const std::int32_t rule = ns_dealing_rule(&plan_.steal, static_cast<std::int32_t>(clock_.producer()));
    if (!plan_.skip || rule < 0 || p.left >= try_below_ || !is_steady()) return;
    std::int64_t& cursor = queues_.actor(clock_.producer()).cursor[rule];
    Steady steady{
        .waiting_since_ps = clock_.now_ps(),
        .cursor = static_cast<std::uint64_t>(cursor),
        .push_ps = plan_.costs.push_ps,
        .left = p.left,
    };
    const ItemTimes& times = ranges_.times(ranges_.family_of(static_cast<Task>(p.next)));
    for (const Worker& w : team_) {
        const auto q = static_cast<std::uint32_t>(w.own);
        const std::int64_t low = std::max(queues_.contents().low(q), std::max<std::int64_t>(plan_.refill, 0));
        steady.end_ps.push_back(w.step.due_ps());
        steady.period_ps.push_back(plan_.costs.pop_ps + memory_.steady_ps(w, times));
        steady.spare.push_back(std::max<std::int64_t>(0, queues_.contents().capacity(q) - low - 2));
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
        return w.step.rank() == SEG_END && w.step.due_ps() > clock_.now_ps() && w.stack.size() == 1 &&
               ranges_.holds(w.stack.front()) && w.agenda.empty();
    };
    if (memory_.coupled() && (memory_.settles() || plan_.effects.task_noise_ppm != 0)) return false;
    return plan_.one_queue_each && !sync_.lock_searches() && queues_.contents().total() == plan_.room &&
           ranges_.all_uniform() && std::all_of(team_.begin(), team_.end(), has_only_an_item) &&
           queues_.none_below(plan_.graph.tasks);
}

// Take the state of `moment`, when worker w has taken `taken[w]` items more.
void SteadyProduction::move_on(const ItemTimes& times, const Moment& moment, const std::vector<std::int64_t>& taken) {
    std::int64_t made = 0;
    for (Worker& w : team_) {
        const std::int64_t items = taken[w.id];
        const std::int64_t due_ps = w.step.due_ps() + items * (plan_.costs.pop_ps + memory_.steady_ps(w, times));
        w.counters.add_tasks(items);
        w.counters.add_overhead(items * plan_.costs.pop_ps);
        queues_.pass(static_cast<std::uint32_t>(w.own), items);
        memory_.pass_items(w, times, items, due_ps);
        clock_.schedule(w, SEG_END, due_ps - clock_.now_ps());
        made += items;
    }
    for (Worker& w : team_) w.stack.front() += made;
    queues_.renumber(made);
    source_.pass_items(made, moment.waiting_since_ps);
    passed_items_ += made;
    recorder_.lose_details();
}

}  // namespace numasim
