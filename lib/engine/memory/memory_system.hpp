#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "memory/flows.hpp"
#include "memory/pages.h"
#include "state/run.hpp"

namespace numasim {

// The pages of a run: core/memory/pages.h, whose memory is freed with it.

struct Pages : ns_pages {
    explicit Pages(const ns_full_plan& of_plan) : ns_pages{} {
        if (ns_pages_create(this, &of_plan)) return;
        ns_pages_destroy(this);
        throw std::bad_alloc();
    }
    ~Pages() { ns_pages_destroy(this); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
};

// What work waits for memory: times known before the run, pages that are placed and moved during it, and, where the
// plan is coupled, flows whose durations are found while they run (model 1.2, 2.2 to 2.10;
// engine/reference/memory/flows.py).

class MemorySystem {
public:
    explicit MemorySystem(Run& run);

    // Whether running segments influence each other: then work is a flow.
    bool coupled() const { return flows_ != nullptr; }
    // Begin a turn, from zero, of a phase.
    void start_phase(std::size_t phase, std::int64_t turn) {
        if (flows_) flows_->start_turn(static_cast<std::uint64_t>(turn));
        ns_page_map_start_phase(pages_.map, static_cast<std::int64_t>(phase), run_.clock.now_ps());
    }
    // Another page policy, where memory is placed during the run at all.
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

    // What a segment takes that starts now; faults and migrations of its pages are owed overhead.
    std::int64_t segment_ps(Worker& w, std::uint32_t segment) {
        return looks_at_accesses_ ? access_ps(w, segment) : w.total_ps[segment];
    }

    // The same, where what the task moves is measured.
    [[gnu::noinline]] std::int64_t measured_segment_ps(Worker& w, std::int64_t task, std::uint32_t segment);

    // ---- flows

    // Start a segment of the graph, or an item; when it ends is found at the end of the instant.
    [[gnu::noinline]] void start(Worker& w, const Frame& frame, std::uint32_t segment);
    [[gnu::noinline]] void start_item(Worker& w, Task item);
    [[gnu::noinline]] void end(Worker& w);

    // A task has been spawned.
    void expect(const Frame& frame) const;

    // Tell what the worker does now, where that makes others faster or slower.
    void tell_activity(const Worker& w) {
        if (flows_) tell(w);
    }
    // The first `team` workers take part in the phase, the others rest.
    void part_team(std::size_t team);

    bool settles() const { return flows_ && flows_->settles(); }
    bool settles_before(EventKey event) const { return settles() && event >= settling(); }
    // The end of an instant in which flows have started or ended, or workers have changed what they do.
    void settle();

    // When the worker's stretch of work ends if nothing changes.
    std::int64_t end_ps(const Worker& w) const;

    // What one of like items takes the worker while nothing changes; count `taken` such, the next of which ends at
    // `due_ps`.
    std::int64_t steady_ps(const Worker& w, const ItemTimes& times) const;
    void pass_items(Worker& w, const ItemTimes& times, std::int64_t taken, std::int64_t due_ps);

    // ---- work that is skipped over: nothing but its worker's speed changes what it takes

    // The speed of a worker, and whose may have changed when the last instant was settled. While nobody rests, a speed
    // is between those that it has beside workers that all execute, or all poll.
    Speed speed(const Worker& w) const { return flows_ ? flows_->speeds().speed(w.id) : Speed{MILLION, MILLION}; }
    Speed speed_beside(const Worker& w, Activity others) const {
        return flows_ ? flows_->speeds().speed_beside(w.id, others) : Speed{MILLION, MILLION};
    }
    std::span<const std::uint32_t> respeeded() const { return flows_->speeds().changed(); }

    WorkTime item_time(const Worker& w, std::size_t family, std::int64_t item, const Speed& speed) const;
    void move_items(const Worker& w, std::size_t family, Items items, std::int64_t times);
    // Count `moved` [kinds, nodes] of a coupled run, else [nodes]: bytes from and to each home.
    void move_bytes(const Worker& w, const std::int64_t* moved);

    // ---- results

    void sum_traffic();  // at the end of a run, or of an iteration
    const Traffic* traffic() const { return flows_ ? &flows_->traffic() : nullptr; }

private:
    static constexpr std::uint32_t AFTER_PHASES = 1;      // at the end of an instant
    static constexpr std::uint32_t MOST_PREFETCHED = 16;  // children of a task

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
    const bool looks_at_accesses_;  // segments place pages or move bytes
    Pages pages_;
    std::unique_ptr<Flows> flows_;              // where the plan is coupled
    std::vector<std::int64_t> reported_loads_;  // [resources]
};

}  // namespace numasim
