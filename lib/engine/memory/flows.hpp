// Segments and items as flows. The duration of a flow is not known at its start, because other flows change its speed
// (model 1.2, 2.5, 2.6 and 2.9; engine/reference/memory/flows.py).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "checked.hpp"
#include "memory/access_prices.hpp"
#include "memory/access_table.hpp"
#include "memory/helper_threads.hpp"
#include "memory/item_prices.hpp"
#include "memory/speeds.hpp"
#include "plan.hpp"
#include "sharing/progress.hpp"
#include "sharing/sharing.hpp"
#include "state/run.hpp"

namespace numasim {

constexpr std::int32_t GRAPH = -1;  // in place of the number of a range: the work is a segment of the graph

// A segment or an item that a worker starts.
struct Stretch {
    std::int64_t task;      // id of the task or item; selects its random numbers
    std::int64_t item;      // the item's number in its range, or the frame of the task
    std::uint32_t row;      // the number of the segment in the graph
    std::uint32_t segment;  // the segment's number if the graph were not folded (subtrees did not share rows)
    std::uint32_t op = 0;   // the number of the task's op
    std::int32_t family = GRAPH;
    std::int64_t start_ps = 0;  // when the work starts, after overhead
    std::int64_t compute_ps = AS_PLANNED;
    bool goes_on = false;  // the worker has just ended an item of the same range
};

// The segment or item that a worker executes. When the nominal time last changed, `left_ps` of the nominal time
// remained, and `done_ps` had passed. `undisturbed_ps` is the time at full speed without page faults; `local_ps` is
// `undisturbed_ps` if all bytes were local. Queues at memory controllers add `queued_ps`.
struct Flow {
    Stretch work{};
    Price price;
    Speed speed;
    std::int64_t nominal_ps = 0;  // the whole time at the present speed if all resources suffice
    std::int64_t left_ps = 0, done_ps = 0;
    std::int64_t undisturbed_ps = 0, local_ps = 0, queued_ps = 0;
    std::vector<Use> uses;  // the resources that a segment uses
    Speed asked_speed;      // speed for which the present demand was computed; zero: no demand
    bool works = false;     // the flow has not ended
    bool fresh = false;     // the flow has no speed yet
    bool moved = false;     // the end of the flow may have changed since the last `forget_changes`
};

constexpr std::int64_t MOST_BUSY_PPM = 950'000;  // at a higher load the M/D/1 wait is that of this load

inline std::vector<std::vector<ItemPrices>> item_prices(const Plan& plan, const std::vector<ItemTimes>& times,
                                                        std::uint64_t seed) {
    std::vector<std::vector<ItemPrices>> prices(plan.effects.prices.size());
    for (std::size_t w = 0; w < plan.workers; ++w) {
        std::vector<ItemPrices>& mine = prices[plan.effects.price_class[w]];
        if (!mine.empty()) continue;
        const auto& given = plan.effects.prices[plan.effects.price_class[w]].families;
        for (std::size_t family = 0; family < given.size(); ++family) {
            mine.emplace_back(plan, plan.families[family], times[family].node_bytes(), given[family], seed,
                              plan.node[w]);
        }
    }
    return prices;
}

inline std::optional<HelperThreads> make_helpers(const Run& run, AccessPrices& prices, Traffic& traffic) {
    const auto& has = run.plan.effects.helpers.has;
    if (std::none_of(has.begin(), has.end(), [](std::uint8_t each) { return each != 0; })) return std::nullopt;
    return std::make_optional<HelperThreads>(run.plan, run.prepared.programs, prices, traffic);
}

class Flows {
public:
    Flows(Run& run, ns_pages& pages)
        : plan_(run.plan),
          seed_(run.seed),
          noise_seed_(run.seed),
          effects_(plan_.effects),
          families_(run.ranges.times()),
          shares_out_(effects_.contention != Contention::NONE),
          keeps_(effects_.contention == Contention::SNAPSHOT),
          asks_(shares_out_ || effects_.queueing || run.recorder.watched()),
          measures_(run.measures),
          traffic_(plan_.nodes),
          memory_(plan_, run.prepared.accesses, run.clock, pages, traffic_),
          helpers_(make_helpers(run, memory_, traffic_)),
          prefetch_(run.prepared.programs, run.prepared.accesses),
          speeds_(effects_.speeds, plan_.workers, seed_),
          shares_(effects_, plan_.node, plan_.nodes),
          progress_(plan_.workers, RateGroups::most(effects_.resources.capacity.size())),
          item_prices_(item_prices(plan_, families_, seed_)),
          flows_(plan_.workers),
          sharers_(effects_.caches.domains, 0) {}

