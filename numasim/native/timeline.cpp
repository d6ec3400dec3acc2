// Events and their times; the lowest layer of the engine (numasim/engine/timeline.py).
#include "engine.hpp"

namespace numasim {

namespace {

constexpr std::int64_t NEVER = INT64_MAX;
constexpr std::int64_t EVENTS_BETWEEN_PAUSES = (1 << 20) - 1;

std::vector<std::uint64_t> first_items(const Plan& plan) {
    std::vector<std::uint64_t> base{static_cast<std::uint64_t>(plan.graph.tasks)};
    for (const Family& family : plan.families) base.push_back(base.back() + static_cast<std::uint64_t>(family.count));
    return base;
}

bool any_anchor(const ns_plan& steal, ns_anchor anchor) {
    for (std::uint32_t i = 0; i < steal.steal_levels; ++i) {
        if (steal.level[i].anchor == anchor) return true;
    }
    return false;
}

bool any_inlines(const ns_plan& steal) {
    for (std::uint32_t q = 0; q < steal.queue_count; ++q) {
        if (steal.queues[q].full == NS_FULL_INLINE) return true;
    }
    return false;
}

bool never_full(const Plan& plan) {
    for (std::uint32_t q = 0; q < plan.steal.queue_count; ++q) {
        if (plan.steal.queues[q].capacity != 0) return false;
    }
    return plan.own_dispatch;
}

}  // namespace

Engine::Engine(const Plan& plan, const Listener* listener, Watch* watch, std::function<void()> pause, bool keep_log)
    : plan_(plan),
      tasks_(plan.graph.tasks),
      clock_(std::size_t{plan.workers} + 2 + plan.words.role.size()),
      queues_(plan.steal, plan.thresholds),
      workers_(plan.workers),
      busy_until_(plan.workers, NEVER),
      actors_(std::size_t{plan.workers} + 1),
      cursors_(actors_.size() * plan.steal.levels),
      chances_(actors_.size() * plan.steal.chances),
      family_base_(first_items(plan)),
      pages_(plan),
      objects_(plan, pages_),
      touched_(plan.nodes, 0),
      steps_(listener),
      details_(listener),
      words_(shared_words(plan)),
      overflowed_(plan.steal.queue_count, 0),
      node_attempts_(std::size_t{plan.nodes} * plan.nodes, 0),
      node_success_(node_attempts_.size(), 0),
      node_bytes_(node_attempts_.size(), 0),
      pause_(std::move(pause)),
      watch_(watch),
      keep_log_(keep_log),
      listened_(listener != nullptr),
      has_successors_(!plan.graph.successor.empty()),
      joins_cost_(plan.costs.join_ps != 0 || plan.costs.line),
      inlines_(any_inlines(plan.steal) && !ns_looks_at_data(&plan.steal)),
      strict_(plan.join == Join::STRICT),
      tracks_parent_(any_anchor(plan.steal, NS_ANCHOR_PARENT)),
      looks_at_data_(ns_looks_at_data(&plan.steal)),
      rules_ask_(plan.steal.data_count != 0),
      locks_search_(plan.words.declared < plan.words.role.size()),
      puts_take_time_(plan.costs.push_ps != 0 || !plan.words.queue_lock.empty()) {
    for (std::uint32_t i = 0; i < actors_.size(); ++i) {
        ns_actor_init(&actors_[i], &plan.steal, static_cast<std::int32_t>(i), plan.seed,
                      cursors_.data() + std::size_t{i} * plan.steal.levels,
                      chances_.data() + std::size_t{i} * plan.steal.chances);
    }
    const bool boundless = never_full(plan);
    for (std::uint32_t i = 0; i < plan.workers; ++i) {
        Worker& w = workers_[i];
        w.id = i;
        w.node = plan.node[i];
        w.own = actors_[i].own;
        w.boundless_own = boundless ? w.own : NS_UNKNOWN;
        w.own_back = w.own != NS_UNKNOWN && plan.steal.queues[w.own].own_end != 0;
        w.total_ps = plan.times.total[static_cast<std::size_t>(w.node)].data();
        w.local_ps = plan.times.local[static_cast<std::size_t>(w.node)].data();
    }
    if (has_successors_) {
        dependences_.resize(static_cast<std::size_t>(tasks_));
        predecessors_.assign(static_cast<std::size_t>(tasks_), 0);
        for (const std::uint32_t task : plan.graph.successor) ++predecessors_[task];
    }
    for (const Family& family : plan.families) families_.emplace_back(family, plan.seed, plan.nodes);
    if (plan.effects.coupled) flows_ = std::make_unique<Flows>(plan, families_, pages_, watch != nullptr);
    if (plan.skipping) {
        complete_ = false;
        trees_ = std::make_unique<TreesAhead>(plan.graph, plan.times, plan.node, plan.nodes, node_bytes_.data());
        ranges_ = std::make_unique<RangesAhead>(plan.workers, plan.nodes, plan.costs.pop_ps, node_bytes_.data());
    }
}

void Engine::run() {
    try {
        go_through_phases();
        if (flows_) sum_traffic();
    } catch (const Deadlock&) {
        tell_all();
        throw;
    }
    tell_all();
}

// Listeners and watchers have heard everything up to now.
void Engine::tell_all() {
    steps_.total();
    details_.total();
    if (watch_ != nullptr) watch_->flush();
}

void Engine::go_through_phases() {
    start_phase();
    while (!finished_) {
        const EventKey event = clock_.next();
        if (settles_before(event)) {
            settle();
            continue;
        }
        if (event == NO_EVENT) throw Deadlock(outstanding_, now_);
        if ((++events_ & EVENTS_BETWEEN_PAUSES) == 0) pause();
        now_ = time_of(event);
        handle(event);
    }
}

void Engine::handle(EventKey event) {
    const std::uint32_t actor = actor_of(event);
    switch (rank_of(event)) {
        case SEG_END: return ahead_ != nullptr ? on_strand_end(workers_[actor]) : on_segment_end(workers_[actor]);
        case GRANT: return on_grant(actor);
        case RELEASE: return on_release(actor);
        case WAKE: return on_wake(workers_[actor]);
        case PUT: return actor == producer_id() ? on_produce() : on_put(workers_[actor]);
        case LOOK: return on_look(workers_[actor]);
        case POLL: return proceed(workers_[actor]);
        default: return on_phase_end();
    }
}

// Schedule a step that is all overhead, together with what is owed.
void Engine::schedule_overhead(Worker& w, Rank rank, std::int64_t step_ps) {
    const std::int64_t owed = w.owed_ps + step_ps;
    w.owed_ps = 0;
    w.counters.overhead_ps += owed;
    schedule(w, rank, owed);
}

// Schedule a probe or a wait, with the overhead that is owed in front of it.
void Engine::schedule_idle(Worker& w, Rank rank, std::int64_t step_ps) {
    const std::int64_t owed = w.owed_ps;
    w.owed_ps = 0;
    w.counters.overhead_ps += owed;
    w.step_ps = step_ps;
    schedule(w, rank, owed + step_ps);
}

// Frames are used again, so that there are as many as ever were in use together; range items have none.
std::int64_t Engine::peak_tasks() const {
    return std::max(static_cast<std::int64_t>(frames_.size()), queues_.peak_total());
}

std::size_t Engine::task_bytes() const {
    return frames_.size() * sizeof(Frame) + static_cast<std::size_t>(queues_.peak_entries()) * sizeof(ns_items);
}

}  // namespace numasim
