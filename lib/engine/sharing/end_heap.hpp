// Ends in virtual time, of which the first is known, and each can be changed or taken out: a binary heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wide.hpp"

namespace numasim {

// When something ends that is known by its number.
struct End {
    Wide time;
    std::uint32_t number;
};

class EndHeap {
public:
    // [numbers] where in its heap each is, of all heaps that share the numbers.
    using Places = std::vector<std::uint32_t>;
    static constexpr std::uint32_t NOWHERE = UINT32_MAX;

    bool empty() const { return ends_.empty(); }
    const End& first() const { return ends_.front(); }
    bool is_first(std::uint32_t number) const { return !ends_.empty() && ends_.front().number == number; }

    // `end` is that of its number, which may be in the heap already; the number has none any more.
    void put(const End& end, Places& places) {
        std::uint32_t& place = places[end.number];
        if (place == NOWHERE) {
            place = static_cast<std::uint32_t>(ends_.size());
            ends_.push_back(end);
        }
        sift(place, end, places);
    }
    void take_out(std::uint32_t number, Places& places) {
        const std::size_t place = places[number];
        if (place == NOWHERE) return;
        places[number] = NOWHERE;
        const End last = ends_.back();
        ends_.pop_back();
        if (last.number != number) sift(place, last, places);
    }

    // Calls `visit(number)` for those that end not after `until`.
    template <typename Visit>
    void each_until(Wide until, Visit&& visit, std::size_t from = 0) const {
        if (from >= ends_.size() || ends_[from].time > until) return;
        visit(ends_[from].number);
        each_until(until, visit, 2 * from + 1);
        each_until(until, visit, 2 * from + 2);
    }

private:
    // Put `end` where it belongs, above or below the free place `at`.
    void sift(std::size_t at, const End& end, Places& places) {
        const auto put = [&](const End& what) {
            ends_[at] = what;
            places[what.number] = static_cast<std::uint32_t>(at);
        };
        for (; at != 0 && end.time < ends_[(at - 1) / 2].time; at = (at - 1) / 2) put(ends_[(at - 1) / 2]);
        for (std::size_t child = 0; (child = 2 * at + 1) < ends_.size(); at = child) {
            if (child + 1 < ends_.size() && ends_[child + 1].time < ends_[child].time) ++child;
            if (ends_[child].time >= end.time) break;
            put(ends_[child]);
        }
        put(end);
    }

    std::vector<End> ends_;
};

}  // namespace numasim