    bool settles() const { return settles_; }  // whether `settle` has work in this instant
    Traffic& traffic() { return traffic_; }
    const Traffic& traffic() const { return traffic_; }
    const Speeds& speeds() const { return speeds_; }
    HelperThreads* helpers() { return helpers_ ? &*helpers_ : nullptr; }

    // A task whose next op is this segment will start soon: prefetch.
    void expect(std::uint32_t segment) const { memory_.table().prefetch_accesses(segment); }
    // A task of this row will be spawned soon: prefetch.
    void expect_child(std::uint32_t row) { prefetch_.expect(row); }
    // A segment will be priced at the end of this instant: prefetch.
    void prefetch_chunks(std::uint32_t segment) const { memory_.prefetch_chunks(segment); }

    // The worker starts a segment or an item. The caller fills in the returned record, which still holds old work.
    Stretch& start(const Worker& w) {
        Flow& flow = flows_[w.id];
        flow.works = flow.fresh = true;
        ++sharers_[effects_.caches.domain[w.id]];
        started_.push_back(w.id);
        settles_ = true;
        return flow.work;
    }

    // The worker's flow has ended. Count its time, divided into the columns of model 6.
    void end(Worker& w, std::int64_t now_ps) {
        Flow& flow = flows_[w.id];
        count(w.counters, flow, flow.done_ps + flow.left_ps, now_ps - flow.work.start_ps, 1);
        progress_.stop(w.id);
        flow.works = false;
        --sharers_[effects_.caches.domain[w.id]];
        ended_.push_back(w.id);
        settles_ = true;
    }

    void set_activity(std::uint32_t worker, Activity activity) {
        speeds_.set_activity(worker, activity);
        settles_ = true;
    }

    // Begin run number `turn` of a phase. Each run has its own noise in the times of tasks.
    void start_turn(std::uint64_t turn) { noise_seed_ = ns_turn_seed(seed_, turn); }

    // The end of an instant: price the flows that have started, then compute speeds and shares.
    void settle(std::int64_t now_ps) {
        settles_ = false;
        if (!started_.empty()) price_all();
        apply_speeds(now_ps);
        apply_shares(now_ps);
    }

    // Since the last `forget_changes`: workers whose flows have started; workers whose flows may end at another time.
    const std::vector<std::uint32_t>& started() const { return started_; }
    const std::vector<std::uint32_t>& moved() const { return moved_; }

    void forget_changes() {
        for (const std::uint32_t w : moved_) flows_[w].moved = false;
        moved_.clear();
        started_.clear();
    }

    const Flow& flow(std::size_t worker) const { return flows_[worker]; }
    // How many units per second of a resource the flows use.
    std::int64_t load(std::size_t resource) const { return shares_.load(resource); }
    // The progress of all flows, which determines when each flow ends.
    Progress& progress() { return progress_; }
    const Progress& progress() const { return progress_; }

    // How long the whole flow of a worker takes if speeds and shares do not change.
    std::int64_t steady_ps(std::size_t worker) const {
        return ceil_ratio(flows_[worker].nominal_ps, ONE, progress_.share(worker));
    }

    // Pass over `taken` items with equal times of a worker, from the present item on. The next item ends at `due_ps`.
    void pass(Worker& w, std::int64_t taken, std::int64_t due_ps) {
        if (taken == 0) return;
        Flow& flow = flows_[w.id];
        const std::int64_t wall_ps = steady_ps(w.id);
        count(w.counters, flow, flow.done_ps + flow.left_ps, progress_.end_ps(w.id) - flow.work.start_ps, 1);
        count(w.counters, flow, flow.nominal_ps, wall_ps, taken - 1);
        prices(w.id, flow.work.family).count({0, 1, 1}, taken, traffic_);
        flow.work.start_ps = due_ps - wall_ps;
        flow.left_ps = flow.nominal_ps;
        flow.done_ps = 0;
        progress_.restart(w.id, flow.left_ps, flow.work.start_ps);
    }

    // The time of an item for a worker with this speed, if no other worker slows the item down. `move_items` counts the
    // bytes of items, `times` times each.
    WorkTime item_time(std::uint32_t worker, std::size_t family, std::int64_t item, const Speed& speed) const {
        const auto of = static_cast<std::int32_t>(family);
        return work_time(effects_, prices(worker, of).price(item, item_compute_ps(of, item)), speed);
    }

