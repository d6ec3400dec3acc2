// Workers without tasks: phases of fruitless rounds, sleep, who wakes whom (model 4.15; engine/reference/resting.py).
//
// The functions that return bool tell whether the worker goes on now. If so, the caller lets the worker proceed.
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

    // The wait after a fruitless round of the worker. The round is counted in its phase. A negative result: the
    // worker's phases of fruitless rounds are over, and the worker may sleep.
    std::int64_t wait_ps(Worker& w, bool probed);
    void end_nap(Worker& w);

    // ---- falling asleep
    // The worker ends its search. Returns false if it makes one more round before it sleeps.
    bool lie_down(Worker& w);
    // The worker has looked again before its sleep. `finds`: the worker can find a task.
    bool checked(Worker& w, bool finds);
    // Let the worker pay what it owes and then sleep, unless another worker has called it back meanwhile.
    bool settle(Worker& w);
    // Whether the last `lie_down` has left the worker awake.
    bool got_up() const { return got_up_; }

    // ---- waking The sleep of the worker ends, either by itself or because another worker has woken the worker.
    bool wake_up(Worker& w);
    // A worker or a producer has put a task into queue `q`. `held`: the queue held tasks before.
    template <typename Actor>
    void pushed(Actor& actor, std::uint32_t q, bool held);
    // The worker's probe of queue `q` fails because another worker has the lock of the queue.
    void missed(Worker& w, std::uint32_t q);
    // A live subtree has ended, so that a gate (a limit on live subtrees) may have opened queues to workers.
    void subtree_ended(Worker& actor);
    // The last task that the task in `frame` waits for has ended.
    void join_ended(Worker& actor, std::uint32_t frame);

    // ---- phases of the program
    void retire(Worker& w);
    // The worker had no part in a serial phase, which took `time_ps`. Returns how long the worker slept in the phase.
    std::int64_t sit_out(Worker& w, std::int64_t time_ps);
    // A phase begins for the first `team` workers: worker 0 wakes the sleepers among them.
    void wake_team(std::size_t team);

private:
    using Set = std::vector<std::uint64_t>;  // a set of workers

    // The part of a worker's state that only this component uses.
    struct Rest {
        std::int64_t phase = 0, phase_rounds = 0, phase_began_ps = 0;  // its phase of fruitless rounds
        std::int64_t pushes_seen = -1;                 // `pushes_` when it announced its sleep; -1: not announced
        std::int64_t timeouts = 0;                     // successive sleeps that ended by themselves
        std::int64_t slept_since_ps = 0, wake_ps = 0;  // `wake_ps`: when it goes on, if it was woken before it slept
    };

    // `sure`: the workers that can take tasks from a queue until the iteration ends. `now`: the workers that can do so
    // in the present state.
    struct Takers {
        Set sure, now;
    };

    Rest& rest(const Worker& w) { return rests_[w.id]; }
    const Rest& rest(const Worker& w) const { return rests_[w.id]; }
    static bool has(const Set& set, std::uint32_t worker) { return set[worker / 64] >> worker % 64 & 1; }
    static bool meet(const Set& one, const Set& other);
    static void put(Takers& takers, std::uint32_t worker, std::uint8_t reach);
    static void add(Set& to, const Set& some);

    const Takers& takers_of(std::uint32_t q);
    const Set& who_can_cover(const Takers& takers) const;
    bool cover(const Takers& takers) const { return meet(who_can_cover(takers), covering_); }
    std::vector<Takers> uncovered();
    bool can_take(std::uint32_t q, std::uint32_t worker) const;
    bool has_room() const;
    bool keeps_tasks(const Worker& w) const;
    bool is_bound(const Worker& w) const { return !sleeps_in_joins_ && !w.stack.empty(); }
    bool may_sleep(const Worker& w) const { return rule_.sleeps && !is_bound(w); }
    void set_searching(const Worker& w, bool searches);
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
    void tell_queue(std::uint32_t worker, bool sleeps);
    template <typename Actor>
    void wake_some(Actor& actor, const Takers& takers, std::int64_t count);
    template <typename Actor>
    void wake(Actor& actor, Worker& w);
    std::int64_t waking_ps(std::int32_t from_node, const Worker& w) const;
    void end_sleep(Worker& w);
    void get_up(Worker& w);

    Run& run_;
    MemorySystem& memory_;
    QueueLines* const lines_;
    const ns_idle& rule_;
    const bool sleeps_in_joins_;
    const bool counts_;  // whether workers pay for the word that counts the searchers
    Set searching_;
    Set covering_;                             // the members of `searching_` that may take every task
    std::size_t searchers_ = 0;                // members of `searching_`
    Takers everybody_, found_;                 // `found_`: the result of the last `takers_of`
    std::vector<std::vector<Takers>> takers_;  // [1 + steal levels][queues]; empty: everybody takes from all queues
    std::vector<Rest> rests_;                  // [workers]
    std::vector<std::uint32_t> sleepers_;      // workers that have announced their sleep or sleep, in this order
    std::int64_t pushes_ = 0;
    std::unordered_map<Task, std::uint32_t> joining_;  // by frame: the worker that sleeps in the join of its task
    bool got_up_ = false;
};

template <typename Actor>
void Resting::pushed(Actor& actor, std::uint32_t q, bool held) {
    if (run_.plan.steal.queues[q].hidden != 0) return;
    ++pushes_;
    if (lines_ != nullptr && rule_.sleeps) lines_->pool(actor, false);
    if (sleepers_.empty()) return;
    const Takers& takers = takers_of(q);
    bool wakes = true;
    switch (rule_.at) {
        case NS_WAKE_EVERY_PUSH: break;
        case NS_WAKE_NO_SEARCHER: wakes = !cover(takers); break;
        case NS_WAKE_EMPTY_QUEUE: wakes = !held || (!meet(takers.sure, everybody_.sure) && !cover(takers)); break;
        case NS_WAKE_UNCOVERED: wakes = held || !cover(takers); break;
    }
    if (wakes) wake_some(actor, takers, 1);
}

}  // namespace numasim
