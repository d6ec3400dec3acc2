// The pending events of a run: one per actor, in a winner tree (model 1.2).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace numasim {

// Kinds of events, in the order in which they happen within one instant.
enum Rank : std::uint32_t { SEG_END, GRANT, RELEASE, WAKE, PUT, LOOK, POLL, EPOCH, END_OF_INSTANT };

__extension__ using EventKey = unsigned __int128;  // (time, rank, actor), compared as one number

constexpr EventKey NO_EVENT = ~EventKey{0};

constexpr EventKey event_key(std::int64_t time_ps, Rank rank, std::uint32_t actor) {
    return EventKey{static_cast<std::uint64_t>(time_ps)} << 64 | std::uint64_t{rank} << 32 | actor;
}

constexpr std::int64_t time_of(EventKey key) { return static_cast<std::int64_t>(key >> 64); }
constexpr Rank rank_of(EventKey key) { return static_cast<Rank>(static_cast<std::uint64_t>(key) >> 32); }
constexpr std::uint32_t actor_of(EventKey key) { return static_cast<std::uint32_t>(key); }

// A complete binary tree whose inner nodes hold the smaller key of their children: the next event is at the root, and a
// change costs one comparison a level, without a branch that could be mispredicted.
class EventTree {
public:
    explicit EventTree(std::size_t actors)
        : leaves_(std::bit_ceil(std::max<std::size_t>(actors, 2))), keys_(2 * leaves_, NO_EVENT) {}

    EventKey next() const { return keys_[1]; }

    void set(std::size_t actor, EventKey key) {
        std::size_t at = leaves_ + actor;
        EventKey* const keys = keys_.data();
        keys[at] = key;
        while (at > 1) {
            const EventKey other = keys[at ^ 1];
            key = other < key ? other : key;
            at >>= 1;
            keys[at] = key;
        }
    }

    void clear(std::size_t actor) { set(actor, NO_EVENT); }

    // Whether `count` changes are made faster by `put` for each and `rebuild` at the end.
    bool are_many(std::size_t count) const { return count * std::bit_width(leaves_) > leaves_; }

    void put(std::size_t actor, EventKey key) { keys_[leaves_ + actor] = key; }

    void rebuild() {
        for (std::size_t at = leaves_ - 1; at > 0; --at) keys_[at] = std::min(keys_[2 * at], keys_[2 * at + 1]);
    }

private:
    std::size_t leaves_;
    std::vector<EventKey> keys_;
};

}  // namespace numasim
