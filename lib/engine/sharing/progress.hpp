#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "checked.hpp"
#include "sharing/rate_groups.hpp"
#include "state/event_tree.hpp"

namespace numasim {

// Ends in virtual time, of which the first is known, and each can be changed or taken out: a binary heap.

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

// How far flows have come, exactly: in 2^-48 of a picosecond, as shares are in 2^-48 (model 2.5;
// engine/reference/memory/flows.py).
//
// The flows of a rate group (sharing/rate_groups.hpp) all go on at its level. So a group has a *virtual time*, which
// passes as fast as the level says (Demers, Keshav and Shenker, Analysis and simulation of a fair queueing algorithm,
// 1989, section 2): each of its flows ends at a fixed virtual time, and a level that changes moves one number and one
// event, however many flows there are. A class that comes into another group takes its own time along, of which the
// group's is a fixed time ahead or behind; so that, too, moves one number. Flows of no class have events of their own.

class Progress {
public:
    Progress(std::size_t workers, std::size_t groups);

    // The worker's flow does `left_ps` from `since_ps` on, at a share of its own.
    void start(std::uint32_t worker, std::int64_t left_ps, std::int64_t since_ps, std::int64_t share);
    void stop(std::uint32_t worker);  // it has ended

    // The flow is of a class now, or of none; a class of a group; a group at a level.
    void move(std::uint32_t worker, std::uint32_t number, std::int64_t now_ps);
    void regroup(std::uint32_t number, std::uint32_t group, std::int64_t now_ps);
    void set_level(std::uint32_t group, std::int64_t level, std::int64_t now_ps);
    void set_share(std::uint32_t worker, std::int64_t share, std::int64_t now_ps);

    // What is left, rounded up; then `left_ps` takes its place, from now on or from `since_ps`.
    std::int64_t left_ps(std::uint32_t worker, std::int64_t now_ps) const;
    void put_left(std::uint32_t worker, std::int64_t left_ps, std::int64_t now_ps);
    void restart(std::uint32_t worker, std::int64_t left_ps, std::int64_t since_ps);

    // Whether its end is among those of a group, not an event of its own.
    bool is_grouped(std::size_t worker) const { return flows_[worker].number != NO_CLASS; }
    std::int64_t share(std::size_t worker) const;

    // When the worker's flow ends if nothing changes; times beyond LATEST_PS are LATEST_PS + 1.
    std::int64_t end_ps(std::size_t worker) const;

    // Groups whose first end may have changed since the last `forget_changes`; that end, as an event; the first one at
    // this time, if there is one.
    std::span<const std::uint32_t> touched() const { return touched_; }
    EventKey first_end(std::uint32_t group) const;
    EventKey first_end_now(std::uint32_t group, std::int64_t now_ps) const;
    void forget_changes();

private:
    // `left` of a flow of a class is the time of the class at which it ends, else what is left since `since_ps`.
    struct Flow {
        Wide left = 0;
        std::int64_t since_ps = 0, share = ONE;
        std::uint32_t number = NO_CLASS;
    };

    // Its time is `ahead` of its group's.
    struct Class {
        Wide ahead = 0;
        std::uint32_t group = FREE_GROUP;
        EndHeap ends;  // of its flows
    };

    // `time` is its virtual time at `since_ps`; `waiting` are flows that begin later than that.
    struct Group {
        Wide time = 0;
        std::int64_t since_ps = 0, level = ONE;
        EndHeap ends;  // the first ones of its classes, in its own time
        std::vector<std::uint32_t> waiting;
        bool touched = false;

        Wide time_at(std::int64_t ps) const { return time + Wide{ps - since_ps} * level; }
    };

    const Group& group_of(const Flow& flow) const { return groups_[classes_[flow.number].group]; }
    EventKey event_of(const Group& group, std::int64_t due_ps, Wide until) const;
    Wide left(const Flow& flow, std::int64_t now_ps) const;
    void enter(std::uint32_t worker, std::uint32_t number, Wide left);
    void take_out(std::uint32_t worker);
    void advance(Group& group, std::int64_t now_ps);
    void put_end(std::uint32_t worker);
    void put_first_end(std::uint32_t number);
    void touch(std::uint32_t group);

    std::vector<Flow> flows_;     // [workers]
    std::vector<Class> classes_;  // [workers]
    std::vector<Group> groups_;
    EndHeap::Places flow_places_, class_places_;  // [workers]
    std::vector<std::uint32_t> touched_;
};

}  // namespace numasim
