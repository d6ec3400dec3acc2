// How long work waits for memory: times that are known before the run, pages that are placed and moved during the run,
// and in a coupled run flows, whose durations are found while they run (model 1.2, 2.2 to 2.10;
// engine/reference/memory/flows.py).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "memory/flows.hpp"
#include "plan.hpp"
#include "state/run.hpp"

namespace numasim {

class MemorySystem {
public:
    explicit MemorySystem(Run& run);

    // Whether running segments influence each other, so that work consists of flows.
    bool coupled() const { return flows_ != nullptr; }
    // Begin turn number `turn` of a phase.
    void start_phase(std::size_t phase, std::int64_t turn) {
        if (flows_) flows_->start_turn(static_cast<std::uint64_t>(turn));
        ns_page_map_start_phase(pages_.map, static_cast<std::int64_t>(phase), run_.clock.now_ps());
    }
    // Change the page policy, if memory is placed during the run.
    void choose_policy(std::uint64_t policy) {
        if (policy + 1 < run_.plan.memory.stages.size()) {
            ns_page_map_choose(pages_.map, policy, run_.clock.now_ps());
        }
    }
    // The helper threads of workers, or nullptr.
    HelperThreads* helpers() { return flows_ ? flows_->helpers() : nullptr; }
    ns_pages& pages() { return pages_; }
    const ns_pages& pages() const { return pages_; }

    // ---- work whose time does not depend on what else runs

    // The time of a segment that starts now. The worker owes the overhead of page faults and migrations.
    std::int64_t segment_ps(Worker& w, std::uint32_t segment) {
        return looks_at_accesses_ ? access_ps(w, segment) : w.total_ps[segment];
    }

    // The same, and measure what the task moves.
    [[gnu::noinline]] std::int64_t measured_segment_ps(Worker& w, std::int64_t task, std::uint32_t segment);

    // ---- flows

    // Start a segment of the graph, or an item. Its end is computed at the end of the instant.
    [[gnu::noinline]] void start(Worker& w, const Frame& frame, std::uint32_t segment);
    [[gnu::noinline]] void start_item(Worker& w, Task item);
    [[gnu::noinline]] void end(Worker& w);

    // A task has been spawned: prefetch what its first segment needs.
    void expect(const Frame& frame) const;

    // Take note of what the worker does now, if that makes others faster or slower.
    void tell_activity(const Worker& w) {
        if (flows_) tell(w);
    }
    // The first `team` workers take part in the phase. The others rest.
    void part_team(std::size_t team);

    bool settles() const { return flows_ && flows_->settles(); }
    bool settles_before(EventKey event) const { return settles() && event >= settling(); }
    // The end of an instant in which flows have started or ended, or workers have changed their activity.
    void settle();

    // When the worker's stretch of work ends, if nothing changes.
    std::int64_t end_ps(const Worker& w) const;

    // The time of one of like items while nothing changes; pass over `taken` like items, after which the next one ends
    // at `due_ps`.
    std::int64_t steady_ps(const Worker& w, const ItemTimes& times) const;
    void pass_items(Worker& w, const ItemTimes& times, std::int64_t taken, std::int64_t due_ps);

    // ---- work that is skipped over: its time depends only on its worker's speed

    // The speed of a worker; its speed if all others on its core do the same; the workers whose speed may have changed
    // when the last instant was settled. While no worker rests, a speed lies between those beside executing and polling
    // workers.
    Speed speed(const Worker& w) const { return flows_ ? flows_->speeds().speed(w.id) : Speed{MILLION, MILLION}; }
    Speed speed_beside(const Worker& w, Activity others) const {
        return flows_ ? flows_->speeds().speed_beside(w.id, others) : Speed{MILLION, MILLION};
    }
    std::span<const std::uint32_t> respeeded() const { return flows_->speeds().changed(); }

    WorkTime item_time(const Worker& w, std::size_t family, std::int64_t item, const Speed& speed) const;
    void move_items(const Worker& w, std::size_t family, Items items, std::int64_t times);
    // Count bytes from and to each home: `moved` is [kinds, nodes] in a coupled run, else [nodes].
    void move_bytes(const Worker& w, const std::int64_t* moved);

    // ---- results

    void sum_traffic();  // called at the end of a run or of an iteration
    const Traffic* traffic() const { return flows_ ? &flows_->traffic() : nullptr; }

private:
    static constexpr std::uint32_t AFTER_PHASES = 1;      // rank of the settling within the end of an instant
    static constexpr std::uint32_t MOST_PREFETCHED = 16;  // most children of a task whose data is prefetched

    [[gnu::noinline]] std::int64_t access_ps(Worker& w, std::uint32_t segment);
    void schedule(Worker& w);
    EventKey settling() const { return event_key(run_.clock.now_ps(), END_OF_INSTANT, AFTER_PHASES); }
    void schedule_first_ends();
    void schedule_ends_of_now();
    void prefetch_children(const Frame& frame) const;
    void start(Worker& w, Stretch& work);
    [[gnu::noinline]] void tell(const Worker& w);
    void report_loads();

    Run& run_;
    const bool looks_at_accesses_;  // whether segments place pages or move bytes
    Owned<ns_pages, ns_pages_create> pages_;
    std::unique_ptr<Flows> flows_;              // if the plan is coupled
    std::vector<std::int64_t> reported_loads_;  // [resources]
};

}  // namespace numasim
