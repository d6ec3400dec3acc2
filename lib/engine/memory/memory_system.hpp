// The times of segments and items, with their waits for memory, and the bytes that they move (model 1.2, 2.2 to 2.10;
// engine/reference/memory/flows.py). In a coupled run, in which workers slow each other down, every segment or item is
// a flow, whose end changes with the flows of other workers. In any other run the time is known at the start: from the
// plan, or from the nodes of pages that the run places and moves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "memory/flows.hpp"
#include "plan.hpp"
#include "state/run.hpp"

namespace numasim {

class MemorySystem {
public:
    explicit MemorySystem(Run& run)
        : run_(run),
          looks_at_accesses_(!run.plan.open.ptr.empty() || !run.plan.times.traffic.empty()),
          pages_(&run.plan) {
        if (run.plan.effects.coupled) flows_ = std::make_unique<Flows>(run, pages_);
    }

    // Whether running segments influence each other, so that work consists of flows.
    bool coupled() const { return flows_ != nullptr; }
    // Begin run number `turn` of a phase.
    void start_phase(std::size_t phase, std::int64_t turn) {
        if (flows_) flows_->start_turn(static_cast<std::uint64_t>(turn));
        ns_page_map_start_phase(pages_.map, static_cast<std::int64_t>(phase), run_.clock.now_ps());
    }
    // Use page policy number `policy` of a controller from now on, if the plan has it.
    void choose_policy(std::uint64_t policy) {
        if (policy + 1 < run_.plan.memory.stages.size()) {
            ns_page_map_choose(pages_.map, policy, run_.clock.now_ps());
        }
    }
    // The helper threads of workers, or nullptr.
    HelperThreads* helpers() { return flows_ ? flows_->helpers() : nullptr; }
    ns_pages& pages() { return pages_; }
    const ns_pages& pages() const { return pages_; }

    // ---- work whose time does not depend on other work that runs

    // The time of a segment that starts now. The worker owes the overhead of page faults and migrations.
    std::int64_t segment_ps(Worker& w, std::uint32_t segment) {
        return looks_at_accesses_ ? access_ps(w, segment) : w.total_ps[segment];
    }

    // As `segment_ps`, and count the segment's time and bytes for the controller.
    [[gnu::noinline]] std::int64_t measured_segment_ps(Worker& w, std::int64_t task, std::uint32_t segment) {
        const std::int64_t* const moved = ns_pages_bytes_of(&pages_, w.node);
        run_.measures->before(moved);
        const std::int64_t total_ps = segment_ps(w, segment);
        run_.measures->after(task, moved);
        return total_ps;
    }

    // ---- flows

    // Start a segment of the graph; `start_item`: an item. The end of the flow is computed at the end of the instant.
    [[gnu::noinline]] void start(Worker& w, const Frame& frame, std::uint32_t segment) {
        prefetch_children(frame);
        flows_->prefetch_chunks(segment);
        Stretch& work = flows_->start(w);
        work.task = frame.id;
        work.item = w.stack.back();
        work.row = segment;
        work.segment = run_.plan.graph.folded ? run_.frames.next_segment(frame) : segment;
        work.op = run_.frames.op_number(frame, frame.at);
        work.family = GRAPH;
        if constexpr (HAS_BODIES) work.compute_ps = run_.bodies->compute_ps();
        work.goes_on = false;
        start(w, work);
    }

    [[gnu::noinline]] void start_item(Worker& w, Task item) {
        const std::size_t number = run_.ranges.family_of(item);
        const auto family = static_cast<std::int32_t>(number);
        Stretch& work = flows_->start(w);
        work.task = item;
        work.item = item - static_cast<std::int64_t>(run_.ranges.first(number));
        work.row = work.segment = 0;
        work.goes_on = work.family == family && w.step.rank() == SEG_END && w.step.due_ps() == run_.clock.now_ps();
        work.family = family;
        start(w, work);
    }

    [[gnu::noinline]] void end(Worker& w) {
        if (run_.clock.now_ps() > LATEST_PS) refuse_time();
        flows_->end(w, run_.clock.now_ps());
        run_.clock.end_flow(w);
        schedule_ends_of_now();
        const Stretch& work = flows_->flow(w.id).work;
        run_.recorder.log(Executed{work.task, work.segment, w.id, work.start_ps, run_.clock.now_ps()});
    }

    // A task has been spawned: prefetch the accesses of its first segment, for which pricing would wait.
    [[gnu::noinline]] void expect(const Frame& frame) const {
        const Instruction next = run_.frames.next(frame);
        if (next.op == RUN) flows_->expect(next.arg);
    }

