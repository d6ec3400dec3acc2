// The native engine: one run of one plan, event by event, equal to the reference engine (numasim/engine/reference.py).
//
// What the common events go through is inlined as a whole (flatten), up to what is rare (noinline): a fifth of the
// time.
//
// The members are grouped as there: timeline, execution, search, production, steady production, phases; each group has
// a source file of its own. What the model leaves to an engine is decided in the reference engine's files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "checked.hpp"
#include "clock.hpp"
#include "flows.hpp"
#include "item_times.hpp"
#include "objects.hpp"
#include "pages.hpp"
#include "plan.hpp"
#include "queues.hpp"
#include "ranges_ahead.hpp"
#include "steady.hpp"
#include "trace.hpp"
#include "trees_ahead.hpp"
#include "watch.hpp"
#include "words.hpp"
#include "worker.hpp"

namespace numasim {

// Tasks are left, and no worker can ever run one of them.
struct Deadlock : std::runtime_error {
    Deadlock(std::int64_t tasks_left, std::int64_t at_ps)
        : std::runtime_error("no worker can run the tasks that are left"), tasks(tasks_left), time_ps(at_ps) {}
    std::int64_t tasks, time_ps;
};

constexpr std::uint32_t NO_FRAME = UINT32_MAX;

// A task that has been spawned and has not finished, or has children that have not: its place in its program, its join.
struct Frame {
    std::int64_t path_ps;    // longest chain of work up to the current op
    std::int64_t joined_ps;  // that of finished children
    std::int64_t id;         // the task, in the numbering of the trace
    std::uint32_t row;       // its program
    std::uint32_t at;        // index of the next op
    std::uint32_t segments;  // number of its first segment, in a folded graph
    std::uint32_t pending;   // children that have not finished
    std::uint32_t parent;    // the frame of its parent, or NO_FRAME
    std::uint32_t spawner : 28;
    std::uint32_t kind : 2;
    std::uint32_t waiting : 1;   // left its worker's stack at a WAIT
    std::uint32_t finished : 1;  // only its children keep it
};
static_assert(sizeof(Frame) == 48);

// What a task that depends on others, or others on it, is known by before it is spawned and after it has finished.
struct Dependence {
    std::int64_t path_ps;  // longest chain of work among the predecessors that have finished
    std::uint32_t held;    // predecessors that have not finished
    std::uint32_t frame;   // NO_FRAME until it is spawned
};

// One stretch of work, for the checks.
struct Executed {
    std::int64_t task, segment, worker, start_ps, end_ps;
};

// One thief's steals from queues that are too long to run dry meanwhile (plunder.cpp).
struct Plunder {
    std::uint32_t thief;
    std::vector<std::int64_t> tries, got;  // [queues]
    std::int64_t waited_ps = 0, end_ps = 0;
    std::uint64_t hash = 0;  // of its records
};

// A thief's rounds up to a success: the queues that it probed, the last of which was rich.
struct Raid {
    std::vector<std::uint32_t> probed;
    std::int64_t time_ps = 0, waited_ps = 0;
    std::uint64_t failed_remote = 0;
};

class Engine {
public:
    // `pause`, if it is given, is called now and then during a run; what it throws ends the run. A run that is watched
    // goes through every event: its plan must not be one that skips.
    Engine(const Plan& plan, const Listener* listener, Watch* watch, std::function<void()> pause, bool keep_log);

    void run();

