// Skipping ahead over the items of implicit ranges that workers are dealt (model 1.7 and 3.5).
//
// A worker begins the first item that it was dealt, and takes the others one by one from the near end of its queue,
// with a pop each. Thieves take single items off the far end. The only state of a worker is therefore the time at which
// all its items are done: its farthest item is in the queue until the time at which it would start.
//
// When a worker's speed changes, the rest of the present item is scaled, and later items take their times at the new
// speed. If items differ and speeds may change, a run has only the worker's next few items, its portion, since a change
// of speed goes through all items of the run.
#pragma once

#include "memory/memory_system.hpp"
#include "shortcuts/skipped_work.hpp"
#include "state/run.hpp"

namespace numasim {

class SkippedRanges final : public SkippedWork {
public:
    // The arguments must outlive the object.
    SkippedRanges(Run& run, MemorySystem& memory);

    // Begin a phase with this range, with the workers' present speeds.
    void start_phase(std::size_t family);
    // Deal at least one item to a worker at the start of a phase.
    void start(Worker& w, Items items, std::int64_t now_ps);

    bool holds_task(Worker& victim, std::int64_t now_ps) override;
    void steal(Worker& thief, Worker& victim, std::int64_t now_ps) override;
    RunEnd ended(Worker& w, std::int64_t now_ps) override;
    bool change_speed(Worker& w, std::int64_t now_ps) override;

    // Whether all items are alike, and take a worker equally long whatever other workers do.
    bool like_and_steady() const { return uniform_ && !speeds_matter_; }
    // How long such an item takes a thief; how long it takes the owner of its queue, the pop included.
    std::int64_t stolen_item_ps(const Worker& w) const { return like_[w.id].nominal_ps; }
    std::int64_t item_ps(const Worker& w) const { return like_[w.id].nominal_ps + pop_ps_; }

    // Give `thief`, whose run has ended, many like items, the last of which ends at `end_ps`; take many like items from
    // `victim`, which holds more.
    void steal_like(Worker& thief, std::int64_t items, std::int64_t end_ps);
    void lose_like(Worker& victim, std::int64_t items);

private:
    std::int64_t next_change_ps() const override;

    // The items that a worker was dealt and still has, in the order of execution, from its portion on; or the one item
    // that it has stolen.
    struct Share {
        Items items{0, 1, 0};
        Items queued{0, 1, 0};     // while the worker executes its first dealt item: its other items
        std::int64_t portion = 0;  // number of items of its run; 0: it has no run
        bool stolen = false;
        Speed speed{};
        WorkTime farthest{};  // how long the farthest item takes
    };

    // Times of several items together.
    struct WorkSums {
        WorkTime sum{};
        std::int64_t longest_local_ps = 0;
    };

    // The rest of a run: the whole present item, and all later items.
    struct Course {
        std::int64_t in_hand_ps, behind_ps;
    };

    bool may_change(const Worker& w) const;
    // Start a portion whose items each cost `pop_ps` before they begin.
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
    std::size_t family_ = 0;      // of the present phase
    bool uniform_ = true;         // whether the items of the phase are alike
    bool speeds_matter_ = false;  // whether other workers change what an item takes
    std::vector<WorkTime> like_;  // [workers] what a like item takes
    std::vector<Share> shares_;   // [workers]
};

}  // namespace numasim
