// Transactions. An attempt opens objects one by one and then commits, or aborts and is repeated (model 4.11;
// engine/reference/sync/attempts.py).
//
// Objects of all transactional memories have consecutive numbers, in the order of the memories.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "memory/memory_system.hpp"
#include "plan.hpp"
#include "state/run.hpp"

namespace numasim {

class Transactions {
public:
    Transactions(Run& run, MemorySystem& memory)
        : run_(run),
          memory_(memory),
          words_(run.plan.words),
          turn_seed_(run.seed),
          opened_(run.plan.workers),
          attempts_(run.plan.workers),
          node_conflicts_(std::size_t{run.plan.nodes} * run.plan.nodes, 0) {
        std::size_t objects = 0;
        for (std::size_t word = 0; word < words_.role.size(); ++word) {
            first_.push_back(static_cast<std::uint32_t>(objects));
            if (words_.role[word] == NS_SYNC_OBJECTS) objects += static_cast<std::size_t>(words_.parties[word]);
        }
        objects_.resize(objects);
    }

    Transactions(const Transactions&) = delete;

    // Begin run number `turn` (from 0) of a phase. Each run draws its objects with a seed of its own.
    void start_turn(std::int64_t turn) { turn_seed_ = ns_turn_seed(run_.seed, static_cast<std::uint64_t>(turn)); }

    // Execute the op `use` of the worker's task. `frame` has already passed the op. False: the attempt has aborted, and
    // the worker pays for the abort.
    [[gnu::noinline]] bool use(Worker& w, Frame& frame, const Instruction& use) {
        switch (use.op) {
            case BEGIN: attempts_[w.id] = {frame.at, 0, frame.path_ps, run_.clock.now_ps(), w.counters}; return true;
            case COMMIT: return commit(w, frame, use.arg);
            default: return open(w, frame, use);
        }
    }

    std::vector<std::int64_t> object_conflicts() const {
        std::vector<std::int64_t> conflicts;
        for (const Object& each : objects_) conflicts.push_back(each.conflicts);
        return conflicts;
    }

    const std::vector<std::int64_t>& node_conflicts() const { return node_conflicts_; }  // [nodes, nodes]

private:
    static constexpr std::uint32_t NOBODY = UINT32_MAX;

    struct Object {
        std::uint32_t writer = NOBODY,
                      last = NOBODY;  // the worker that writes it; that last committed it
        std::int64_t version = 0;     // number of committed transactions that wrote it
        std::int64_t conflicts = 0;   // attempts that aborted at the object
    };
    // An object that an attempt has opened at `since_ps`, with the object's version at that time.
    struct Opened {
        std::uint32_t object;
        bool writes;
        std::int64_t version, since_ps;
    };
    // A worker's present attempt: number `number` of the transaction that begins at instruction `at`.
    struct Attempt {
        std::uint32_t at = 0, number = 0;
        std::int64_t path_ps = 0, began_ps = 0;
        ns_counters before{};  // the worker's counters at the begin of the attempt
    };
    // A conflict with the worker `other` at `object`. `other` == NOBODY: there is no conflict.
    struct Conflict {
        std::uint32_t other, object;
    };

    // Open an object of the memory `use.arg` that is drawn at random.
    bool open(Worker& w, Frame& frame, const Instruction& use) {
        const std::uint64_t base = ns_base(turn_seed_, NS_DRAW_CONFLICT, static_cast<std::uint64_t>(frame.id));
        const std::uint64_t op = run_.frames.op_number(frame, frame.at - 1);
        const std::uint64_t attempt = words_.same[use.arg] != 0 ? 0 : attempts_[w.id].number;
        const std::uint32_t number = drawn(use.arg, ns_draw(base, attempt << 32 | op));
        const Conflict conflict = conflict_at(number, w.id);
        if (conflict.other != NOBODY) return abort(w, frame, use.arg, conflict);
        Object& object = objects_[number];
        if (use.op == STORE && object.writer == w.id) return true;
        opened_[w.id].push_back({number, use.op == STORE, object.version, run_.clock.now_ps()});
        if (use.op == STORE) object.writer = w.id;
        return true;
    }

