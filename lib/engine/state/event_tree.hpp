// The pending events of a run: core/clock, whose memory is freed with it, and its names in C++.
#pragma once

#include <cstddef>
#include <new>

#include "clock/clock.h"

namespace numasim {

using Rank = ns_rank;
constexpr Rank SEG_END = NS_RANK_SEG_END, GRANT = NS_RANK_GRANT, RELEASE = NS_RANK_RELEASE, WAKE = NS_RANK_WAKE,
               PUT = NS_RANK_PUT, LOOK = NS_RANK_LOOK, POLL = NS_RANK_POLL, ABORT = NS_RANK_ABORT, END_OF_INSTANT = NS_RANK_END_OF_INSTANT;

struct EventTree : ns_clock {
    explicit EventTree(std::size_t actors) {
        if (!ns_clock_create(this, actors)) throw std::bad_alloc();
    }
    ~EventTree() { ns_clock_destroy(this); }
    EventTree(const EventTree&) = delete;
    EventTree& operator=(const EventTree&) = delete;
};

}  // namespace numasim
