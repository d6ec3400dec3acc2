// Idle workers that probe under one lock go through their rounds apart from the clock, without events (model 1.5).
//
// While the queues that these workers probe are empty and no other actor uses the lock, the workers influence only each
// other. Their rounds are made up only when something happens that they may notice: a task comes into one of the
// queues, a join ends, another worker begins to search there, or a watch is set. The rounds that have begun until then
// are gone through one after the other, exactly as events would, and the workers get events again.
//
// Only workers whose rounds have one random pick go through them in this way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "idle/sleepers.hpp"
#include "state/containers.hpp"
#include "state/event_tree.hpp"

namespace numasim {

// A poll of one worker.
struct PendingPoll {
    std::int64_t due_ps, wait_ps;  // `wait_ps`: the wait before the poll; 0: as the worker's step says
    std::uint32_t worker;

    EventKey key() const { return event_key(due_ps, POLL, worker); }
    bool operator<(const PendingPoll& other) const {
        return due_ps != other.due_ps ? due_ps < other.due_ps : worker < other.worker;
    }
};

class LockedRounds final : public Sleeping {
public:
    LockedRounds(Run& run, SyncObjects& sync, Polling& polling, std::ptrdiff_t& sleeping);

    void sleep(Worker& w) override {
        if (circle_of_[w.id] != NONE) gather(circles_[circle_of_[w.id]]);
    }
    bool request(Worker& w, std::uint32_t lock) override;
    void wake(std::uint32_t worker) override {
        if (circle_of_[worker] != NONE) part(circles_[circle_of_[worker]]);
    }
    void wake_all() override {
        for (Circle& circle : circles_) part(circle);
    }

private:
    static constexpr std::uint32_t NONE = UINT32_MAX;

    // The workers that search under one lock.
    struct Circle {
        explicit Circle(std::uint32_t its_lock) : lock(its_lock) {}

        std::uint32_t lock;
        std::vector<std::uint32_t> workers;
        std::vector<std::uint32_t> queues;  // the queues that the workers probe, and their own queues
        bool apart = false;           // the idle workers are apart from the clock; the members below hold their state
        ns_server* server = nullptr;  // of the lock
        ns_line* line = nullptr;      // of the lock
        std::int64_t look_ps = 0;     // when the probe of the lock's holder takes effect
        // Of the workers that neither have the lock nor wait for it, in the order in which the polls are due.
        Ring<PendingPoll> polls;

        // A new poll is mostly the last, so it is inserted from the end.
        void add(const PendingPoll& poll) {
            polls.push_back(poll);
            std::size_t at = polls.size() - 1;
            for (; at > 0 && poll < polls.at(at - 1); --at) polls.at(at) = polls.at(at - 1);
            polls.at(at) = poll;
        }
    };

    std::int32_t lock_of(Worker& w);
    void enter(Worker& w, std::uint32_t lock);

    void gather(Circle& circle);
    bool is_quiet(const Circle& circle) const;
    std::int64_t uses_of_lock(const Circle& circle) const;
    bool is_searcher(const Circle& circle, std::uint32_t actor) const;
    void leave_clock(Circle& circle);

    void go_on_until(Circle& circle, EventKey event);
    void poll(Circle& circle);
    void ask(Circle& circle, std::uint32_t worker, std::int64_t now_ps);
    void grant(Circle& circle);
    void look(Circle& circle);

    void part(Circle& circle);
    void return_to_clock(Circle& circle);
    void enter_round(Worker& w);

    void filled(std::uint32_t q) override;

    static std::int64_t checked(std::int64_t time_ps) {
        if (time_ps > LATEST_PS) refuse_time();
        return time_ps;
    }

    SyncObjects& sync_;
    std::vector<Circle> circles_;
    std::vector<std::uint32_t> circle_of_;             // [workers]
    std::vector<std::vector<std::uint32_t>> notices_;  // [queues] the circles whose workers notice a task there
};

}  // namespace numasim
