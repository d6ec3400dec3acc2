// Transactions: attempts that open objects as they go, then commit, or abort and begin again (model 4.11;
// engine/reference/sync/attempts.py).
//
// Objects are numbered through all memories, in the order of the memories.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/memory_system.hpp"
#include "state/run.hpp"

namespace numasim {

class Transactions {
public:
    Transactions(Run& run, MemorySystem& memory);
    Transactions(const Transactions&) = delete;

    // Begin a turn of a phase, from zero, whose objects are drawn anew.
    void start_turn(std::int64_t turn);
    // Execute the op `use` of the worker's task, behind which `frame` stands already. False: the attempt has aborted,
    // and the worker pays for that.
    bool use(Worker& w, Frame& frame, const Instruction& use);

    std::vector<std::int64_t> object_conflicts() const;
    const std::vector<std::int64_t>& node_conflicts() const { return node_conflicts_; }  // [nodes, nodes]

private:
    static constexpr std::uint32_t NOBODY = UINT32_MAX;

    struct Object {
        std::uint32_t writer = NOBODY, last = NOBODY;  // the worker that writes the object; the last that committed it
        std::int64_t version = 0;                      // committed transactions that wrote the object
        std::int64_t conflicts = 0;                    // attempts that aborted at the object
    };
    // An object that an attempt has opened at `since_ps`, with the version of the object at that time.
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
    // A conflict at an object with the worker `other`; NOBODY: there is no conflict.
    struct Conflict {
        std::uint32_t other, object;
    };

    bool open(Worker& w, Frame& frame, const Instruction& use);
    bool commit(Worker& w, Frame& frame, std::uint32_t memory);
    bool abort(Worker& w, Frame& frame, std::uint32_t memory, const Conflict& conflict);
    void close(std::uint32_t worker, bool commits);
    void log(const Worker& w);
    std::uint32_t drawn(std::uint32_t memory, std::uint64_t number) const;
    Conflict conflict_at(std::uint32_t object, std::uint32_t worker) const {
        const std::uint32_t writer = objects_[object].writer;
        return {writer == worker ? NOBODY : writer, object};
    }
    Conflict validate(std::uint32_t worker) const;

    Run& run_;
    MemorySystem& memory_;
    const ns_plan_words& words_;
    std::uint64_t turn_seed_;
    std::vector<std::uint32_t> first_;  // [words] the first object of each memory
    std::vector<Object> objects_;
    std::vector<std::vector<Opened>> opened_;  // [workers] by the present attempt
    std::vector<Attempt> attempts_;            // [workers]
    std::vector<std::int64_t> node_conflicts_;
};

}  // namespace numasim
