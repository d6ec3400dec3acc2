// The clock of a run: the time, and the pending event of each actor (model 1.2).
//
// No other component changes the time, the tree of events or the pending step of a worker.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "checked.hpp"
#include "plan.hpp"
#include "state/event_tree.hpp"
#include "state/worker.hpp"

namespace numasim {

constexpr std::int64_t NEVER_PS = INT64_MAX;

class Clock {
public:
    explicit Clock(const Plan& plan)
        : workers_(plan.workers),
          words_(plan.words.role.size()),
          pending_(slot_of_flows() + plan.effects.coupled),
          first_ends_(plan.effects.coupled
                          ? std::max(plan.effects.resources.capacity.size() + 1, std::size_t{plan.workers})
                          : 0),
          busy_until_(plan.workers, NEVER_PS) {}

    std::int64_t now_ps() const { return now_ps_; }
    std::int64_t events() const { return events_; }
    EventKey event() const { return event_; }  // the event that is being handled

    EventKey next() { return pending_.next(); }
    void advance(EventKey event) {
        ++events_;
        event_ = event;
        now_ps_ = event_time(event);
    }

    // The numbers of actors that are no workers: the producer, the end of an instant, synchronisation objects.
    std::uint32_t producer() const { return workers_; }
    std::uint32_t end_of_instant() const { return workers_ + 1; }
    std::uint32_t word(std::uint32_t word) const { return workers_ + 2 + word; }

    std::int64_t after(std::int64_t delay_ps) const {
        const std::uint64_t due = static_cast<std::uint64_t>(now_ps_) + static_cast<std::uint64_t>(delay_ps);
        if (due > LATEST_PS) refuse_time();
        return static_cast<std::int64_t>(due);
    }

    // Set the pending event of an actor that is no worker. The event has the actor number `named`.
    void set(std::uint32_t actor, std::int64_t due_ps, Rank rank, std::uint32_t named) {
        pending_.set(actor, event_key(due_ps, rank, named));
    }
    void clear(std::uint32_t actor) { pending_.clear(actor); }

    [[gnu::always_inline]] void schedule(Worker& w, Rank rank, std::int64_t delay_ps) {
        w.step.rank_ = rank;
        w.step.due_ps_ = after(delay_ps);
        be_busy_until(w, rank < LOOK ? w.step.due_ps_ : NEVER_PS);
        pending_.set(w.id, event_key(w.step.due_ps_, rank, w.id));
    }

    // Schedule a step that consists of overhead. It includes the overhead that the worker owes.
    void schedule_overhead(Worker& w, Rank rank, std::int64_t step_ps) {
        w.owed_ps += step_ps;
        schedule(w, rank, ns_pay_owed(&w));
    }

    // Schedule a probe or a wait of `step_ps`, after the overhead that the worker owes.
    void schedule_idle(Worker& w, Rank rank, std::int64_t step_ps) {
        w.step.idle_ps_ = step_ps;
        schedule(w, rank, ns_pay_owed(&w) + step_ps);
    }

    // postpone_poll: rounds of an idle worker are passed over. Its next event is a poll at `event_ps`, and `w.step`
    // does not change. The worker wakes at this event or before. wake_for_poll: it wakes for the poll at `due_ps`,
    // after a wait of `wait_ps` (0: the wait of `w.step`). Below, it wakes for a probe under way.
    void postpone_poll(const Worker& w, std::int64_t event_ps) { pending_.set(w.id, event_key(event_ps, POLL, w.id)); }
    void wake_for_poll(Worker& w, std::int64_t due_ps, std::int64_t wait_ps) {
        w.step.rank_ = POLL;
        w.step.due_ps_ = due_ps;
        if (wait_ps != 0) w.step.idle_ps_ = wait_ps;
        pending_.set(w.id, event_key(due_ps, POLL, w.id));
    }
    void wake_for_look(Worker& w, std::int64_t due_ps, std::int64_t probe_ps) {
        w.step.rank_ = LOOK;
        w.step.due_ps_ = due_ps;
        w.step.idle_ps_ = probe_ps;
        pending_.set(w.id, event_key(due_ps, LOOK, w.id));
    }

    // The worker has no event until another actor gives it one.
    void suspend(Worker& w) {
        w.step.rank_ = POLL;
        be_busy_until(w, NEVER_PS);
        pending_.clear(w.id);
    }

