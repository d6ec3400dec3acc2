// Stretches of work as flows: what they take is found out while they run (model 2.5, 2.6, 2.9 and 1.2's hook;
// engine/reference/memory/flows.py).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
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

constexpr std::int32_t GRAPH = -1;  // the range of a flow that is a segment of the graph

// What a worker is about to do.
struct Stretch {
    std::int64_t task;      // its id, that of the random draws
    std::int64_t item;      // of the range, or the frame of the task
    std::uint32_t row;      // the segment of the graph
    std::uint32_t segment;  // its number in the whole program
    std::uint32_t op = 0;   // that of the task which executes it
    std::int32_t family = GRAPH;
    std::int64_t start_ps = 0;  // of the work, with overhead in front of it
    std::int64_t compute_ps = AS_PLANNED;
    bool goes_on = false;  // the same instant has ended an item of the same family
};

// A worker's stretch of work; times in picoseconds. `left_ps` were left of its nominal time when that last changed,
// `done_ps` were done before. `undisturbed_ps` is what it takes at full speed without page faults, `local_ps` likewise
// with all its bytes local, `queued_ps` what queueing adds to it.
struct Flow {
    Stretch work{};
    Price price;
    Speed speed;
    std::int64_t nominal_ps = 0;  // what it takes at the present speed if nothing holds it back
    std::int64_t left_ps = 0, done_ps = 0;
    std::int64_t undisturbed_ps = 0, local_ps = 0, queued_ps = 0;
};

class Flows {
public:
    Flows(Run& run, ns_pages& pages);

    bool settles() const { return settles_; }  // at the end of this instant
    Traffic& traffic() { return traffic_; }
    const Traffic& traffic() const { return traffic_; }
    const Speeds& speeds() const { return speeds_; }
    HelperThreads* helpers() { return helpers_ ? &*helpers_ : nullptr; }

    // A task whose next op is this segment will be started before long.
    void expect(std::uint32_t segment) const { memory_.table().prefetch_accesses(segment); }
    // A task will be spawned before long.
    void expect_child(std::uint32_t row) { prefetch_.expect(row); }
    // A segment will be priced at the end of this instant.
    void prefetch_chunks(std::uint32_t segment) const { memory_.prefetch_chunks(segment); }
    // The worker starts this stretch, to be filled in where that of before still stands.
    Stretch& start(const Worker& w);
    // Split the time of a flow that has ended (model 6).
    void end(Worker& w, std::int64_t now_ps);

    void set_activity(std::uint32_t worker, Activity activity) {
        speeds_.set_activity(worker, activity);
        settles_ = true;
    }

    // Begin a turn of a phase, from which on the noise of its tasks is another.
    void start_turn(std::uint64_t turn) { noise_seed_ = ns_turn_seed(seed_, turn); }
    // The end of an instant: flows that started are priced, then speeds and shares are found anew.
    void settle(std::int64_t now_ps);
    // Workers that have started in this instant; those whose ends may be others. Since the last `forget_changes`.
    const std::vector<std::uint32_t>& started() const { return started_; }
    std::span<const std::uint32_t> moved() const { return {moved_.data(), moved_count_}; }
    void forget_changes();
    const Flow& flow(std::size_t worker) const { return flows_[worker]; }
    // Units per second of a resource that are in use.
    std::int64_t load(std::size_t resource) const { return shares_.load(resource); }
    // When flows end; those of one group as the first of them.
    Progress& progress() { return progress_; }
    const Progress& progress() const { return progress_; }

    // What the whole of a flow takes while nothing changes.
    std::int64_t steady_ps(std::size_t worker) const;
    // End the flow of an item and `taken` - 1 like it; the next one ends at `due_ps`.
    void pass(Worker& w, std::int64_t taken, std::int64_t due_ps);

    // An item of a family, which nothing but the worker's speed changes; what some of them move, `times` times.
    WorkTime item_time(std::uint32_t worker, std::size_t family, std::int64_t item, const Speed& speed) const;
    void move_items(std::uint32_t worker, std::size_t family, Items items, std::int64_t times);

private:
    void price_all();
    void price_segment(std::uint32_t worker, Flow& flow);
    void price_item(std::uint32_t worker, Flow& flow);
    std::int64_t noisy(std::int64_t compute_ps, std::int64_t stream, std::uint32_t number) const;
    void queue();
    void apply_speeds(std::int64_t now_ps);
    void start_at_speed(std::uint32_t worker, std::int64_t now_ps);
    void start_progress(std::uint32_t worker, std::int64_t now_ps);
    void change_speed(std::uint32_t worker, std::int64_t now_ps);
    void ask(std::uint32_t worker);
    void apply_shares(std::int64_t now_ps);
    void move(std::uint32_t worker);
    Price item_price(std::uint32_t worker, std::int32_t family, std::int64_t item) const;
    std::int64_t item_compute_ps(std::int32_t family, std::int64_t item) const;
    const ItemPrices& prices(std::uint32_t worker, std::int32_t family) const {
        return item_prices_[effects_.price_class[worker]][static_cast<std::size_t>(family)];
    }
    static void count(ns_counters& counters, const Flow& flow, std::int64_t done_ps, std::int64_t wall_ps,
                      std::int64_t times);

    const Plan& plan_;
    const std::uint64_t seed_;
    std::uint64_t noise_seed_;  // that of the turn that runs
    const Effects& effects_;
    const std::vector<ItemTimes>& families_;
    const bool shares_out_;  // whether bandwidth is shared out,
    const bool keeps_;       // whether flows keep the shares that they start with,
    const bool asks_;        // whether anybody wants to know what flows ask for
    std::optional<TaskMeasures>& measures_;
    Traffic traffic_;
    AccessPrices memory_;
    std::optional<HelperThreads> helpers_;  // where some worker has one
    TaskPrefetch prefetch_;
    Speeds speeds_;
    Shares shares_;
    Progress progress_;
    std::vector<std::vector<ItemPrices>> item_prices_;    // [classes][families]
    std::vector<Flow> flows_;                             // [workers]
    std::vector<std::vector<Use>> uses_;                  // [workers] of segments
    std::vector<std::uint8_t> works_, fresh_, is_moved_;  // [workers]
    std::vector<Speed> asked_speed_;     // [workers] at which it asks for what it does; none where it does not
    std::vector<std::int64_t> sharers_;  // [domains] workers with a flow
    std::vector<std::uint32_t> started_, ended_;
    std::vector<std::uint32_t> moved_;  // [workers], the first `moved_count_` of them
    std::size_t moved_count_ = 0;
    bool settles_ = false;
};

}  // namespace numasim
