// Skipping ahead over the items of implicit ranges that workers are dealt (model 1.7 and 3.5).
//
// A worker takes its items one after the other from the near end of its queue and each costs a pop; thieves take single
// items off the far end. So all there is to know of a worker is when it will have done them all: its farthest item is
// still in the queue while the time at which it would be started has not come.
#pragma once

#include "shortcuts/skipped_work.hpp"
#include "state/item_times.hpp"

namespace numasim {

class SkippedRanges final : public SkippedWork {
public:
    // `bytes` [nodes * nodes] receives what is moved from and to each home by each node.
    SkippedRanges(std::size_t workers, std::size_t nodes, std::int64_t pop_ps, std::int64_t* bytes);

    // Deal `items`, not none, of the family to a worker at the start of a phase.
    void start(Worker& w, const ItemTimes& times, Items items, std::int64_t now_ps);

    bool holds_task(Worker& victim, std::int64_t now_ps) override;
    void steal(Worker& thief, Worker& victim, std::int64_t now_ps) override;
    RunEnd ended(Worker& w, std::int64_t now_ps) override;

    // Of uniform items: what each takes the owner of a queue, the pop included.
    std::int64_t item_ps(const Worker& w) const { return shares_[w.id].farthest.total_ps + pop_ps_; }

    // Give `thief`, whose run has ended, many like items one after the other, the last of which ends at `end_ps`;
    // and take many from `victim`, which holds more.
    void steal_like(Worker& thief, const ItemTimes& times, std::int64_t items, std::int64_t end_ps);
    void lose_like(Worker& victim, std::int64_t items);

private:
    std::int64_t next_change_ps() const override;

    // What a worker was dealt and has not been robbed of; none where it runs a stolen item.
    struct Share {
        const ItemTimes* times = nullptr;
        Items items{0, 1, 0};
        ItemTime farthest{0, 0};  // what the farthest item takes its owner
    };

    static std::int64_t farthest_item(const Worker& w, const Items& items);
    static void measure_farthest(const Worker& w, Share& share);
    void lose_farthest(Worker& victim, Share& share);
    static void count(Worker& w, std::int64_t items, std::int64_t total_ps, std::int64_t local_ps);
    std::int64_t* bytes_of(const Worker& w) const { return bytes_ + static_cast<std::size_t>(w.node) * nodes_; }

    std::vector<Share> shares_;  // [workers]
    std::size_t nodes_;
    std::int64_t pop_ps_;
    std::int64_t* bytes_;
};

}  // namespace numasim