    const Plan& plan() const { return plan_; }
    const std::vector<Worker>& workers() const { return workers_; }
    const std::vector<Producer>& producers() const { return producers_; }
    const std::vector<Executed>& log() const { return log_; }
    const std::vector<std::int64_t>& node_attempts() const { return node_attempts_; }
    const std::vector<std::int64_t>& node_success() const { return node_success_; }
    const std::vector<std::int64_t>& node_bytes() const { return node_bytes_; }
    std::vector<WordCounts> word_counts() const;
    const std::vector<Held>& held() const { return held_; }
    std::int64_t makespan_ps() const { return now_; }
    std::int64_t span_ps() const { return span_ps_; }
    std::int64_t page_faults() const { return page_faults_; }
    std::int64_t pages_migrated() const { return pages_migrated_; }
    std::vector<std::int64_t> node_pages() const { return pages_.node_pages(); }
    std::int64_t passed_items() const { return passed_items_; }
    std::int64_t events() const { return events_; }
    std::int64_t peak_tasks() const;  // spawned, or dealt, and not finished at one time
    const Traffic* traffic() const { return flows_ ? &flows_->traffic() : nullptr; }
    std::size_t task_bytes() const;              // of the state that grows with them
    bool complete() const { return complete_; }  // whether the details hold every record
    std::uint64_t steps_hash() { return steps_.total(); }
    std::uint64_t details_hash() { return details_.total(); }

private:
    // What stacks and queues hold: a frame, or the id of a range item, which is at least `tasks_`.
    using Task = std::int64_t;
    static constexpr std::uint32_t AFTER_PHASES = 1;    // at the end of an instant
    static constexpr std::uint32_t MOST_FORESEEN = 16;  // children of a task
    static constexpr Task PRODUCTION = -1;  // on a worker's stack: it creates the items of an implicit range

    // timeline
    void go_through_phases();
    void tell_all();
    void handle(EventKey event);
    void pause() const {
        if (pause_) pause_();
    }
    void schedule(Worker& w, Rank rank, std::int64_t delay_ps);
    void schedule_overhead(Worker& w, Rank rank, std::int64_t step_ps);
    void schedule_idle(Worker& w, Rank rank, std::int64_t step_ps);
    std::int64_t after(std::int64_t delay_ps) const;
    void record_step(Rank rank, std::uint32_t actor, std::int64_t first, std::int64_t second);
    void record_detail(Rank rank, std::uint32_t actor, std::int64_t first, std::int64_t second);

    // flows: work whose time is found out while it runs
    [[gnu::noinline]] void start_flow(Worker& w, const Frame& frame, std::uint32_t segment);
    [[gnu::noinline]] void start_item_flow(Worker& w, Task task);
    void expect(const Frame& frame) const;
    void foresee(const Frame& frame) const;
    void start_flow(Worker& w, Stretch work);
    [[gnu::noinline]] void end_flow(Worker& w);
    [[gnu::noinline]] void tell_activity(const Worker& w);
    bool settles_before(EventKey event) const {
        return flows_ && flows_->settles() && event > event_key(now_, END_OF_INSTANT, AFTER_PHASES);
    }
    void settle();
    void reschedule();
    void tell_loads();
    void sum_traffic();

    // execution
    [[gnu::noinline]] void proceed(Worker& w);
    void start_segment(Worker& w, Frame& frame, std::uint32_t segment);
    void start_item(Worker& w, Task task);
    [[gnu::noinline]] void look_ahead(Worker& w, Task task);
    void work(Worker& w, std::int64_t id, std::int64_t total_ps, std::int64_t local_ps);
    [[gnu::noinline]] void watch_work(Worker& w);
    std::uint32_t kernel_of(Task task) const;
    [[gnu::noinline]] std::int64_t touch(Worker& w, std::uint32_t segment);
    std::int64_t move(std::int64_t access, std::int32_t node);
    void copy_pages(Worker& w, std::int64_t pages);
    void on_segment_end(Worker& w);
    void finish(Worker& w, std::uint32_t frame);
    void join(Worker& w, const Frame& child);
    void task_done();
    void resume(Worker& w, std::uint32_t parent);
    [[gnu::noinline]] void release(Worker& w, const Frame& frame);
    void spawn(Worker& w, std::uint32_t parent);
    void call(Worker& w, std::uint32_t caller);
    std::uint32_t new_child(std::uint32_t parent);
    std::uint32_t new_frame(std::uint32_t row, std::int64_t id, std::uint32_t segments, std::uint32_t parent);
    void let_go(std::uint32_t frame);
    std::int64_t id_of(Task task) const { return is_item(task) ? task : frames_[task].id; }
    [[gnu::noinline]] bool must_inline(Worker& w);
    void offer(Worker& w, Task task);
    void on_put(Worker& w);
    bool put_next(Worker& w);
    void put_locked(Worker& w, std::uint32_t q);
    void put(Worker& w, Task task) { put_into(w, choose(w, task), task); }
    std::int32_t choose(Worker& w, Task task);
    void put_into(Worker& w, std::int32_t q, Task task);
    bool has_room(std::uint32_t q) const { return queues_.length(q) < queues_.capacity(q); }
    [[gnu::noinline]] std::int32_t place(std::uint32_t position, Task task);
    [[gnu::noinline]] void describe(Task task, ns_new_task& described);
    [[gnu::noinline]] std::int64_t dispatch_ps(const Worker& w, std::int32_t q) const;
    bool wait(Worker& w, Frame& frame);
    [[gnu::noinline]] bool block(Worker& w, Frame& frame);
    void on_wake(Worker& w);
    bool is_item(Task task) const { return task >= tasks_; }
    std::size_t family_of(Task task) const;

