// Polls of several workers, in the order in which they are due.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "state/event_tree.hpp"

namespace numasim {

struct PendingPoll {
    std::int64_t due_ps, wait_ps;  // the wait that ends with it; 0: as the worker's step says
    std::uint32_t worker;

    ns_event_key key() const { return ns_event_key_of(due_ps, POLL, worker); }
    bool operator<(const PendingPoll& other) const {
        return due_ps != other.due_ps ? due_ps < other.due_ps : worker < other.worker;
    }
};

// Mostly a new poll is the last of all: so there is room behind them, and each finds its place from there.
class PollLine {
public:
    // No polls, and room for one of each of so many workers.
    void clear(std::size_t workers) {
        places_.resize(2 * workers);
        begin_ = end_ = 0;
    }
    void add(const PendingPoll& poll) {
        if (end_ == places_.size()) move_to_front();
        std::size_t at = end_++;
        for (; at > begin_ && poll < places_[at - 1]; --at) places_[at] = places_[at - 1];
        places_[at] = poll;
    }
    bool empty() const { return begin_ == end_; }
    const PendingPoll& first() const { return places_[begin_]; }
    void drop_first() { ++begin_; }
    std::span<const PendingPoll> all() const { return {places_.data() + begin_, end_ - begin_}; }

private:
    void move_to_front() {
        std::copy(places_.begin() + static_cast<std::ptrdiff_t>(begin_), places_.end(), places_.begin());
        end_ -= begin_;
        begin_ = 0;
    }

    std::vector<PendingPoll> places_;
    std::size_t begin_ = 0, end_ = 0;
};

}  // namespace numasim
