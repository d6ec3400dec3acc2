// The pending events of a run, sorted by (time, rank, actor): a winner tree (tournament tree) with at most one event
// for each slot (model 1.2).
//
// Inner nodes of the binary tree hold the smaller key of their two children. The next event is at the root. A change
// costs one comparison for each level of the tree, without mispredicted branches.
//
// A key in the tree has 64 bits: time since the start of a time *window*, rank, and actor. The window is as long as the
// remaining bits allow: ten hours for thirty slots, a second for a million slots. For an event after the window the
// tree holds LATER, and `later_` holds the whole key. If only such events are left, the window moves to the first one.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "checked.hpp"

namespace numasim {

// Kinds of events, in the order in which they happen within one instant. ABORT is a kind of record only.
enum Rank : std::uint32_t { SEG_END, GRANT, RELEASE, WAKE, PUT, LOOK, POLL, ABORT, END_OF_INSTANT };

__extension__ using EventKey = unsigned __int128;  // (time, rank, actor), compared as one number

constexpr EventKey NO_EVENT = ~EventKey{0};

inline EventKey event_key(std::int64_t time_ps, std::uint32_t rank, std::uint32_t actor) {
    return EventKey{static_cast<std::uint64_t>(time_ps)} << 64 | std::uint64_t{rank} << 32 | actor;
}
inline std::int64_t event_time(EventKey key) { return static_cast<std::int64_t>(key >> 64); }
inline std::uint32_t event_rank(EventKey key) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(key) >> 32);
}
inline std::uint32_t event_actor(EventKey key) { return static_cast<std::uint32_t>(key); }

// The number of slots of a tree with room for `needed`: a power of two, so that all paths to the root have equal length
// and the processor predicts their end. If `needed` is at most a sixteenth above a power of two, the number is
// `needed`: some paths are then longer by one node.
inline std::size_t tree_slots(std::size_t needed) {
    constexpr std::size_t FEW = 16;
    std::size_t slots = 2;
    while (2 * slots <= needed) slots *= 2;
    return needed <= slots ? slots : needed - slots <= slots / FEW ? needed : 2 * slots;
}

inline std::uint32_t bits_for(std::size_t numbers) {
    return numbers <= 2 ? 1 : static_cast<std::uint32_t>(std::bit_width(numbers - 1));
}

class EventTree {
public:
    // A tree without pending events. Numbers of slots and of actors must be below `slots`.
    explicit EventTree(std::size_t slots)
        : slots_(tree_slots(slots)),
          actor_bits_(bits_for(slots)),
          time_shift_(actor_bits_ + RANK_BITS),
          window_ps_((std::uint64_t{1} << (64 - time_shift_)) - 1),
          keys_(2 * slots_, NONE),
          later_(slots_) {}

    EventTree(const EventTree&) = delete;
    EventTree& operator=(const EventTree&) = delete;

    // The first event, or NO_EVENT if no event is pending. The event stays pending.
    [[gnu::always_inline]] EventKey next() {
        std::uint64_t first = keys_[1];
        if (first == NONE) return NO_EVENT;
        if (first == LATER) first = move_to_first();
        return lengthened(first);
    }
    [[gnu::always_inline]] void set(std::size_t slot, EventKey key) {
        put(slot, is_in_window(key) ? shortened(key) : put_away(slot, key));
    }
    void clear(std::size_t slot) { put(slot, NONE); }
    bool is_set(std::size_t slot) const { return keys_[slots_ + slot] != NONE; }

private:
    static constexpr int RANK_BITS = 4;
    static constexpr std::uint64_t NONE = UINT64_MAX, LATER = UINT64_MAX - 1;

    [[gnu::always_inline]] void put(std::size_t slot, std::uint64_t key) {
        std::uint64_t* const keys = keys_.data();
        std::size_t at = slots_ + slot;
        keys[at] = key;
        while (at > 1) {
            const std::uint64_t other = keys[at ^ 1];
            key = other < key ? other : key;
            at >>= 1;
            keys[at] = key;
        }
    }

    // Return the 64-bit key of an event outside the window, or of NO_EVENT. If the event is before the window, the
    // window moves to it.
    [[gnu::noinline]] std::uint64_t put_away(std::size_t slot, EventKey key) {
        if (key == NO_EVENT) return NONE;
        if (event_time(key) < window_begin_ps_) {
            move_window(event_time(key));
            return shortened(key);
        }
        later_[slot] = key;
        return LATER;
    }

    [[gnu::noinline]] std::uint64_t move_to_first() {
        EventKey first = NO_EVENT;
        for (std::size_t slot = 0; slot < slots_; ++slot) first = std::min(first, pending(slot));
        move_window(event_time(first));
        return keys_[1];
    }

    EventKey pending(std::size_t slot) const {
        const std::uint64_t key = keys_[slots_ + slot];
        if (key == NONE) return NO_EVENT;
        return key == LATER ? later_[slot] : lengthened(key);
    }

    void move_window(std::int64_t begin_ps) {
        for (std::size_t slot = 0; slot < slots_; ++slot) later_[slot] = pending(slot);
        window_begin_ps_ = begin_ps;
        for (std::size_t slot = 0; slot < slots_; ++slot) {
            const EventKey key = later_[slot];
            keys_[slots_ + slot] = is_in_window(key) ? shortened(key) : key == NO_EVENT ? NONE : LATER;
        }
        for (std::size_t at = slots_; --at != 0;) keys_[at] = std::min(keys_[2 * at], keys_[2 * at + 1]);
    }

    std::uint64_t shortened(EventKey key) const {
        const std::uint64_t ahead_ps =
            static_cast<std::uint64_t>(event_time(key)) - static_cast<std::uint64_t>(window_begin_ps_);
        return ahead_ps << time_shift_ | std::uint64_t{event_rank(key)} << actor_bits_ | event_actor(key);
    }
    EventKey lengthened(std::uint64_t key) const {
        const std::uint64_t rank_and_actor = key & ((std::uint64_t{1} << time_shift_) - 1);
        const auto actor = static_cast<std::uint32_t>(key & ((std::uint64_t{1} << actor_bits_) - 1));
        const std::uint64_t time_ps = static_cast<std::uint64_t>(window_begin_ps_) + (key >> time_shift_);
        return event_key(static_cast<std::int64_t>(time_ps), static_cast<std::uint32_t>(rank_and_actor >> actor_bits_),
                         actor);
    }
    bool is_in_window(EventKey key) const {
        return static_cast<std::uint64_t>(event_time(key)) - static_cast<std::uint64_t>(window_begin_ps_) < window_ps_;
    }

    const std::size_t slots_;
    const std::uint32_t actor_bits_, time_shift_;
    const std::uint64_t window_ps_;
    std::int64_t window_begin_ps_ = 0;
    std::vector<std::uint64_t> keys_;  // [2 * slots] the root is number 1, the slots are the second half
    std::vector<EventKey> later_;      // [slots] the whole key, if the tree holds LATER
};

}  // namespace numasim