    // synchronisation
    [[gnu::noinline]] bool use_word(Worker& w, Frame& frame);
    bool request_and_wait(Worker& w, std::uint32_t word, Then then);
    void spin(Worker& w);
    void stop_spinning(Worker& w);
    void request(std::uint32_t word, std::uint32_t actor, Then then);
    void promise(std::uint32_t word, ns_grant grant);
    void expect(Worker& w, Rank rank, std::int64_t due);
    void on_grant(std::uint32_t word);
    void end_lock_wait(const ns_waiter& waiter);
    void tell_idle(Worker& w, std::int64_t failed, std::int64_t failed_remote);
    void go_on(Then then, std::uint32_t word, std::uint32_t actor);
    void release_lock(std::uint32_t word, std::uint32_t actor);
    void end_holding(std::uint32_t word);
    bool arrive(Worker& w, std::uint32_t word);
    void open_barrier(std::uint32_t word);
    void on_release(std::uint32_t word);
    bool await(Worker& w, std::uint32_t word);
    bool signal(Worker& w, std::uint32_t word, std::int64_t permits);
    void send_probe(Worker& w);
    [[gnu::noinline]] void pass_locks(Worker& w);
    void release_held(Worker& w);
    [[gnu::noinline]] void leave_search(Worker& w);
    void free_search_locks();
    void free_search_lock(std::uint32_t word);
    std::int32_t queue_lock(std::int32_t q) const {
        return q < 0 || plan_.words.queue_lock.empty() ? NO_LOCK : plan_.words.queue_lock[static_cast<std::size_t>(q)];
    }
    std::size_t word_slot(std::uint32_t word) const { return std::size_t{plan_.workers} + 2 + word; }

    // search
    bool seek(Worker& w);
    bool pop_own(Worker& w, std::int64_t keep);
    bool may_run(const Worker& w, std::uint32_t q, bool back) const;
    void begin(Worker& w, Task task);
    [[gnu::noinline]] void go_idle(Worker& w);
    [[gnu::noinline]] void end_idle(Worker& w);
    bool join_is_over(const Worker& w) const;
    void compute_thresholds(Worker& w);
    [[gnu::noinline]] bool start_round(Worker& w);
    bool next_probe(Worker& w);
    bool end_round(Worker& w);
    bool back_off(Worker& w, std::int64_t wait_ps);
    void on_look(Worker& w);
    void count_attempt(Worker& w, std::uint32_t q, std::int64_t count);
    void count_attempts(Worker& w, std::uint32_t q, std::int64_t attempts, std::int64_t successes, std::int64_t tasks);
    void take(Worker& w, std::uint32_t q, bool back, std::int64_t count);
    bool missed(Worker& w);
    std::int64_t wait_ps(std::int64_t fails, bool probed) const;
    std::int64_t probe_ps(const Worker& w, std::uint32_t q) const;
    std::int64_t take_ps(const Worker& w, std::uint32_t q) const;
    bool is_remote(const Worker& w, std::uint32_t q) const;
    bool probe_back(std::uint32_t level, std::uint32_t q) const;
    ns_view view() const { return {queues_.lengths(), queues_.watch(), iteration_}; }

