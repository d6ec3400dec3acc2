// The tiers and labels of tasks and the switches that are in force, and the counts of live subtrees (model 4.14;
// engine/reference/task_controls.py).
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "plan.hpp"
#include "state/frames.hpp"
#include "state/items.hpp"
#include "state/task_queues.hpp"

namespace numasim {

class TaskControls {
public:
    // The strategy sees the switches and the live subtrees through `queues`.
    TaskControls(const Plan& plan, const Frames& frames, const ItemRanges& ranges, TaskQueues& queues)
        : plan_(plan),
          frames_(frames),
          ranges_(ranges),
          queues_(queues),
          tier_(plan.control.tier.begin(), plan.control.tier.end()),
          label_(plan.control.label.begin(), plan.control.label.end()),
          in_force_(plan.control),
          live_(&plan) {
        const std::size_t families = plan.families.size(), labels = plan.control.item_label.size();
        if (labels > 0 && ranges.first(families) != ranges.first(0) + labels) {
            throw std::invalid_argument("item_label does not have every item");
        }
        queues_.show_live(live_);
        queues_.set_switches(plan.control.switches);
        show();
    }

    // Whether the spawning worker begins a task of this row at once.
    bool goes_first(std::uint32_t row) const {
        const std::uint32_t tiers = plan_.work_first_tiers;
        return tiers == NS_EVERY_TIER || (tiers != 0 && (tiers & ns_tier_of(&in_force_, row)) != 0);
    }

    // The tier of a task for dispatch rules. A task that has not started has its own tier. A task that continues after
    // the spawn of a child that was begun first has the tier of this child.
    std::uint32_t asked_tier(Task task) const {
        if (frames_.is_item(task)) return NS_TIER_LOCAL;
        const Frame& frame = frames_[task];
        return ns_tier_of(&in_force_, frames_.has_started(frame) ? frames_.last(frame).arg : frame.row);
    }

    // The unit (set of workers) in the task's label, or NS_UNKNOWN.
    std::int32_t label(Task task) const {
        return frames_.is_item(task) ? item_label(task) : ns_label_of(&in_force_, frames_[task].row);
    }

    ns_live_subtrees* live() { return &live_; }

    // Between two iterations: change the tiers of all tasks, the labels of all tasks, or the switches.
    void set_tiers(std::span<const std::uint8_t> tiers) {
        tier_.assign(tiers.begin(), tiers.end());
        show();
    }
    void set_labels(std::span<const std::int32_t> labels) {
        label_.assign(labels.begin(), labels.end());
        show();
    }
    void set_switches(std::uint64_t switches) { queues_.set_switches(switches); }

private:
    void show() {
        in_force_.tier = {tier_.data(), tier_.size()};
        in_force_.label = {label_.data(), label_.size()};
        if (plan_.counts_live) ns_live_follow(&live_, &plan_.graph, &in_force_);
    }
    std::int32_t item_label(Task item) const {
        if (!plan_.control.item_label.empty())
            return plan_.control.item_label[static_cast<std::size_t>(item) - ranges_.first(0)];
        if (plan_.control.item_units == 0) return NS_UNKNOWN;
        const std::size_t family = ranges_.family_of(item);
        const auto index = static_cast<std::uint64_t>(item) - ranges_.first(family);
        const auto units = static_cast<std::uint64_t>(plan_.control.item_units);
        return static_cast<std::int32_t>(index * units / ranges_.count(family));
    }

    const Plan& plan_;
    const Frames& frames_;
    const ItemRanges& ranges_;
    TaskQueues& queues_;
    std::vector<std::uint8_t> tier_;   // [rows], empty if all tasks are local
    std::vector<std::int32_t> label_;  // [rows], empty if no task has a label
    Control in_force_;                 // with `tier_` and `label_`
    Owned<ns_live_subtrees, ns_live_create> live_;
};

}  // namespace numasim
