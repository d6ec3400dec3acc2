// Making the items of implicit ranges, and passing over production in steady state (model 3.5, 1.8; A-1;
// numasim/engine/production.py, bulk.py).
#include <algorithm>

#include "engine.hpp"
#include "policy/dispatch.h"
#include "steady.hpp"

namespace numasim {

// An extra producer, or production as the first work of worker 0.
void Engine::start_producer(std::uint64_t first, std::uint64_t count) {
    if (plan_.maker == Maker::MASTER) {
        workers_.front().stack.push_back(PRODUCTION);
        production_next_ = first;
        production_left_ = count;
        return;
    }
    Producer& p = producers_.emplace_back();
    p.node = workers_.front().node;
    p.next = first;
    p.left = count;
    produce_later(p);
}

// Worker 0 creates the next item: into a queue, or executed at once where its own is full.
void Engine::produce(Worker& w) {
    if (production_left_ == 0) {
        w.stack.pop_back();
        return;
    }
    const auto item = static_cast<Task>(production_next_++);
    --production_left_;
    if (inlines_ && must_inline(w)) {
        w.stack.push_back(item);
    } else {
        offer(w, item);
    }
}

// How long the next item takes, and the decision where the last one went.
std::int64_t Engine::making_ps(const Producer& p) const {
    return plan_.costs.push_ps + (p.looked ? plan_.costs.locate_ps : 0);
}

void Engine::produce_later(Producer& p) {
    const std::int64_t step_ps = making_ps(p);
    p.due_ps = after(step_ps);
    p.overhead_ps += step_ps;
    clock_.set(producer_id(), event_key(p.due_ps, PUT, producer_id()));
}

// The producer's next item becomes visible in a queue, or the producer waits for its lock, or for room.
void Engine::on_produce() {
    Producer& p = producers_.back();
    clock_.clear(producer_id());
    if (watch_ != nullptr) watch_->tell(Watched::OVERHEAD, producer_id(), p.due_ps - making_ps(p), p.due_ps);
    const std::int32_t q = place(producer_id(), static_cast<Task>(p.next));
    p.looked = looked_;
    const std::int32_t lock = queue_lock(q);
    if (lock == NO_LOCK) return put_item(p, q);
    p.target = q;
    request(static_cast<std::uint32_t>(lock), producer_id(), Then::PRODUCE);
}

void Engine::put_item(Producer& p, std::int32_t q) {
    const auto item = static_cast<Task>(p.next);
    if (q >= 0) {
        push(static_cast<std::uint32_t>(q), item);
        record_detail(PUT, producer_id(), item, q);
        ++p.next;
        --p.left;
    }
    if (p.left == 0) return;
    if (q >= 0 && queues_.total() < plan_.room) {
        produce_later(p);
    } else {
        p.waiting = true;
        p.waiting_since = now_;
        producer_waits(p);
    }
}

void Engine::end_wait(Producer& p) {
    p.waiting = false;
    p.parked_ps += now_ - p.waiting_since;
    if (watch_ != nullptr) watch_->tell(Watched::PARKED, producer_id(), p.waiting_since, now_);
    produce_later(p);
}

// ---- steady state -------------------------------------------------------------------------------------------------

// The producer has found every queue full: where nothing but the taking and the making of like items goes on, follow
// that.
void Engine::producer_waits(Producer& p) {
    const std::int32_t rule = ns_dealing_rule(&plan_.steal, static_cast<std::int32_t>(producer_id()));
    if (!plan_.skip || rule < 0 || p.left >= p.try_below || !is_steady()) return;
    Steady steady{
        .waiting_since_ps = now_,
        .cursor = static_cast<std::uint64_t>(actors_[producer_id()].cursor[rule]),
        .push_ps = plan_.costs.push_ps,
        .left = p.left,
    };
    const ItemTimes& times = families_[family_of(static_cast<Task>(p.next))];
    for (const Worker& w : workers_) {
        const auto q = static_cast<std::uint32_t>(w.own);
        const std::int64_t low = std::max(queues_.low(q), std::max<std::int64_t>(plan_.refill, 0));
        steady.end_ps.push_back(w.due_ps);
        steady.period_ps.push_back(plan_.costs.pop_ps + item_ps(w, times));
        steady.spare.push_back(std::max<std::int64_t>(0, queues_.capacity(q) - low - 2));
    }
    const std::optional<Moment> moment = follow(steady);
    p.try_below = p.left / 2;
    if (!moment) return;
    actors_[producer_id()].cursor[rule] = static_cast<std::int64_t>(moment->cursor);
    move_on(p, times, *moment, taken_before(steady, moment->time_ps));
}

// Whether nothing but the taking and the making of like items goes on.
bool Engine::is_steady() {
    const auto has_only_an_item = [this](const Worker& w) {
        return w.rank == SEG_END && w.due_ps > now_ && w.stack.size() == 1 && is_item(w.stack.front()) &&
               w.agenda.empty();
    };
    if (flows_ && (flows_->settles() || plan_.effects.task_noise_ppm != 0)) return false;
    return plan_.one_queue_each && !locks_search_ && queues_.total() == plan_.room &&
           std::all_of(families_.begin(), families_.end(), [](const ItemTimes& times) { return times.uniform(); }) &&
           std::all_of(workers_.begin(), workers_.end(), has_only_an_item) && queues_hold_only_items();
}

bool Engine::queues_hold_only_items() {
    for (std::uint32_t q = 0; q < queues_.count(); ++q) {
        Ring<ns_items>& entries = queues_.entries(q);
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (!is_item(static_cast<Task>(entries.at(i).first))) return false;
        }
    }
    return true;
}

