// Workers that find no task: phases of rounds, sleep, and who wakes whom (model 4.15; engine/reference/resting.py).
//
// The functions that return bool tell whether the worker goes on now: the caller then lets it proceed.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "memory/memory_system.hpp"
#include "queue_lines.hpp"
#include "state/run.hpp"

namespace numasim {

class Resting {
public:
    Resting(Run& run, MemorySystem& memory, QueueLines* lines);

    // ---- searching
    void begin_search(Worker& w);
    bool may_search(const Worker& w) const { return has(searching_, w.id); }
    void end_search(Worker& w);

    // The wait after a fruitless round of the worker, counted as such. Below zero: the worker's phases are over and it
    // may sleep.
    std::int64_t wait_ps(Worker& w, bool probed);
    void end_nap(Worker& w);

    // ---- falling asleep
    // The worker ends its search. Returns false if it makes one more round before it sleeps.
    bool lie_down(Worker& w);
    // The worker has looked again, and `finds` whether it can find a task.
    bool checked(Worker& w, bool finds);
    // Let the worker sleep, unless it was called back. It first pays what it owes.
    bool settle(Worker& w);
    // Whether the last `lie_down` has left the worker awake.
    bool got_up() const { return got_up_; }

    // ---- waking
    // The sleep of the worker ends, by itself or because the worker was woken.
    bool wake_up(Worker& w);
    // A worker or a producer has put a task into queue `q`, which `held` tasks before.
    template <typename Actor>
    void pushed(Actor& actor, std::uint32_t q, bool held);
    // The last task has ended that the task in a frame waits for.
    void join_ended(Worker& actor, std::uint32_t frame);

    // ---- phases of the program
    void retire(Worker& w);
    void sat_out(Worker& w, std::int64_t time_ps);
    // A phase begins for the first `team` workers: worker 0 wakes the sleepers among them.
    void wake_team(std::size_t team);

private:
    using Set = std::vector<std::uint64_t>;  // of workers

    // What only this component needs of a worker without a task.
    struct Rest {
        std::int64_t phase = 0, phase_rounds = 0, phase_began_ps = 0;  // its phase of fruitless rounds
        std::int64_t pushes_seen = -1;  // tasks put into queues until it announced its sleep; -1: not announced
        std::int64_t timeouts = 0;      // sleeps in a row that ended by themselves
        std::int64_t slept_since_ps = 0, wake_ps = 0;  // `wake_ps`: when it goes on, if it was woken before it slept
    };

    Rest& rest(const Worker& w) { return rests_[w.id]; }
    const Rest& rest(const Worker& w) const { return rests_[w.id]; }
    static bool has(const Set& set, std::uint32_t worker) { return set[worker / 64] >> worker % 64 & 1; }
    static bool meet(const Set& one, const Set& other);

    bool has_room() const;
    bool keeps_tasks(const Worker& w) const;
    bool may_sleep(const Worker& w) const { return rule_.sleeps && (sleeps_in_joins_ || w.stack.empty()); }
    void join(Worker& w);
    void leave(Worker& w);
    void write_pool(Worker& w) {
        if (lines_ != nullptr && counts_) lines_->pool(w, true);
    }
    const ns_idle_phase* phase_of(Worker& w);
    std::int64_t crowding() const;
    void look_again(Worker& w);
    void fall_asleep(Worker& w);
    void report_idle(Worker& w);
    void report_sleep(Worker& w);
    void forget(std::uint32_t worker);
    template <typename Actor>
    void wake_some(Actor& actor, const Set& reach, std::int64_t count);
    template <typename Actor>
    void wake(Actor& actor, Worker& w);
    std::int64_t waking_ps(std::int32_t from_node, const Worker& w) const;
    void end_sleep(Worker& w);
    void get_up(Worker& w);
    const Set& reach_of(std::uint32_t q) const { return reach_.empty() ? everybody_ : reach_[q]; }

    Run& run_;
    MemorySystem& memory_;
    QueueLines* const lines_;
    const ns_idle& rule_;
    const bool sleeps_in_joins_, counts_;
    Set everybody_, searching_;
    std::size_t searchers_ = 0;             // members of `searching_`
    std::vector<Set> reach_;                // [queues] the workers that can take from each; empty: all from all
    std::vector<Rest> rests_;               // [workers]
    std::vector<std::uint32_t> sleepers_;   // announced or asleep, in the order of their announcements
    std::int64_t pushes_ = 0;
    std::unordered_map<Task, std::uint32_t> joining_;  // by frame: the sleeper that waits for the tasks awaited there
    bool got_up_ = false;
};

template <typename Actor>
void Resting::pushed(Actor& actor, std::uint32_t q, bool held) {
    ++pushes_;
    if (lines_ != nullptr) lines_->pool(actor, false);
    if (sleepers_.empty()) return;
    const bool covered = meet(searching_, reach_of(q));
    bool wakes = true;
    switch (rule_.at) {
        case NS_WAKE_EVERY_PUSH: break;
        case NS_WAKE_NO_SEARCHER: wakes = !covered; break;
        case NS_WAKE_EMPTY_QUEUE: wakes = !held; break;
        case NS_WAKE_UNCOVERED: wakes = held || !covered; break;
    }
    if (wakes) wake_some(actor, reach_of(q), 1);
}

}  // namespace numasim
