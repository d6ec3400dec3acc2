#include "state/event_tree.hpp"

#include <algorithm>
#include <bit>

namespace numasim {

namespace {

// The number of slots is a power of two, so that all paths to the root are equally long and the end of no path is
// mispredicted. If only a sixteenth more slots are needed, those alone get longer paths.
std::size_t tree_slots(std::size_t needed) {
    constexpr std::size_t FEW = 16;
    std::size_t slots = 2;
    while (2 * slots <= needed) slots *= 2;
    return needed <= slots ? slots : needed - slots <= slots / FEW ? needed : 2 * slots;
}

std::uint32_t bits_for(std::size_t numbers) {
    return numbers <= 2 ? 1 : static_cast<std::uint32_t>(std::bit_width(numbers - 1));
}

}  // namespace

EventTree::EventTree(std::size_t slots)
    : slots_(tree_slots(slots)),
      actor_bits_(bits_for(slots)),
      time_shift_(actor_bits_ + RANK_BITS),
      window_ps_((std::uint64_t{1} << (64 - time_shift_)) - 1),
      keys_(2 * slots_, NONE),
      later_(slots_) {}

EventKey EventTree::pending(std::size_t slot) const {
    const std::uint64_t key = keys_[slots_ + slot];
    if (key == NONE) return NO_EVENT;
    return key == LATER ? later_[slot] : lengthened(key);
}

void EventTree::move_window(std::int64_t begin_ps) {
    for (std::size_t slot = 0; slot < slots_; ++slot) later_[slot] = pending(slot);
    window_begin_ps_ = begin_ps;
    for (std::size_t slot = 0; slot < slots_; ++slot) {
        const EventKey key = later_[slot];
        keys_[slots_ + slot] = is_in_window(key) ? shortened(key) : key == NO_EVENT ? NONE : LATER;
    }
    for (std::size_t at = slots_; --at != 0;) keys_[at] = std::min(keys_[2 * at], keys_[2 * at + 1]);
}

std::uint64_t EventTree::put_away(std::size_t slot, EventKey key) {
    if (key == NO_EVENT) return NONE;
    if (event_time(key) < window_begin_ps_) {
        move_window(event_time(key));
        return shortened(key);
    }
    later_[slot] = key;
    return LATER;
}

std::uint64_t EventTree::move_to_first() {
    EventKey first = NO_EVENT;
    for (std::size_t slot = 0; slot < slots_; ++slot) first = std::min(first, pending(slot));
    move_window(event_time(first));
    return keys_[1];
}

}  // namespace numasim