    // passing over polls
    std::int64_t next_change();
    bool can_go_on() const;
    bool can_find(const Worker& w) const;
    std::int64_t pass_over(Worker& w, std::int64_t poll_ps, std::int64_t until_ps);
    std::int64_t pass_over_waits(Worker& w, std::int64_t poll_ps, std::int64_t until_ps);
    std::int64_t pass_over_probes(Worker& w, std::int64_t poll_ps, std::int64_t until_ps);
    std::int64_t pass_over_one(Worker& w, std::int64_t poll_ps, std::int64_t until_ps);
    std::int64_t pass_over_many(Worker& w, std::int64_t poll_ps, std::int64_t until_ps);
    std::int64_t pass_over_probe(Worker& w, std::size_t probe, std::int64_t rounds);
    std::int64_t longest_round_ps(const Worker& w) const;
    bool is_attempt(std::uint32_t level) const { return (plan_.steal.level[level].flags & NS_FLAG_ATTEMPT) != 0; }
    void learn_quiet_round(Worker& w);

    // production
    void start_producer(std::uint64_t first, std::uint64_t count);
    [[gnu::noinline]] void produce(Worker& w);
    std::int64_t making_ps(const Producer& p) const;
    void produce_later(Producer& p);
    void on_produce();
    std::uint64_t take_from(std::uint32_t q, bool back);
    void push(std::uint32_t q, Task task);
    void watch_length(std::uint32_t q) {
        if (watch_ != nullptr) watch_->length(now_, q, queues_.length(q));
    }
    std::int64_t victim(std::uint32_t q) const;
    void put_item(Producer& p, std::int32_t q);
    void room_made();  // a task has left a queue; the producer may wait for that
    [[gnu::noinline]] void end_wait(Producer& p);
    void producer_waits(Producer& p);
    bool is_steady();
    bool queues_hold_only_items();
    void move_on(Producer& p, const ItemTimes& times, const Moment& moment, const std::vector<std::int64_t>& taken);
    std::int64_t item_ps(const Worker& w, const ItemTimes& times) const;
    void pass_items(Worker& w, const ItemTimes& times, std::int64_t taken);

    // phases
    void start_phase();
    void part_team();
    void give_roots(const Phase& phase);
    void give_range(const Phase& phase);
    [[gnu::noinline]] void end_phase_after_instant();
    void on_phase_end();
    void wait_at_barrier(Worker& w);
    void retire(Worker& w);
    void take_back(Worker& w, std::int64_t left_ps);
    void reset(std::int64_t root);

    // skipping ahead
    void start_strands(const Phase& phase);
    void follow_strand(Worker& w);
    void on_strand_end(Worker& w);
    void take_ahead(Worker& w, std::uint32_t q);
    void pass_steals();
    bool sort_rich_and_poor();
    std::int64_t riches_last_ps() const;
    std::int64_t stolen_item_ps() const;
    bool pass_steals_until(std::int64_t until_ps);
    void plunder(Plunder& plunder, std::int64_t until_ps);
    bool find_rich(Raid& raid, const Worker& w, std::int64_t start_ps, std::int64_t until_ps,
                   const std::vector<std::int64_t>& step_ps);
    void commit(const Plunder& plunder);
    const ItemTimes& times_of_phase() const { return families_[static_cast<std::size_t>(plan_.phases[phase_].family)]; }
    Worker& owner_of(std::uint32_t q) { return workers_[static_cast<std::size_t>(plan_.steal.queues[q].owner)]; }

    std::uint32_t producer_id() const { return plan_.workers; }
    std::uint32_t hook() const { return plan_.workers + 1; }  // the actor of END_OF_INSTANT on the clock

