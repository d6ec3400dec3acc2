// How far flows have come, exactly: in 2^-48 of a picosecond, as shares are in 2^-48 (model 2.5;
// engine/reference/memory/flows.py).
//
// The flows of a class (memory/sharing.hpp) all go on at its level. So a class that is held back has a *virtual time*,
// which passes as fast as the level says (Demers, Keshav and Shenker, Analysis and simulation of a fair queueing
// algorithm, 1989, section 2): each of its flows ends at a fixed virtual time, and a level that changes moves one
// number and one event, however many flows there are. The flows of a class that was never held back have events of
// their own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "memory/sharing.hpp"
#include "state/event_tree.hpp"
#include "wide.hpp"

namespace numasim {

class Progress {
public:
    explicit Progress(std::size_t workers) : flows_(workers), classes_(workers) {}

    // The worker's flow does `left_ps` from `since_ps` on, at a share of its own.
    void start(std::uint32_t worker, std::int64_t left_ps, std::int64_t since_ps, std::int64_t share);
    void stop(std::uint32_t worker);  // it has ended

    // It is of a class now, or of none.
    void move(std::uint32_t worker, std::uint32_t number, std::int64_t now_ps);
    void set_level(std::uint32_t number, std::int64_t level, std::int64_t now_ps);
    void set_share(std::uint32_t worker, std::int64_t share, std::int64_t now_ps);

    // What is left, rounded up; then `left_ps` takes its place, from now on or from `since_ps`.
    std::int64_t left_ps(std::uint32_t worker, std::int64_t now_ps) const;
    void put_left(std::uint32_t worker, std::int64_t left_ps, std::int64_t now_ps);
    void restart(std::uint32_t worker, std::int64_t left_ps, std::int64_t since_ps);

    // Whether its end is among those of its class, not an event of its own.
    bool is_held(std::size_t worker) const { return flows_[worker].held; }
    std::int64_t share(std::size_t worker) const;

    // When the worker's flow ends if nothing changes; times beyond LATEST_PS are LATEST_PS + 1.
    std::int64_t end_ps(std::size_t worker) const;

    // Classes whose first end may have changed since the last `forget_changes`, and that end, as an event; workers
    // whose flows have come to be held.
    std::span<const std::uint32_t> touched() const { return touched_; }
    std::span<const std::uint32_t> caught() const { return caught_; }
    ns_event_key first_end(std::size_t number) const;
    void forget_changes();

private:
    // `left` of a flow that is held is the virtual time at which it ends, else what is left since `since_ps`; `at` is
    // its place among the ends of its class, or among those of the class that are not held.
    struct Flow {
        Wide left = 0;
        std::int64_t since_ps = 0, share = ONE;
        std::uint32_t number = NO_CLASS, at = 0;
        bool held = false;
    };

    struct End {
        Wide time;
        std::uint32_t worker;

        bool operator<(const End& other) const {
            return time != other.time ? time < other.time : worker < other.worker;
        }
    };

    // `time` is its virtual time at `since_ps`; `ahead` are flows that begin later than that. All of its flows are
    // `held`, or none is.
    struct Class {
        Wide time = 0;
        std::int64_t since_ps = 0, level = ONE;
        std::vector<End> ends;  // a binary heap
        std::vector<std::uint32_t> ahead, free;
        bool held = false, touched = false;

        Wide time_at(std::int64_t ps) const { return time + Wide{ps - since_ps} * level; }
    };

    Wide left(const Flow& flow, std::int64_t now_ps) const;
    void enter(std::uint32_t worker, Wide left);
    void take_out(std::uint32_t worker);
    void hold(Class& held, std::int64_t now_ps);
    void advance(Class& advanced, std::int64_t now_ps);
    void touch(std::uint32_t number);
    void sift(std::vector<End>& ends, std::size_t at, End end);
    static void find_lower(const std::vector<End>& ends, std::size_t at, Wide until, std::uint32_t& first);

    std::vector<Flow> flows_;     // [workers]
    std::vector<Class> classes_;  // [workers]
    std::vector<std::uint32_t> touched_, caught_;
};

}  // namespace numasim
