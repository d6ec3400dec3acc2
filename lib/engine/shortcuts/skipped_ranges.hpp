// Skipping ahead over the items of implicit ranges that workers are dealt (model 1.7 and 3.5).
//
// A worker begins the first item that it was dealt, and takes the others one after the other from the near end of its
// queue, where each costs a pop; thieves take single items off the far end. So all there is to know of a worker is when
// it will have done them all: its farthest item is still in the queue while the time at which it would be started has
// not come.
//
// When a worker's speed changes, what is left of the item in hand is scaled, and the items behind it take their times
// at the new speed. Where items are unlike each other and speeds may change, a run therefore has only the next few of a
// worker's items, its portion: more would have to be gone through at every change.
#pragma once

#include "memory/memory_system.hpp"
#include "shortcuts/skipped_work.hpp"
#include "state/run.hpp"

namespace numasim {

class SkippedRanges final : public SkippedWork {
public:
    // The arguments must outlive the object.
    SkippedRanges(Run& run, MemorySystem& memory);

    // A phase with this range starts: take the workers' speeds as they are.
    void start_phase(std::size_t family);
    // Deal `items`, not none, to a worker at the start of a phase.
    void start(Worker& w, Items items, std::int64_t now_ps);

    bool holds_task(Worker& victim, std::int64_t now_ps) override;
    void steal(Worker& thief, Worker& victim, std::int64_t now_ps) override;
    RunEnd ended(Worker& w, std::int64_t now_ps) override;
    bool change_speed(Worker& w, std::int64_t now_ps) override;

    // Whether all items are alike, and take no worker longer or shorter whatever others do.
    bool like_and_steady() const { return uniform_ && !speeds_matter_; }
    // Of such items: what each takes a worker, and the owner of a queue, the pop included.
    std::int64_t stolen_item_ps(const Worker& w) const { return like_[w.id].nominal_ps; }
    std::int64_t item_ps(const Worker& w) const { return like_[w.id].nominal_ps + pop_ps_; }

    // Give `thief`, whose run has ended, many like items one after the other, the last of which ends at `end_ps`;
    // and take many from `victim`, which holds more.
    void steal_like(Worker& thief, std::int64_t items, std::int64_t end_ps);
    void lose_like(Worker& victim, std::int64_t items);

private:
    std::int64_t next_change_ps() const override;

    // What a worker was dealt and has not been robbed of, in the order in which it executes it, from the first of its
    // portion on; or the one item that it has stolen.
    struct Share {
        Items items{0, 1, 0};
        Items queued{0, 1, 0};     // while it executes the first that it was dealt: the others
        std::int64_t portion = 0;  // items that its run consists of; 0: it has no run
        bool stolen = false;
        Speed speed{};
        WorkTime farthest{};  // what the farthest item takes it
    };

    // Times of several items together.
    struct WorkSums {
        WorkTime sum{};
        std::int64_t longest_local_ps = 0;
    };

    // What a run has left: the whole of the item in hand, and all that comes behind it.
    struct Course {
        std::int64_t in_hand_ps, behind_ps;
    };

    bool may_change(const Worker& w) const;
    // Each of its items costs `pop_ps` before it begins.
    void start_portion(Worker& w, Share& share, std::int64_t pop_ps, std::int64_t now_ps);
    WorkTime time(const Worker& w, const Share& share, std::int64_t item) const {
        return uniform_ ? like_[w.id] : memory_.item_time(w, family_, item, share.speed);
    }
    WorkSums sums(const Worker& w, const Share& share, Items items) const;
    void set_speed(const Worker& w, Share& share, const Speed& speed);
    std::int64_t items_behind(const Worker& w, const Share& share, std::int64_t now_ps) const;
    Course course(const Worker& w, const Share& share, std::int64_t behind) const;
    void measure_farthest(const Worker& w, Share& share);
    void lose_farthest(Worker& victim, Share& share);
    static void count(Worker& w, std::int64_t items, const WorkTime& times);

    MemorySystem& memory_;
    const Run& run_;
    const std::int64_t pop_ps_;
    std::size_t family_ = 0;      // that of the phase
    bool uniform_ = true;         // whether its items are alike,
    bool speeds_matter_ = false;  // whether what others do changes what some of them take
    std::vector<WorkTime> like_;  // [workers] of like items
    std::vector<Share> shares_;   // [workers]
};

}  // namespace numasim