    bool commit(Worker& w, Frame& frame, std::uint32_t memory) {
        const Conflict conflict = validate(w.id);
        if (conflict.other != NOBODY) return abort(w, frame, memory, conflict);
        if (run_.recorder.keeps_log()) log(w);
        close(w.id, true);
        ++w.counters.commits;
        return true;
    }

    // The attempt conflicts with another worker at an object. Count the attempt's time as wasted, let the worker pay
    // for the abort, and begin the next attempt.
    bool abort(Worker& w, Frame& frame, std::uint32_t memory, const Conflict& conflict) {
        Attempt& attempt = attempts_[w.id];
        run_.detail(ABORT, w.id, frame.id, conflict.object);
        ++objects_[conflict.object].conflicts;
        const auto node = static_cast<std::size_t>(w.node),
                   other = static_cast<std::size_t>(run_.team[conflict.other].node);
        ++node_conflicts_[node * run_.plan.nodes + other];
        close(w.id, false);
        w.counters = attempt.before;
        w.counters.wasted_ps += run_.clock.now_ps() - attempt.began_ps;
        ++w.counters.aborts;
        frame.at = attempt.at;
        frame.path_ps = attempt.path_ps;
        const std::int64_t restart_ps = memory_.helpers() != nullptr ? memory_.helpers()->restart_ps(w) : 0;
        const std::int64_t pay_ps = words_.undo_ps[memory] + restart_ps;
        run_.clock.schedule_overhead(w, PUT, std::max(run_.plan.costs.least_probe_ps, pay_ps));
        ++attempt.number;
        attempt.began_ps = w.step.due_ps();
        attempt.before = w.counters;
        return false;
    }

    // The worker's attempt ends. If it `commits`, the version of each object that it has written grows by one.
    void close(std::uint32_t worker, bool commits) {
        for (const Opened& each : opened_[worker]) {
            if (!each.writes) continue;
            Object& object = objects_[each.object];
            object.writer = NOBODY;
            if (!commits) continue;
            ++object.version;
            object.last = worker;
        }
        opened_[worker].clear();
    }

    void log(const Worker& w) {
        const auto words = static_cast<std::int64_t>(words_.role.size());
        for (const Opened& each : opened_[w.id]) {
            const std::int64_t object = each.object, word = each.writes ? words + object : -1 - object;
            run_.recorder.log(Held{word, w.id, each.since_ps, run_.clock.now_ps()});
        }
    }

    // The object of `memory` that the random number `number` selects.
    std::uint32_t drawn(std::uint32_t memory, std::uint64_t number) const {
        const auto first = static_cast<std::size_t>(words_.weight_ptr[memory]),
                   end = static_cast<std::size_t>(words_.weight_ptr[memory + 1]);
        if (first == end) {
            const auto objects = static_cast<std::uint64_t>(words_.parties[memory]);
            return first_[memory] + static_cast<std::uint32_t>(ns_below(number, objects));
        }
        const ns_i64s sums = words_.weight.subspan(first, end - first);
        const auto place = static_cast<std::int64_t>(ns_below(number, static_cast<std::uint64_t>(sums.back())));
        const auto* const found = std::upper_bound(sums.begin(), sums.end(), place);
        return first_[memory] + static_cast<std::uint32_t>(found - sums.begin());
    }

    Conflict conflict_at(std::uint32_t object, std::uint32_t worker) const {
        const std::uint32_t writer = objects_[object].writer;
        return {writer == worker ? NOBODY : writer, object};
    }

    // The conflict that the worker's attempt meets when it commits, if any: an object that the attempt has read has
    // another version now, or is open for writing.
    Conflict validate(std::uint32_t worker) const {
        for (const Opened& read : opened_[worker]) {
            if (read.writes) continue;
            const Object& object = objects_[read.object];
            if (object.version != read.version) return {object.last, read.object};
            const Conflict found = conflict_at(read.object, worker);
            if (found.other != NOBODY) return found;
        }
        return {NOBODY, 0};
    }

    Run& run_;
    MemorySystem& memory_;
    const ns_plan_words& words_;
    std::uint64_t turn_seed_;
    std::vector<std::uint32_t> first_;  // [words] the first object of each memory
    std::vector<Object> objects_;
    std::vector<std::vector<Opened>> opened_;  // [workers] the objects opened by the present attempt
    std::vector<Attempt> attempts_;            // [workers]
    std::vector<std::int64_t> node_conflicts_;
};

}  // namespace numasim