    // Note the worker's present activity, if activities of workers change the speed of other workers.
    void tell_activity(const Worker& w) {
        if (flows_) tell(w);
    }

    // The first `team` workers take part in the phase. The other workers rest.
    void part_team(std::size_t team) {
        if (!flows_) return;
        for (Worker& w : run_.team) {
            w.rests = w.id >= team;
            tell(w);
        }
    }

    bool settles() const { return flows_ && flows_->settles(); }
    bool settles_before(EventKey event) const { return settles() && event >= settling(); }

    // The end of an instant in which flows have started or ended, or workers have changed their activity.
    [[gnu::noinline]] void settle() {
        flows_->settle(run_.clock.now_ps());
        for (const std::uint32_t w : flows_->started()) {
            const Flow& flow = flows_->flow(w);
            run_.team[w].began_ps = flow.work.start_ps + flow.price.fault_ps;  // page faults are reported as overhead
            if (flow.work.family == GRAPH) {
                run_.frames[flow.work.item].path_ps += flow.local_ps;
            } else {
                run_.frames.end_chain(flow.local_ps);
            }
        }
        for (const std::uint32_t w : flows_->moved()) schedule(run_.team[w]);
        flows_->forget_changes();
        schedule_first_ends();
        if (run_.recorder.watched()) report_loads();
    }

    // When the worker's present segment or item ends if nothing changes.
    std::int64_t end_ps(const Worker& w) const { return flows_ ? flows_->progress().end_ps(w.id) : w.step.due_ps(); }

    // The time of each item of a range of equal items, if nothing changes. `pass_items`: pass over `taken` such items
    // of a worker; the worker's next item ends at `due_ps`.
    std::int64_t steady_ps(const Worker& w, const ItemTimes& times) const {
        return flows_ ? flows_->steady_ps(w.id) : times.time(static_cast<std::size_t>(w.node), 0).total_ps;
    }

    [[gnu::noinline]] void pass_items(Worker& w, const ItemTimes& times, std::int64_t taken, std::int64_t due_ps) {
        if (flows_) {
            flows_->pass(w, taken, due_ps);
            schedule(w);
            return schedule_first_ends();
        }
        const auto [total_ps, local_ps] = times.time(static_cast<std::size_t>(w.node), 0);
        ns_count_work(&w.counters, taken * total_ps, taken * local_ps);
        times.add_traffic({0, 0, 1}, taken, ns_pages_bytes_of(&pages_, w.node));
        run_.clock.schedule(w, SEG_END, due_ps - run_.clock.now_ps());
    }

    // ---- work that is skipped over: its time depends only on its worker's speed

    // speed: the speed of a worker. speed_beside: the worker's speed if all other workers on its core have the activity
    // `others`. respeeded: the workers whose speed may have changed at the end of the last instant. While no worker
    // rests, the speed lies between speed_beside for executing workers and for polling workers.
    Speed speed(const Worker& w) const { return flows_ ? flows_->speeds().speed(w.id) : Speed{MILLION, MILLION}; }
    Speed speed_beside(const Worker& w, Activity others) const {
        return flows_ ? flows_->speeds().speed_beside(w.id, others) : Speed{MILLION, MILLION};
    }
    std::span<const std::uint32_t> respeeded() const { return flows_->speeds().changed(); }

    WorkTime item_time(const Worker& w, std::size_t family, std::int64_t item, const Speed& speed) const {
        if (flows_) return flows_->item_time(w.id, family, item, speed);
        const auto [total_ps, local_ps] = run_.ranges.times(family).time(static_cast<std::size_t>(w.node), item);
        return {total_ps, total_ps, local_ps, 0};
    }

    void move_items(const Worker& w, std::size_t family, Items items, std::int64_t times) {
        if (flows_) return flows_->move_items(w.id, family, items, times);
        run_.ranges.times(family).add_traffic(items, times, ns_pages_bytes_of(&pages_, w.node));
    }

    // Count bytes that the worker moved from and to each node. `moved`: [kinds, nodes] in a coupled run, else [nodes].
    void move_bytes(const Worker& w, const std::int64_t* moved) {
        const std::size_t nodes = run_.plan.nodes;
        const auto add = [&](std::int64_t* bytes, const std::int64_t* more) {
            for (std::size_t home = 0; home < nodes; ++home) bytes[home] += more[home];
        };
        if (!flows_) return add(ns_pages_bytes_of(&pages_, w.node), moved);
        for (std::size_t kind = 0; kind < TRAFFIC_KINDS; ++kind) {
            add(flows_->traffic().bytes[kind].data() + static_cast<std::size_t>(w.node) * nodes, moved + kind * nodes);
        }
    }

