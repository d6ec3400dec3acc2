// Transactions: attempts that open objects as they go, commit, or abort and begin again (model 4.11; engine/reference/
// sync/attempts.py).
#pragma once

#include <cstdint>
#include <vector>

#include "memory/memory_system.hpp"
#include "state/run.hpp"
#include "sync/transactions.h"

namespace numasim {

class Transactions {
public:
    Transactions(Run& run, MemorySystem& memory);
    ~Transactions() { ns_transactions_destroy(&objects_); }
    Transactions(const Transactions&) = delete;

    // Begin a turn of a phase, from zero, whose objects are drawn anew.
    void start_turn(std::int64_t turn);
    // Execute op `use` of the worker's task, behind which `frame` stands already. False: the attempt has aborted, and
    // the worker pays for that.
    bool use(Worker& w, Frame& frame, const Instruction& use);

    std::vector<std::int64_t> object_conflicts() const;
    const std::vector<std::int64_t>& node_conflicts() const { return node_conflicts_; }  // [nodes, nodes]

private:
    // A worker's present attempt: number `number` of the transaction that begins at instruction `at`.
    struct Attempt {
        std::uint32_t at = 0, number = 0;
        std::int64_t path_ps = 0, began_ps = 0;
        ns_counters before{};  // what the worker had counted when it began
    };

    void begin(const Worker& w, const Frame& frame);
    bool open(Worker& w, Frame& frame, const Instruction& use);
    bool commit(Worker& w, Frame& frame, std::uint32_t memory);
    void log(const Worker& w);
    bool abort(Worker& w, Frame& frame, std::uint32_t memory, const ns_conflict& conflict);

    Run& run_;
    MemorySystem& memory_;
    std::uint64_t turn_seed_;
    ns_transactions objects_;
    std::vector<Attempt> attempts_;  // [workers]
    std::vector<std::int64_t> node_conflicts_;
};

}  // namespace numasim
