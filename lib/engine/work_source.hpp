// Where work comes from: phases with their roots and ranges, and the producer of a range's items (model 3.1, 3.5; A-1).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "dispatcher.hpp"
#include "plan.hpp"
#include "record/measures.hpp"
#include "state/run.hpp"
#include "sync_objects.hpp"

namespace numasim {

// Tasks are left, and no worker can ever run one of them. `passed`: thieves only pass them to and fro.
struct Deadlock : std::runtime_error {
    Deadlock(std::int64_t tasks_left, std::int64_t at_ps, bool are_passed = false)
        : std::runtime_error("no worker can run the tasks that are left"),
          tasks(tasks_left),
          time_ps(at_ps),
          passed(are_passed) {}
    std::int64_t tasks, time_ps;
    bool passed;
};

class WorkSource {
public:
    WorkSource(Run& run, SyncObjects& sync, Dispatcher& dispatcher)
        : run_(run), sync_(sync), dispatcher_(dispatcher), steps_(&run.plan) {}

    // ---- phases

    // Begin the present step, a run of a phase. Returns false if no step is left.
    bool start_phase();
    // Give workers the roots and the range of the phase.
    void deal();
    // End the phase, whose longest chain of work is `span_ps`.
    void end_phase(std::int64_t span_ps);
    // Go on to the next step. Returns whether an iteration has ended with the present step.
    bool next_step();
    // Whether there is a present step.
    bool has_step() const { return ns_steps_run(&steps_); }
    // A worker without a part in the phase has waited for worker 0 throughout, the last `asleep_ps` asleep.
    void wait_at_barrier(Worker& w, std::int64_t asleep_ps);

    const Phase& phase() const { return run_.plan.phases[phase_number()]; }
    std::size_t phase_number() const { return static_cast<std::size_t>(steps_.phase); }
    // The row of the phase that ends now, without sums.
    PhaseRow row() const;
    std::int64_t turn() const { return ns_steps_turn(&steps_); }  // how often the present phase has run before
    std::size_t team_size() const { return phase().serial ? 1 : run_.team.size(); }  // workers that take part
    // Whether a phase is starting: some workers have not begun what they have been given.
    bool starting() const { return starting_; }
    void set_starting(bool starting) { starting_ = starting; }

    // ---- unfinished tasks of the phase

    std::int64_t unfinished() const { return unfinished_; }
    void set_unfinished(std::int64_t tasks) {
        unfinished_ = tasks;
        if (tasks == 0) end_phase_after_instant();
    }
    void task_added() { ++unfinished_; }
    void task_done() {
        if (--unfinished_ == 0) end_phase_after_instant();
    }

    // ---- production

    // Whether worker 0 has items left to make; make the next item.
    bool has_items_to_make() const { return to_make_ != 0; }
    Task make_item() {
        --to_make_;
        return static_cast<Task>(next_item_++);
    }

    // The producer's next item is due, or the producer has the lock of the item's queue. Returns whether the producer
    // begins to wait for room.
    bool produce();
    bool produce_locked(std::uint32_t lock, std::int64_t waiting_since_ps);
    // A task has left a queue, for which the producer may wait.
    void room_made() {
        if (!producers_.empty() && producers_.back().waiting) end_wait(producers_.back());
    }
    // The waiting producer has put `made` items, each as soon as there was room, and has waited since `since_ps`.
    void pass_items(std::int64_t made, std::int64_t since_ps);

    // When the producer will put its next item; NEVER_PS if it waits or has no item left.
    std::int64_t next_item_ps() const;
    const std::vector<Producer>& producers() const { return producers_; }

    std::int64_t span_ps() const { return span_ps_; }

private:
    [[gnu::noinline]] void end_phase_after_instant() {
        run_.clock.set(run_.clock.end_of_instant(), run_.clock.now_ps(), END_OF_INSTANT, 0);
    }
    void give_roots();
    void give(Worker& w, Task task);
    void give_range(std::size_t family);
    void start_production(std::uint64_t first, std::uint64_t count);
    void make_next(Producer& p);
    bool put_item(Producer& p, std::int32_t q);
    [[gnu::noinline]] void end_wait(Producer& p);

    Run& run_;
    SyncObjects& sync_;
    Dispatcher& dispatcher_;
    Owned<ns_steps, ns_steps_create> steps_;
    std::int64_t phases_ended_ = 0;  // runs of phases
    std::int64_t phase_start_ps_ = 0, span_ps_ = 0;
    std::int64_t unfinished_ = 0;
    std::vector<std::uint32_t> free_roots_;  // roots of the phase that wait for no other task
    bool starting_ = false;
    std::uint64_t next_item_ = 0, to_make_ = 0;  // items that worker 0 makes
    std::vector<Producer> producers_;
};

}  // namespace numasim