    // ---- results

    // At the end of a phase, an iteration or a run: sum the bytes of all kinds that have moved from and to memory.
    void sum_traffic() {
        if (!flows_) return;
        const Traffic& traffic = flows_->traffic();
        for (std::size_t pair = 0; pair < std::size_t{run_.plan.nodes} * run_.plan.nodes; ++pair) {
            pages_.node_bytes[pair] =
                traffic.bytes[FETCHED][pair] + traffic.bytes[OWNED][pair] + traffic.bytes[WRITTEN][pair];
        }
    }

    const Traffic* traffic() const { return flows_ ? &flows_->traffic() : nullptr; }

private:
    static constexpr std::uint32_t AFTER_PHASES = 1;      // place of `settle` in the work at the end of an instant
    static constexpr std::uint32_t MOST_PREFETCHED = 16;  // most children of a task whose data is prefetched

    [[gnu::noinline]] std::int64_t access_ps(Worker& w, std::uint32_t segment) {
        const OpenAccesses& open = run_.plan.open;
        std::int64_t total_ps = w.total_ps[segment];
        ns_pages_count_settled(&pages_, segment, w.node);
        if (ns_pages_are_open(&run_.plan, segment)) {
            const auto row = static_cast<std::size_t>(w.node) * static_cast<std::size_t>(run_.plan.times.segments);
            const ns_toucher toucher = {w.node, run_.clock.now_ps()};
            const std::int64_t wait_ps =
                ns_pages_wait_ps(&pages_, segment, toucher, open.settled[row + segment], &w.owed_ps);
            if (wait_ps == INT64_MAX || w.owed_ps == INT64_MAX) refuse_time();
            total_ps = std::max(open.compute[segment], wait_ps);
        }
        return total_ps;
    }

    // Schedule the end of the worker's flow, unless the event of its rate group (sharing/progress.hpp) covers it.
    void schedule(Worker& w) {
        const Progress& progress = flows_->progress();
        progress.is_grouped(w.id) ? run_.clock.wait_for_turn(w) : run_.clock.schedule_flow(w, progress.end_ps(w.id));
    }

    EventKey settling() const { return event_key(run_.clock.now_ps(), END_OF_INSTANT, AFTER_PHASES); }

    void schedule_first_ends() {
        Progress& progress = flows_->progress();
        for (const std::uint32_t each : progress.touched()) run_.clock.set_first_end(each, progress.first_end(each));
        if (!progress.touched().empty()) run_.clock.follow_first_ends();
        progress.forget_changes();
    }

    // Schedule ends of flows in this instant. Later ends are computed at the end of the instant.
    void schedule_ends_of_now() {
        const Progress& progress = flows_->progress();
        for (const std::uint32_t each : progress.touched()) {
            run_.clock.set_first_end(each, std::min(progress.first_end_now(each, run_.clock.now_ps()), settling()));
        }
        if (!progress.touched().empty()) run_.clock.follow_first_ends();
    }

    // Prefetch data of the children that the task will spawn after its present segment.
    void prefetch_children(const Frame& frame) const {
        const Programs& programs = run_.prepared.programs;
        const std::uint32_t first = frame.at + 1;
        for (std::uint32_t at = first; at < first + MOST_PREFETCHED; ++at) {
            const Instruction next = programs.instruction(at);
            if (next.op != SPAWN) break;
            flows_->expect_child(next.arg);
        }
    }

    void start(Worker& w, Stretch& work) {
        work.start_ps = w.began_ps = run_.clock.after(ns_pay_owed(&w));
        w.segment = work.segment;
        run_.clock.start_flow(w);
    }

    [[gnu::noinline]] void tell(const Worker& w) {
        flows_->set_activity(w.id, w.rests             ? Activity::RESTS
                                   : w.idle || w.spins ? Activity::POLLS
                                                       : Activity::EXECUTES);
    }

    // Report the load of each resource whose load has changed.
    void report_loads() {
        reported_loads_.resize(run_.plan.effects.resources.capacity.size(), 0);
        for (std::size_t resource = 0; resource < reported_loads_.size(); ++resource) {
            const std::int64_t load = flows_->load(resource);
            if (load == reported_loads_[resource]) continue;
            run_.recorder.load(resource, load);
            reported_loads_[resource] = load;
        }
    }

    Run& run_;
    const bool looks_at_accesses_;  // whether segments place pages or move bytes
    Owned<ns_pages, ns_pages_create> pages_;
    std::unique_ptr<Flows> flows_;              // if the plan is coupled
    std::vector<std::int64_t> reported_loads_;  // [resources]
};

}  // namespace numasim
