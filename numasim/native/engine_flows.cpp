// Flows on the engine's clock: when they start, end and are settled (model 1.2; numasim/engine/flows.py).
#include "engine.hpp"

namespace numasim {

// What a new task reads first is fetched while others are being spawned: most of what pricing it takes is a wait for
// that.
void Engine::expect(const Frame& frame) const {
    const bool runs =
        frame.at != plan_.graph.op_ptr[std::size_t{frame.row} + 1] && plan_.graph.op_code[frame.at] == RUN;
    if (runs) flows_->expect(plan_.graph.op_arg[frame.at]);
}

// The children that a task will spawn after its work.
void Engine::foresee(const Frame& frame) const {
    const auto end = static_cast<std::uint32_t>(plan_.graph.op_ptr[std::size_t{frame.row} + 1]);
    const std::uint32_t last = std::min(end, frame.at + 1 + MOST_FORESEEN);
    for (std::uint32_t op = frame.at + 1; op < last && plan_.graph.op_code[op] == SPAWN; ++op) {
        flows_->expect_child(plan_.graph.op_arg[op]);
    }
}

void Engine::start_flow(Worker& w, const Frame& frame, std::uint32_t segment) {
    foresee(frame);
    start_flow(w, {
                      .task = frame.id,
                      .item = w.stack.back(),
                      .row = segment,
                      .segment = plan_.graph.folded ? frame.segments + plan_.graph.segment[frame.at] : segment,
                      .family = GRAPH,
                  });
}

void Engine::start_item_flow(Worker& w, Task task) {
    const std::size_t family = family_of(task);
    start_flow(w, {
                      .task = task,
                      .item = task - static_cast<std::int64_t>(family_base_[family]),
                      .row = 0,
                      .segment = 0,
                      .family = static_cast<std::int32_t>(family),
                  });
}

// Start a stretch of work, with the overhead that is owed in front of it; when it ends is found at the end of the
// instant.
void Engine::start_flow(Worker& w, Stretch work) {
    const Stretch& before = flows_->flow(w.id).work;
    work.goes_on = before.family == work.family && work.family != GRAPH && w.rank == SEG_END && w.due_ps == now_;
    work.start_ps = after(w.owed_ps);
    w.counters.overhead_ps += w.owed_ps;
    w.owed_ps = 0;
    w.segment = work.segment;
    w.began_ps = work.start_ps;
    w.rank = SEG_END;
    w.due_ps = busy_until_[w.id] = now_;
    clock_.clear(w.id);
    flows_->start(w, work);
}

void Engine::end_flow(Worker& w) {
    flows_->end(w, now_);
    if (!keep_log_) return;
    const Stretch& work = flows_->flow(w.id).work;
    log_.push_back({work.task, work.segment, w.id, work.start_ps, now_});
}

void Engine::tell_activity(const Worker& w) {
    flows_->set_activity(w.id, w.rests ? Activity::RESTS : w.idle || w.spins ? Activity::POLLS : Activity::EXECUTES);
}

// The end of an instant in which flows have started or ended, or workers have changed what they do.
void Engine::settle() {
    flows_->settle(now_);
    for (const std::uint32_t w : flows_->started()) {
        const Flow& flow = flows_->flow(w);
        page_faults_ += flow.price.placed;
        pages_migrated_ += flow.price.migrated;
        workers_[w].began_ps = flow.work.start_ps + flow.price.fault_ps;  // faults are told as overhead
        if (flow.work.family == GRAPH) {
            frames_[static_cast<std::size_t>(flow.work.item)].path_ps += flow.local_ps;
        } else {
            phase_span_ps_ = std::max(phase_span_ps_, flow.local_ps);
        }
    }
    reschedule();
    if (watch_ != nullptr) tell_loads();
}

// Schedule the ends of flows that have started or end at another time now.
void Engine::reschedule() {
    const std::vector<std::uint32_t>& moved = flows_->moved();
    const bool many = clock_.are_many(moved.size());
    for (const std::uint32_t id : moved) {
        Worker& w = workers_[id];
        w.due_ps = busy_until_[id] = flows_->end_ps(id);
        if (w.due_ps > LATEST_PS) refuse_time();
        const EventKey key = event_key(w.due_ps, SEG_END, id);
        many ? clock_.put(id, key) : clock_.set(id, key);
    }
    if (many) clock_.rebuild();
}

// Tell what is in use of each resource, where that has changed.
void Engine::tell_loads() {
    const std::vector<std::int64_t>& loads = flows_->loads();
    loads_told_.resize(loads.size(), 0);
    for (std::size_t resource = 0; resource < loads.size(); ++resource) {
        if (loads[resource] == loads_told_[resource]) continue;
        watch_->load(now_, static_cast<std::int64_t>(resource), loads[resource]);
        loads_told_[resource] = loads[resource];
    }
}

// What has been moved from and to memory, of all kinds.
void Engine::sum_traffic() {
    const Traffic& traffic = flows_->traffic();
    for (std::size_t pair = 0; pair < node_bytes_.size(); ++pair) {
        node_bytes_[pair] = traffic.bytes[FETCHED][pair] + traffic.bytes[OWNED][pair] + traffic.bytes[WRITTEN][pair];
    }
}

}  // namespace numasim
