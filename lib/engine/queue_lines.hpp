// Waiting for the cache lines of queues and of join counters, if the plan serves these lines one request at a time
// (model 5.6; engine/reference/sync/queue_lines.py).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "plan.hpp"
#include "state/run.hpp"

namespace numasim {

class QueueLines {
public:
    explicit QueueLines(Run& run)
        : run_(run), transfers_(run.plan.words.transfers), words_(ns_set_words(run.plan.workers + 1)) {
        for (std::uint32_t q = 0; q < run_.plan.steal.queue_count; ++q) {
            const ns_queue& queue = run_.plan.steal.queues[q];
            const auto owner = static_cast<std::uint32_t>(queue.owner);
            front_.push_back(add(queue.home, owner));
            back_.push_back(run_.plan.queue_lines[q] == 1 ? front_.back() : add(queue.home, owner));
        }
        pool_ = add(-1, 0);
    }

    // A probe sets out to queue `q`, to take tasks at the back or the front. It reads the cache lines of the queue. If
    // the probe would take tasks from the queue as it is now (`takes`), it also writes them.
    [[gnu::noinline]] void probe(Worker& w, std::uint32_t q, bool back, bool takes) {
        w.wrote = takes && ns_queue_lock(&run_.plan, static_cast<std::int32_t>(q)) == NS_NO_LOCK;
        thief_owes(w, lines_of(q, back), w.wrote ? 1 + (run_.queues.length(q) == 1) : 0);
    }

    // Before a sleep, the worker looks whether queue `q` holds a task.
    void glance(Worker& w, std::uint32_t q) { thief_owes(w, lines_of(q, false), 0); }
    // A probe takes tasks. The probe writes the line of the queue now, unless `probe` let it write the line.
    void take(Worker& w, std::uint32_t q, bool back) {
        if (!w.wrote) thief_owes(w, lines_of(q, back), 1);
    }

    // The owner of queue `q` takes the next task of the queue, or sees that the queue is empty.
    [[gnu::noinline]] void pop(Worker& w, std::uint32_t q, bool back) {
        const std::int64_t length = run_.queues.length(q);
        w.owed_owner_ps += access(w, lines_of(q, back), std::min<std::int64_t>(length, 1) + (length == 1));
        w.owes_lines = true;
    }

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
    // The task in the frame has passed a WAIT, and reads the counter of its children.
    void pass_wait(Worker& w, std::uint32_t frame) {
        Counter& counter = run_.frames.counter(frame);
        if (counter.holder != NO_FRAME) move(w, counter);
    }

private:
    // A cache line, the number of actors with valid copies (with the owner), and the time until which it is occupied.
    struct Served {
        ns_line line;
        std::uint32_t copies;
        std::int64_t free_ps;
    };
    using Ends = std::array<std::uint32_t, 2>;  // the lines of the two ends of a queue

    Ends lines_of(std::uint32_t q, bool back) const {
        return back ? Ends{back_[q], front_[q]} : Ends{front_[q], back_[q]};
    }

    // Add a line that belongs to `owner` at first. A negative `home` stands for the owner's node.
    std::uint32_t add(std::int32_t home, std::uint32_t owner) {
        const auto index = static_cast<std::uint32_t>(lines_.size());
        lines_.push_back(
            {{.home = home < 0 ? ns_node_of(&transfers_, owner) : home, .owner = owner, .local = 0, .remote = 0},
             1,
             0});
        holders_.resize(holders_.size() + words_, 0);
        ns_set_put(&holders_[std::size_t{index} * words_], owner, true);
        return index;
    }

    // Let an actor read or write a line after the actor has paid `owed_ps`. Returns the time from that payment until
    // the actor has the line.
    [[gnu::noinline]] std::int64_t serve(std::uint32_t index, std::uint32_t actor, bool writes, std::int64_t owed_ps) {
        Served& served = lines_[index];
        std::uint64_t* const copies = &holders_[std::size_t{index} * words_];
        const bool has = ns_set_has(copies, actor);
        if (has && (!writes || served.copies == 1)) return 0;
        std::int64_t transfer_ps = served.line.owner != actor ? ns_line_to_ps(&transfers_, &served.line, actor) : 0;
        if (writes) {
            transfer_ps = std::max(transfer_ps, farthest_copy_ps(copies, actor));
            served.line.owner = actor;
            std::fill_n(copies, words_, 0);
            served.copies = 0;
        }
        if (!ns_set_has(copies, actor)) ++served.copies;
        ns_set_put(copies, actor, true);
        const std::int64_t now_ps = run_.clock.now_ps(), wait_ps = std::max<std::int64_t>(0, served.free_ps - now_ps);
        served.free_ps = now_ps + wait_ps + transfer_ps;
        return std::max<std::int64_t>(0, wait_ps - owed_ps) + transfer_ps;
    }

    std::int64_t farthest_copy_ps(const std::uint64_t* copies, std::uint32_t actor) const {
        std::int64_t farthest_ps = 0;
        const std::int64_t* const to =
            transfers_.between_ps + std::size_t{ns_place_of(&transfers_, actor)} * transfers_.workers;
        for (std::uint32_t word = 0; word < words_; ++word) {
            for (std::uint64_t left = copies[word]; left != 0; left &= left - 1) {
                const std::uint32_t other = word * 64 + ns_word_first(left);
                if (other != actor) farthest_ps = std::max(farthest_ps, to[ns_place_of(&transfers_, other)]);
            }
        }
        return farthest_ps;
    }

    // Access the lines of both ends of a queue, and write the first `writes` of the lines. Returns the time that the
    // worker owes for the accesses.
    std::int64_t access(Worker& w, Ends ends, std::int64_t writes) {
        const std::int64_t before_ps = w.owed_ps;
        w.owed_ps += serve(ends[0], w.id, writes > 0, w.owed_ps);
        if (ends[1] != ends[0]) w.owed_ps += serve(ends[1], w.id, writes > 1, w.owed_ps);
        return w.owed_ps - before_ps;
    }

    [[gnu::noinline]] void move(Worker& w, Counter& counter) {
        if (counter.holder == w.id) return;
        const std::int64_t now_ps = run_.clock.now_ps(), wait_ps = std::max<std::int64_t>(0, counter.free_ps - now_ps);
        const std::int64_t transfer_ps = transfers_.between_ps[std::size_t{w.id} * transfers_.workers + counter.holder];
        counter = {now_ps + wait_ps + transfer_ps, w.id};
        owner_owes(w, std::max<std::int64_t>(0, wait_ps - w.owed_ps) + transfer_ps);
    }

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
    const std::uint32_t words_;  // 64-bit words of a set of actors
    std::vector<Served> lines_;
    std::vector<std::uint64_t> holders_;       // [lines][words] the actors with valid copies
    std::vector<std::uint32_t> front_, back_;  // [queues] the line of each end
    std::uint32_t pool_;
};

}  // namespace numasim