    const Plan& plan_;
    const std::int64_t tasks_;  // ids of the graph's tasks are below this, those of range items are not
    Clock clock_;
    Queues queues_;
    std::vector<Worker> workers_;
    std::vector<std::int64_t> busy_until_;  // [workers] when the pending event of a working one is due
    std::vector<Producer> producers_;
    std::vector<ns_actor> actors_;  // [workers + 1]
    std::vector<std::int64_t> cursors_;
    std::vector<std::int32_t> chances_;
    std::vector<Frame> frames_;
    std::uint32_t free_frame_ = NO_FRAME;      // the frames that can be used again, linked by `parent`
    std::vector<Dependence> dependences_;      // [rows], empty where there are none
    std::vector<std::uint32_t> predecessors_;  // [rows] likewise
    std::vector<ItemTimes> families_;
    std::vector<std::uint64_t> family_base_;  // [families + 1] id of the first item
    PageMap pages_;
    ObjectMap objects_;
    std::vector<std::int64_t> touched_;     // [nodes] bytes of the access at hand
    std::unique_ptr<Flows> flows_;          // where the plan is coupled
    std::vector<std::int64_t> loads_told_;  // [resources]
    std::unique_ptr<TreesAhead> trees_;     // where it skips ahead
    std::unique_ptr<RangesAhead> ranges_;   // likewise
    Ahead* ahead_ = nullptr;                // that of the phase
    std::vector<std::uint8_t> rich_;        // [queues] which hold many items
    std::vector<std::uint32_t> poor_;       // the workers that steal
    std::int64_t next_plunder_ = 0;         // in events
    RecordSet steps_, details_;
    std::vector<Executed> log_;
    std::vector<SharedWord> words_;
    std::vector<Held> held_;
    std::vector<ns_arrival> leaders_;                           // while a barrier opens
    std::unordered_map<Task, std::uint32_t> sleeper_;           // frame in a blocking join -> its worker
    std::vector<std::uint8_t> overflowed_;                      // [queues]
    std::vector<std::uint32_t> quiet_levels_, quiet_segments_;  // while a quiet round is learnt
    std::vector<std::uint32_t> picked_;                         // by the rounds at hand
    std::vector<std::int64_t> times_picked_;                    // likewise
    std::vector<Task> taken_;                                   // by the steal at hand
    std::vector<std::int64_t> node_attempts_, node_success_, node_bytes_;
    std::size_t phase_ = 0;
    std::int64_t phases_ended_ = 0;  // repeats counted
    std::size_t team_ = 0;           // workers that take part in the phase
    std::uint64_t production_next_ = 0, production_left_ = 0;
    std::int64_t now_ = 0, phase_start_ = 0;
    std::int64_t outstanding_ = 0;  // tasks of the phase that have not finished
    std::int64_t phase_span_ps_ = 0, span_ps_ = 0, page_faults_ = 0, pages_migrated_ = 0, passed_items_ = 0,
                 events_ = 0;
    std::uint32_t iteration_ = 0;
    std::function<void()> pause_;
    Watch* const watch_;     // or nullptr
    bool starting_ = false;  // a phase begins: not all workers know yet what they have been given
    bool keep_log_, finished_ = false, complete_ = true;
    bool looked_ = false;  // the last dispatch asked where the task's objects are
    const bool listened_;
    const bool has_successors_, joins_cost_, inlines_, strict_, tracks_parent_, looks_at_data_, rules_ask_;
    const bool locks_search_, puts_take_time_;
};

// What every event goes through is defined here, to be inlined.

inline std::int64_t Engine::after(std::int64_t delay_ps) const {
    const std::int64_t due = sum_ps(now_, delay_ps);
    if (due > LATEST_PS) refuse_time();
    return due;
}

inline void Engine::schedule(Worker& w, Rank rank, std::int64_t delay_ps) {
    w.rank = rank;
    w.due_ps = after(delay_ps);
    busy_until_[w.id] = rank < LOOK ? w.due_ps : INT64_MAX;
    clock_.set(w.id, event_key(w.due_ps, rank, w.id));
}

inline void Engine::record_step(Rank rank, std::uint32_t actor, std::int64_t first, std::int64_t second) {
    steps_.add({static_cast<std::uint64_t>(now_), rank, actor, static_cast<std::uint64_t>(first),
                static_cast<std::uint64_t>(second)});
}

inline void Engine::record_detail(Rank rank, std::uint32_t actor, std::int64_t first, std::int64_t second) {
    details_.add({static_cast<std::uint64_t>(now_), rank, actor, static_cast<std::uint64_t>(first),
                  static_cast<std::uint64_t>(second)});
}

inline void Engine::task_done() {
    if (--outstanding_ == 0) end_phase_after_instant();
}

inline void Engine::room_made() {
    if (!producers_.empty() && producers_.back().waiting) end_wait(producers_.back());
}

inline std::size_t Engine::family_of(Task task) const {
    const auto id = static_cast<std::uint64_t>(task);
    std::size_t family = 0;
    while (id >= family_base_[family + 1]) ++family;
    return family;
}

// Start a stretch of work, with the overhead that is owed in front of it.
inline void Engine::work(Worker& w, std::int64_t id, std::int64_t total_ps, std::int64_t local_ps) {
    const std::int64_t owed = w.owed_ps;
    if (owed != 0) {
        w.owed_ps = 0;
        w.counters.overhead_ps += owed;
    }
    w.began_ps = now_ + owed;
    w.counters.work_local_ps += local_ps;
    w.counters.inflation_numa_ps += total_ps - local_ps;
    schedule(w, SEG_END, owed + total_ps);
    if (keep_log_) log_.push_back({id, w.segment, w.id, now_ + owed, w.due_ps});
}

inline void Engine::start_item(Worker& w, Task task) {
    if (flows_) return start_item_flow(w, task);
    ItemsAhead& ahead = w.ahead;
    if (ahead.at == ahead.count || ahead.next != task) look_ahead(w, task);
    const std::int64_t total = ahead.total_ps[ahead.at], local = ahead.local_ps[ahead.at];
    ++ahead.at;
    ahead.next += ahead.step;
    if (ahead.times->moves_bytes()) {
        ahead.times->add_traffic(task - ahead.base,
                                 node_bytes_.data() + static_cast<std::size_t>(w.node) * plan_.nodes);
    }
    if (local > phase_span_ps_) phase_span_ps_ = local;
    w.segment = 0;
    work(w, task, total, local);
}

inline std::uint64_t Engine::take_from(std::uint32_t q, bool back) {
    const std::uint64_t task = queues_.pop(q, back);
    watch_length(q);
    return task;
}

inline void Engine::push(std::uint32_t q, Task task) {
    queues_.push(q, static_cast<std::uint64_t>(task));
    watch_length(q);
}

inline void Engine::begin(Worker& w, Task task) {
    if (w.idle) end_idle(w);
    w.fails = 0;
    if (!is_item(task) && (plan_.work_first || tracks_parent_)) {
        const Frame& frame = frames_[static_cast<std::size_t>(task)];
        if (plan_.work_first && frame.at != plan_.graph.op_ptr[frame.row]) w.owed_ps += plan_.costs.resume_ps;
        if (tracks_parent_) ns_actor_ran(&actors_[w.id], static_cast<std::int32_t>(frame.spawner));
    }
    w.stack.push_back(task);
}

// Begin the next own task where the queue holds more than `keep` (-1: its threshold s; A-10).
inline bool Engine::pop_own(Worker& w, std::int64_t keep) {
    if (w.own == NS_UNKNOWN) return false;
    const auto q = static_cast<std::uint32_t>(w.own);
    if (queues_.length(q) <= (keep < 0 ? queues_.low(q) : keep)) return false;
    if (strict_ && !may_run(w, q, w.own_back)) return false;
    w.owed_ps += plan_.costs.pop_ps;
    begin(w, static_cast<Task>(take_from(q, w.own_back)));
    room_made();
    return true;
}

}  // namespace numasim
