// The pending events of a run: core/clock, with a class around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "clock/clock.h"

namespace numasim {

// Kinds of events, in the order in which they happen within one instant.
using Rank = ns_rank;
constexpr Rank SEG_END = NS_RANK_SEG_END, GRANT = NS_RANK_GRANT, RELEASE = NS_RANK_RELEASE, WAKE = NS_RANK_WAKE,
               PUT = NS_RANK_PUT, LOOK = NS_RANK_LOOK, POLL = NS_RANK_POLL, END_OF_INSTANT = NS_RANK_END_OF_INSTANT;

using EventKey = ns_event_key;

constexpr EventKey NO_EVENT = NS_NO_EVENT;

inline EventKey event_key(std::int64_t time_ps, Rank rank, std::uint32_t actor) {
    return ns_event_key_of(time_ps, rank, actor);
}

inline std::int64_t time_of(EventKey key) { return ns_event_time(key); }
inline Rank rank_of(EventKey key) { return static_cast<Rank>(ns_event_rank(key)); }
inline std::uint32_t actor_of(EventKey key) { return ns_event_actor(key); }

class EventTree {
public:
    explicit EventTree(std::size_t actors) {
        if (!ns_clock_create(&clock_, actors)) throw std::bad_alloc();
    }
    ~EventTree() { ns_clock_destroy(&clock_); }
    EventTree(const EventTree&) = delete;
    EventTree& operator=(const EventTree&) = delete;

    ns_clock* core() { return &clock_; }
    EventKey next() const { return ns_clock_next(&clock_); }
    void set(std::size_t actor, EventKey key) { ns_clock_set(&clock_, actor, key); }
    void clear(std::size_t actor) { ns_clock_clear(&clock_, actor); }
    bool are_many(std::size_t count) const { return ns_clock_are_many(&clock_, count); }
    void put(std::size_t actor, EventKey key) { ns_clock_put(&clock_, actor, key); }
    void rebuild() { ns_clock_rebuild(&clock_); }

private:
    ns_clock clock_{};
};

}  // namespace numasim
