// How far flows have come, exactly: in 2^-48 of a picosecond, as shares are in 2^-48 (model 2.5;
// engine/reference/memory/flows.py).
//
// The flows of a rate group (rate_groups.hpp) all proceed at the level of the group. A group has a *virtual time*,
// which passes as fast as the level says (Demers, Keshav and Shenker, Analysis and simulation of a fair queueing
// algorithm, 1989, section 2). Each flow of the group ends at a fixed virtual time. A level that changes therefore
// moves one number and one event, however many flows there are. A class that joins another group keeps its own virtual
// time, at a fixed distance from the time of the group; that, too, moves one number. Flows without a class have events
// of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "checked.hpp"
#include "sharing/rate_groups.hpp"
#include "state/event_tree.hpp"

namespace numasim {

// The end, in virtual time, of a flow or of a class of flows with this number.
struct End {
    Wide time;
    std::uint32_t number;
};

// A binary heap of ends in virtual time. Each end can be changed or taken out.
class EndHeap {
public:
    // [numbers] the place of each number in its heap. Several heaps may share the numbers.
    using Places = std::vector<std::uint32_t>;
    static constexpr std::uint32_t NOWHERE = UINT32_MAX;

    bool empty() const { return ends_.empty(); }
    const End& first() const { return ends_.front(); }
    bool is_first(std::uint32_t number) const { return !ends_.empty() && ends_.front().number == number; }

    // Add or change the end of a number; take the end of a number out.
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

    // Calls `visit(number)` for each number that ends at or before `until`.
    template <typename Visit>
    void each_until(Wide until, Visit&& visit, std::size_t from = 0) const {
        if (from >= ends_.size() || ends_[from].time > until) return;
        visit(ends_[from].number);
        each_until(until, visit, 2 * from + 1);
        each_until(until, visit, 2 * from + 2);
    }

private:
    // Put `end` into its place, above or below the free place `at`.
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

// The progress of the flows of all workers.
class Progress {
public:
    Progress(std::size_t workers, std::size_t groups);

    // Start the worker's flow at `since_ps`, with `left_ps` to do at a share of its own.
    void start(std::uint32_t worker, std::int64_t left_ps, std::int64_t since_ps, std::int64_t share);
    void stop(std::uint32_t worker);  // the flow has ended

    // Put the flow into a class or into none; put a class into a group; change the level of a group, or the share of a
    // flow without a class.
    void move(std::uint32_t worker, std::uint32_t number, std::int64_t now_ps);
    void regroup(std::uint32_t number, std::uint32_t group, std::int64_t now_ps);
    void set_level(std::uint32_t group, std::int64_t level, std::int64_t now_ps);
    void set_share(std::uint32_t worker, std::int64_t share, std::int64_t now_ps);

    // The time left of a flow, rounded up; replace the time left by `left_ps`, from now on or from `since_ps` on.
    std::int64_t left_ps(std::uint32_t worker, std::int64_t now_ps) const;
    void put_left(std::uint32_t worker, std::int64_t left_ps, std::int64_t now_ps);
    void restart(std::uint32_t worker, std::int64_t left_ps, std::int64_t since_ps);

    // Whether the flow's end belongs to a group, and is no event of its own.
    bool is_grouped(std::size_t worker) const { return flows_[worker].number != NO_CLASS; }
    std::int64_t share(std::size_t worker) const;

    // When the worker's flow ends, if nothing changes. Times beyond LATEST_PS are LATEST_PS + 1.
    std::int64_t end_ps(std::size_t worker) const;

    // The groups whose first end may have changed since the last `forget_changes`. The first end of a group as an
    // event; the first end at this time, or NO_EVENT.
    std::span<const std::uint32_t> touched() const { return touched_; }
    EventKey first_end(std::uint32_t group) const;
    EventKey first_end_now(std::uint32_t group, std::int64_t now_ps) const;
    void forget_changes();

private:
    // `left` is the virtual time of its class at which the flow ends; without a class it is what was left at
    // `since_ps`.
    struct Flow {
        Wide left = 0;
        std::int64_t since_ps = 0, share = ONE;
        std::uint32_t number = NO_CLASS;
    };

    // The virtual time of the class is that of its group plus `ahead`.
    struct Class {
        Wide ahead = 0;
        std::uint32_t group = FREE_GROUP;
        EndHeap ends;  // ends of its flows
    };

    // `time` is the virtual time at `since_ps`. `waiting` are flows that begin later.
    struct Group {
        Wide time = 0;
        std::int64_t since_ps = 0, level = ONE;
        EndHeap ends;  // the first ends of its classes, in the time of the group
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