    // The worker sleeps until a timer goes off, or until another actor gives it an event.
    void set_timer(Worker& w, std::int64_t delay_ps) {
        w.step.rank_ = WAKE;
        w.step.due_ps_ = after(delay_ps);
        be_busy_until(w, NEVER_PS);
        pending_.set(w.id, event_key(w.step.due_ps_, WAKE, w.id));
    }

    // The worker sleeps from `from_ps` on.
    void sleep(Worker& w, std::int64_t from_ps) {
        suspend(w);
        w.step.due_ps_ = from_ps;
    }

    // The worker waits without an event, but counts as busy: another component is sure to give it an event.
    void hold(Worker& w) {
        be_busy_until(w, now_ps_);
        pending_.clear(w.id);
    }

    // The worker executes a flow, whose end is computed at the end of the instant.
    void start_flow(Worker& w) {
        w.step.rank_ = SEG_END;
        w.step.due_ps_ = now_ps_;
        hold(w);
    }

    // The worker's flow ends at `due_ps`. A time beyond LATEST_PS is refused only if the run comes to it.
    void schedule_flow(Worker& w, std::int64_t due_ps) {
        w.step.due_ps_ = due_ps;
        be_busy_until(w, due_ps);
        pending_.set(w.id, event_key(due_ps, SEG_END, w.id));
    }

    // The worker's flow has no event. It ends when it is the first flow of its rate group (`set_first_end`).
    void wait_for_turn(Worker& w) {
        be_busy_until(w, WAITS_FOR_TURN);
        pending_.clear(w.id);
    }
    void set_first_end(std::uint32_t of_group, EventKey end) { first_ends_.set(of_group, end); }
    void follow_first_ends() { pending_.set(slot_of_flows(), first_ends_.next()); }

    // The worker's flow has ended now.
    void end_flow(Worker& w) { w.step.due_ps_ = now_ps_; }

    // A suspended worker will go on at `due_ps` through the event of another actor.
    void expect(Worker& w, Rank rank, std::int64_t due_ps) {
        w.step.rank_ = rank;
        w.step.due_ps_ = due_ps;
        be_busy_until(w, due_ps);
    }

    // The wait of a suspended worker ends now, and the worker gets no event.
    void cut_short(Worker& w) {
        w.step.due_ps_ = now_ps_;
        w.step.idle_ps_ = 0;
    }

    // The phase has ended: the worker has no pending event.
    void retire(Worker& w) {
        w.step.rank_ = POLL;
        be_busy_until(w, NEVER_PS);
    }

    // Whether an idle worker waits for its next poll.
    bool polls(const Worker& w) const { return w.step.rank_ == POLL && pending_.is_set(w.id); }

    // A worker is busy if its step can bring tasks. Whether a worker is busy; whether any worker is busy; when the
    // first of the steps of busy workers ends.
    bool is_busy(const Worker& w) const { return busy_until_[w.id] != NEVER_PS; }
    bool anybody_is_busy() const { return busy_ != 0; }
    std::int64_t first_busy_end_ps() {
        if (first_busy_until_ == UNKNOWN) first_busy_until_ = *std::min_element(busy_until_.begin(), busy_until_.end());
        const std::int64_t first = first_busy_until_;
        const EventKey flow = first_ends_.next();
        return flow == NO_EVENT ? first : std::min(first, event_time(flow));
    }

private:
    static constexpr std::int64_t WAITS_FOR_TURN = NEVER_PS - 1, UNKNOWN = -1;

    // `first_busy_until_` keeps the minimum of `busy_until_`, which is read much more often than it changes.
    void be_busy_until(const Worker& w, std::int64_t until_ps) {
        std::int64_t& before_ps = busy_until_[w.id];
        busy_ += until_ps != NEVER_PS;
        busy_ -= before_ps != NEVER_PS;
        if (until_ps < first_busy_until_) {
            first_busy_until_ = until_ps;
        } else if (before_ps == first_busy_until_) {
            first_busy_until_ = UNKNOWN;
        }
        before_ps = until_ps;
    }

    std::size_t slot_of_flows() const { return std::size_t{workers_} + 2 + words_; }

    const std::uint32_t workers_;
    const std::size_t words_;  // number of synchronisation objects
    std::int64_t now_ps_ = 0, events_ = 0;
    EventKey event_ = 0;
    EventTree pending_;
    EventTree first_ends_;                  // [rate groups] the first end of a flow in each group, with its worker
    std::vector<std::int64_t> busy_until_;  // [workers] when the pending event of a busy worker is due, or NEVER_PS
    std::int64_t first_busy_until_ = UNKNOWN;
    std::uint32_t busy_ = 0;  // number of busy workers
};

}  // namespace numasim