    void move_items(std::uint32_t worker, std::size_t family, Items items, std::int64_t times) {
        prices(worker, static_cast<std::int32_t>(family)).count(items, times, traffic_);
    }

private:
    // Price the flows that have started, in the order of workers. Each price changes caches and pages for later flows.
    void price_all() {
        if (started_.size() > 1) std::sort(started_.begin(), started_.end());
        if (effects_.queueing) queue();
        for (const std::uint32_t w : started_) {
            Flow& flow = flows_[w];
            const std::int32_t family = flow.work.family;
            const std::int64_t item = flow.work.item;
            if (family == GRAPH) {
                price_segment(w, flow);
            } else {
                flow.price = prices(w, family).price(item, item_compute_ps(family, item), traffic_);
            }
            flow.undisturbed_ps = combined_ps(effects_, flow.price.compute_ps, flow.price.wait_ps);
            flow.local_ps = combined_ps(effects_, flow.price.compute_ps, flow.price.local_wait_ps);
            const std::int64_t waited_ps = sum_ps(flow.price.wait_ps, flow.price.queued_ps);
            flow.queued_ps = combined_ps(effects_, flow.price.compute_ps, waited_ps) - flow.undisturbed_ps;
            if (helpers_) {
                const Place place{effects_.caches.domain[w], plan_.node[w], 1};
                helpers_->run_ahead(w, place, flow.undisturbed_ps, flow.uses);
            }
        }
    }

    void price_segment(std::uint32_t worker, Flow& flow) {
        const std::size_t domain = effects_.caches.domain[worker];
        const Place place{domain, plan_.node[worker], sharers_[domain]};
        const bool is_planned = !HAS_BODIES || flow.work.compute_ps == AS_PLANNED;
        const std::int64_t compute =
            is_planned ? noisy(memory_.table().compute_ps(flow.work.row), flow.work.task, flow.work.segment)
                       : flow.work.compute_ps;
        if (measures_) memory_.count_into(measures_->bytes_of(flow.work.task));
        Brought* const brought = helpers_ ? helpers_->brought_for(worker, flow.work.task) : nullptr;
        memory_.price(flow.work.row, compute, place, flow.price, flow.uses, flow.work.op, brought);
    }

    std::int64_t noisy(std::int64_t compute_ps, std::int64_t stream, std::uint32_t number) const {
        if (effects_.task_noise_ppm == 0) return compute_ps;
        const std::uint64_t base = ns_base(noise_seed_, NS_DRAW_DURATION, static_cast<std::uint64_t>(stream));
        return noisy_ps(compute_ps, ns_draw(base, number), effects_.task_noise_ppm);
    }

    // Compute the mean wait of an M/D/1 queue at each memory controller, under the load of the flows that run already.
    void queue() {
        for (std::size_t node = 0; node < plan_.nodes; ++node) {
            const std::int64_t capacity = effects_.resources.capacity[node];
            const std::int64_t busy =
                std::min(MOST_BUSY_PPM, floor_ratio(shares_.load(node, ended_), MILLION, capacity));
            const std::int64_t service_ps = NS_MISS_BYTES * PS_PER_S / capacity;
            memory_.queueing_ps()[node] = floor_ratio(busy, service_ps, 2 * (MILLION - busy));
        }
    }

    void apply_speeds(std::int64_t now_ps) {
        for (const std::uint32_t w : speeds_.update()) {
            const Flow& flow = flows_[w];
            if (flow.works && !flow.fresh && flow.speed != speeds_.speed(w)) change_speed(w, now_ps);
        }
        for (const std::uint32_t w : ended_) {
            if (!flows_[w].works) ask_nothing(w);
        }
        ended_.clear();
        for (const std::uint32_t w : started_) start_at_speed(w, now_ps);
    }

    void start_at_speed(std::uint32_t worker, std::int64_t now_ps) {
        Flow& flow = flows_[worker];
        flow.speed = speeds_.speed(worker);
        flow.nominal_ps = flow.left_ps = nominal_ps(effects_, flow.price, flow.speed);
        flow.done_ps = 0;
        if (!flow.work.goes_on) ask_nothing(worker);
        start_progress(worker, now_ps);
        flow.fresh = false;
        if (flow.asked_speed != flow.speed) ask(worker);
        move(worker);
    }

