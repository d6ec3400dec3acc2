// Waiting for the cache lines of queues and of join counters, if lines are served (model 5.6;
// engine/reference/sync/queue_lines.py).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "state/run.hpp"

namespace numasim {

class QueueLines {
public:
    explicit QueueLines(Run& run);

    // A probe sets out to queue `q`, to take at the back or the front: it looks, or, if it `takes` tasks as the queue is
    // now, looks and takes.
    void probe(Worker& w, std::uint32_t q, bool back, bool takes);
    // The worker looks whether the queue holds a task, before it sleeps.
    void glance(Worker& w, std::uint32_t q) { thief_owes(w, lines_of(q, false), 0); }
    // A probe takes tasks: it writes the line now, unless it has done so when it set out.
    void take(Worker& w, std::uint32_t q, bool back) {
        if (!w.wrote) thief_owes(w, lines_of(q, back), 1);
    }
    // The owner takes its next task, or sees that there is none.
    void pop(Worker& w, std::uint32_t q, bool back);
    // A worker or a producer has put a task into the queue.
    void push(Worker& w, std::uint32_t q) { owner_owes(w, serve(back_[q], w.id, true, w.owed_ps)); }
    void push(Producer& p, std::uint32_t q) { p.owed_ps += serve(back_[q], run_.plan.workers, true, p.owed_ps); }
    // Read or write the word that counts the searching and the sleeping workers.
    void pool(Worker& w, bool writes) { owner_owes(w, serve(pool_, w.id, writes, w.owed_ps)); }
    void pool(Producer& p, bool writes) { p.owed_ps += serve(pool_, run_.plan.workers, writes, p.owed_ps); }

    // A child of the task in frame `parent`, which worker `spawner` has spawned, has ended on the worker.
    void count_child(Worker& w, std::uint32_t parent, std::uint32_t spawner) {
        Counter& counter = run_.frames.counter(parent);
        if (counter.holder == NO_FRAME) counter = {0, spawner};
        move(w, counter);
    }
    // The task in the frame has seen that all its children have ended.
    void pass_wait(Worker& w, std::uint32_t frame) {
        Counter& counter = run_.frames.counter(frame);
        if (counter.holder != NO_FRAME) move(w, counter);
    }

private:
    // A line, the number of actors with valid copies, the owner included, and the time from which the line is free.
    struct Served {
        ns_line line;
        std::uint32_t copies;
        std::int64_t free_ps;
    };
    using Ends = std::array<std::uint32_t, 2>;  // the line of one end of a queue, and that of the other

    Ends lines_of(std::uint32_t q, bool back) const {
        return back ? Ends{back_[q], front_[q]} : Ends{front_[q], back_[q]};
    }
    std::uint32_t add(std::int32_t home, std::uint32_t owner);
    std::int64_t serve(std::uint32_t index, std::uint32_t actor, bool writes, std::int64_t owed_ps);
    std::int64_t farthest_copy_ps(const std::uint64_t* copies, std::uint32_t actor) const;
    std::int64_t access(Worker& w, Ends ends, std::int64_t writes);
    void move(Worker& w, Counter& counter);
    void owner_owes(Worker& w, std::int64_t time_ps) {
        w.owed_ps += time_ps;
        w.owed_owner_ps += time_ps;
        w.owes_lines = true;
    }
    void thief_owes(Worker& w, Ends ends, std::int64_t writes) {
        w.owed_thief_ps += access(w, ends, writes);
        w.owes_lines = true;
    }

    Run& run_;
    const ns_transfers& transfers_;
    const std::uint32_t words_;           // of a set of actors
    std::vector<Served> lines_;
    std::vector<std::uint64_t> holders_;  // [lines][words] the actors with valid copies
    std::vector<std::uint32_t> front_, back_;  // [queues] lines
    std::uint32_t pool_;
};

}  // namespace numasim