// Take the state of `moment`, when worker w has taken `taken[w]` items more.
void Engine::move_on(Producer& p, const ItemTimes& times, const Moment& moment,
                     const std::vector<std::int64_t>& taken) {
    std::int64_t made = 0;
    for (Worker& w : workers_) {
        pass_items(w, times, taken[w.id]);
        made += taken[w.id];
    }
    for (Worker& w : workers_) w.stack.front() += made;
    for (std::uint32_t q = 0; q < queues_.count(); ++q) {
        Ring<ns_items>& entries = queues_.entries(q);
        for (std::size_t i = 0; i < entries.size(); ++i) entries.at(i).first += static_cast<std::uint64_t>(made);
    }
    outstanding_ -= made;
    p.next += static_cast<std::uint64_t>(made);
    p.left -= static_cast<std::uint64_t>(made);
    p.overhead_ps += made * plan_.costs.push_ps;
    p.parked_ps += moment.waiting_since_ps - p.waiting_since - made * plan_.costs.push_ps;
    p.waiting_since = moment.waiting_since_ps;
    passed_items_ += made;
    complete_ = false;
}

// What an item takes the worker while nothing changes.
std::int64_t Engine::item_ps(const Worker& w, const ItemTimes& times) const {
    return flows_ ? flows_->steady_ps(w.id) : times.total_ps(static_cast<std::size_t>(w.node), 0);
}

// Count `taken` items for a worker and move the end of the one it has in hand.
void Engine::pass_items(Worker& w, const ItemTimes& times, std::int64_t taken) {
    const auto node = static_cast<std::size_t>(w.node);
    const std::int64_t due_ps = w.due_ps + taken * (plan_.costs.pop_ps + item_ps(w, times));
    w.counters.tasks += taken;
    w.counters.overhead_ps += taken * plan_.costs.pop_ps;
    queues_.pushes(static_cast<std::uint32_t>(w.own)) += taken;
    if (flows_) {
        flows_->pass(w, taken, due_ps);
    } else {
        const std::int64_t total = times.total_ps(node, 0), local = times.local_ps(node, 0);
        w.counters.work_local_ps += taken * local;
        w.counters.inflation_numa_ps += taken * (total - local);
        times.add_traffic({0, 0, 1}, taken, node_bytes_.data() + node * plan_.nodes);
    }
    schedule(w, SEG_END, due_ps - now_);
}

}  // namespace numasim
