// Stretches of work as flows, whose durations are found while they run (model 1.2, 2.5, 2.6 and 2.9;
// engine/reference/memory/flows.py).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "memory/access_prices.hpp"
#include "memory/access_table.hpp"
#include "memory/helper_threads.hpp"
#include "memory/item_prices.hpp"
#include "memory/speeds.hpp"
#include "sharing/progress.hpp"
#include "sharing/sharing.hpp"
#include "state/run.hpp"

namespace numasim {

constexpr std::int32_t GRAPH = -1;  // in place of a range: the flow is a segment of the graph

// A stretch of work that a worker starts.
struct Stretch {
    std::int64_t task;      // the id of the task or item, for random numbers
    std::int64_t item;      // the item's number in its range, or the frame of the task
    std::uint32_t row;      // the segment of the graph
    std::uint32_t segment;  // its number in the whole program
    std::uint32_t op = 0;   // the task's op
    std::int32_t family = GRAPH;
    std::int64_t start_ps = 0;  // when the work starts, after overhead
    std::int64_t compute_ps = AS_PLANNED;
    bool goes_on = false;  // the worker has ended an item of the same family in this instant
};

// A worker's stretch of work under way, with times in picoseconds. When the nominal time last changed, `left_ps` of it
// were left, and `done_ps` had been done. `undisturbed_ps` is the time at full speed without page faults, `local_ps`
// likewise if all bytes were local. `queued_ps` is what queueing adds.
struct Flow {
    Stretch work{};
    Price price;
    Speed speed;
    std::int64_t nominal_ps = 0;  // the time at the present speed if no resource holds the flow back
    std::int64_t left_ps = 0, done_ps = 0;
    std::int64_t undisturbed_ps = 0, local_ps = 0, queued_ps = 0;
    std::vector<Use> uses;  // what a segment uses
    Speed asked_speed;      // for which the present demand was computed; none without a demand
    bool works = false;     // the flow has not ended
    bool fresh = false;     // the flow has not got a speed yet
    bool moved = false;     // its end may have moved since the last `forget_changes`
};

class Flows {
public:
    Flows(Run& run, ns_pages& pages);

    bool settles() const { return settles_; }  // whether there is something to do at the end of this instant
    Traffic& traffic() { return traffic_; }
    const Traffic& traffic() const { return traffic_; }
    const Speeds& speeds() const { return speeds_; }
    HelperThreads* helpers() { return helpers_ ? &*helpers_ : nullptr; }

    // A task whose next op is this segment will start soon.
    void expect(std::uint32_t segment) const { memory_.table().prefetch_accesses(segment); }
    // A task will be spawned soon.
    void expect_child(std::uint32_t row) { prefetch_.expect(row); }
    // A segment will be priced at the end of this instant.
    void prefetch_chunks(std::uint32_t segment) const { memory_.prefetch_chunks(segment); }
    // The worker starts a stretch. The caller fills in the returned record, which still holds the stretch before.
    Stretch& start(const Worker& w);
    // Count the time of a flow that has ended, by its parts (model 6).
    void end(Worker& w, std::int64_t now_ps);

    void set_activity(std::uint32_t worker, Activity activity) {
        speeds_.set_activity(worker, activity);
        settles_ = true;
    }

    // Begin a turn of a phase, which changes the noise of its tasks.
    void start_turn(std::uint64_t turn) { noise_seed_ = ns_turn_seed(seed_, turn); }
    // The end of an instant: price the flows that have started, then compute speeds and shares.
    void settle(std::int64_t now_ps);
    // Since the last `forget_changes`: workers whose flows have started; workers whose ends may have moved.
    const std::vector<std::uint32_t>& started() const { return started_; }
    const std::vector<std::uint32_t>& moved() const { return moved_; }
    void forget_changes();
    const Flow& flow(std::size_t worker) const { return flows_[worker]; }
    // The units per second of a resource that are in use.
    std::int64_t load(std::size_t resource) const { return shares_.load(resource); }
    // The progress of flows, which says when they end.
    Progress& progress() { return progress_; }
    const Progress& progress() const { return progress_; }

    // How long a whole flow takes while nothing changes.
    std::int64_t steady_ps(std::size_t worker) const;
    // Pass over `taken` like items of a worker, the present one included. The next one ends at `due_ps`.
    void pass(Worker& w, std::int64_t taken, std::int64_t due_ps);

    // The time of an item that depends only on the worker's speed; count what items move, `times` times.
    WorkTime item_time(std::uint32_t worker, std::size_t family, std::int64_t item, const Speed& speed) const;
    void move_items(std::uint32_t worker, std::size_t family, Items items, std::int64_t times);

private:
    void price_all();
    void price_segment(std::uint32_t worker, Flow& flow);
    std::int64_t noisy(std::int64_t compute_ps, std::int64_t stream, std::uint32_t number) const;
    void queue();
    void apply_speeds(std::int64_t now_ps);
    void start_at_speed(std::uint32_t worker, std::int64_t now_ps);
    void start_progress(std::uint32_t worker, std::int64_t now_ps);
    void change_speed(std::uint32_t worker, std::int64_t now_ps);
    void ask(std::uint32_t worker);
    void ask_nothing(std::uint32_t worker);
    void apply_shares(std::int64_t now_ps);
    void move(std::uint32_t worker);
    std::int64_t item_compute_ps(std::int32_t family, std::int64_t item) const;
    const ItemPrices& prices(std::uint32_t worker, std::int32_t family) const {
        return item_prices_[effects_.price_class[worker]][static_cast<std::size_t>(family)];
    }
    static void count(ns_counters& counters, const Flow& flow, std::int64_t done_ps, std::int64_t wall_ps,
                      std::int64_t times);

    const Plan& plan_;
    const std::uint64_t seed_;
    std::uint64_t noise_seed_;  // of the present turn
    const Effects& effects_;
    const std::vector<ItemTimes>& families_;
    const bool shares_out_;  // bandwidth is shared out
    const bool keeps_;       // flows keep the shares with which they start
    const bool asks_;        // demands of flows are needed
    std::optional<TaskMeasures>& measures_;
    Traffic traffic_;
    AccessPrices memory_;
    std::optional<HelperThreads> helpers_;  // if some worker has one
    TaskPrefetch prefetch_;
    Speeds speeds_;
    Shares shares_;
    Progress progress_;
    std::vector<std::vector<ItemPrices>> item_prices_;    // [classes][families]
    std::vector<Flow> flows_;                             // [workers]
    std::vector<std::int64_t> sharers_;                   // [domains] number of workers with a flow
    std::vector<std::uint32_t> started_, ended_, moved_;  // workers
    bool settles_ = false;
};

}  // namespace numasim
