// Passing over the production of like items in steady state (model 1.8; engine/reference/steady.py).
#pragma once

#include <cstdint>
#include <vector>

#include "work_source.hpp"
#include "memory/memory_system.hpp"
#include "shortcuts/steady.hpp"
#include "state/run.hpp"

namespace numasim {

class SteadyProduction {
public:
    SteadyProduction(Run& run, MemorySystem& memory, WorkSource& source)
        : run_(run), memory_(memory), source_(source) {}

    // The producer has begun to wait for room: where nothing but the taking and the making of like items goes on,
    // follow that.
    void producer_waits();

    std::int64_t passed_items() const { return passed_items_; }

private:
    bool is_steady() const;
    void move_on(const ItemTimes& times, const Moment& moment, const std::vector<std::int64_t>& taken);

    Run& run_;
    MemorySystem& memory_;
    WorkSource& source_;
    std::size_t tried_for_ = 0;    // producers at the last try
    std::uint64_t try_below_ = 0;  // items left below which the present one is tried again
    std::int64_t passed_items_ = 0;
};

}  // namespace numasim