    // A flow that goes on with the items of a range starts with the share of the worker's flow before.
    void start_progress(std::uint32_t worker, std::int64_t now_ps) {
        const Flow& flow = flows_[worker];
        const bool goes_on = flow.work.goes_on && shares_out_;
        progress_.start(worker, flow.nominal_ps, flow.work.start_ps, goes_on && keeps_ ? shares_.share(worker) : ONE);
        if (goes_on && !keeps_) progress_.move(worker, shares_.class_of(worker), now_ps);
    }

    // Note a change of the worker's speed: the nominal time and the remaining time of the flow change in proportion.
    void change_speed(std::uint32_t worker, std::int64_t now_ps) {
        Flow& flow = flows_[worker];
        const std::int64_t before = flow.nominal_ps, left_ps = progress_.left_ps(worker, now_ps);
        flow.speed = speeds_.speed(worker);
        flow.nominal_ps = nominal_ps(effects_, flow.price, flow.speed);
        flow.done_ps += flow.left_ps - left_ps;
        flow.left_ps = scaled_ps(left_ps, before, flow.nominal_ps);
        progress_.put_left(worker, flow.left_ps, now_ps);
        ask(worker);
        move(worker);
    }

    void ask(std::uint32_t worker) {
        if (!asks_) return;
        Flow& flow = flows_[worker];
        flow.asked_speed = flow.speed;
        if (flow.work.family == GRAPH) {
            shares_.set(worker, flow.uses, flow.nominal_ps);
        } else {
            const ItemPrices& prices = this->prices(worker, flow.work.family);
            shares_.set(worker, prices.mean_uses(), nominal_ps(effects_, prices.mean(), flow.speed));
        }
    }

    // The worker's flow demands no resource: it has ended, or another flow starts.
    void ask_nothing(std::uint32_t worker) {
        if (asks_) shares_.clear(worker);
        flows_[worker].asked_speed = {};
    }

    void apply_shares(std::int64_t now_ps) {
        if (!shares_out_) return;
        shares_.solve();
        if (keeps_) {
            for (const std::uint32_t w : shares_.held()) progress_.set_share(w, shares_.share(w), now_ps);
        } else {
            for (const std::uint32_t w : shares_.moved()) {
                if (!flows_[w].works) continue;
                progress_.move(w, shares_.class_of(w), now_ps);
                move(w);
            }
            const RateGroups& groups = shares_.groups();
            for (const std::uint32_t each : groups.regrouped()) progress_.regroup(each, groups.of(each), now_ps);
            for (const std::uint32_t each : groups.relevelled()) progress_.set_level(each, groups.level(each), now_ps);
        }
        shares_.forget_changes();
    }

    void move(std::uint32_t worker) {
        if (!flows_[worker].moved) moved_.push_back(worker);
        flows_[worker].moved = true;
    }

    std::int64_t item_compute_ps(std::int32_t family, std::int64_t item) const {
        return noisy(families_[static_cast<std::size_t>(family)].compute_ps(item), item, 1);
    }

    const ItemPrices& prices(std::uint32_t worker, std::int32_t family) const {
        return item_prices_[effects_.price_class[worker]][static_cast<std::size_t>(family)];
    }

    static void count(ns_counters& counters, const Flow& flow, std::int64_t done_ps, std::int64_t wall_ps,
                      std::int64_t times) {
        ns_count_work(&counters, times * flow.undisturbed_ps, times * flow.local_ps);
        counters.overhead_ps += times * flow.price.fault_ps;
        counters.inflation_smt_ps += times * (done_ps - flow.undisturbed_ps - flow.queued_ps - flow.price.fault_ps);
        counters.inflation_contention_ps += times * (wall_ps - done_ps + flow.queued_ps);
    }

    const Plan& plan_;
    const std::uint64_t seed_;
    std::uint64_t noise_seed_;  // of the present run of the phase
    const Effects& effects_;
    const std::vector<ItemTimes>& families_;
    const bool shares_out_;  // whether flows share bandwidth
    const bool keeps_;       // whether flows keep the shares with which they start
    const bool asks_;        // whether demands of flows are needed
    std::optional<TaskMeasures>& measures_;
    Traffic traffic_;
    AccessPrices memory_;
    std::optional<HelperThreads> helpers_;  // if some worker has one
    TaskPrefetch prefetch_;
    Speeds speeds_;
    Shares shares_;
    Progress progress_;
    std::vector<std::vector<ItemPrices>> item_prices_;    // [classes of workers][ranges]
    std::vector<Flow> flows_;                             // [workers]
    std::vector<std::int64_t> sharers_;                   // [domains] number of workers with a flow
    std::vector<std::uint32_t> started_, ended_, moved_;  // workers
    bool settles_ = false;
};

}  // namespace numasim
