// Helper threads. A helper brings data of its worker's next task (unit) into the last-level cache (model 4.11;
// engine/reference/memory/helper_threads.py).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "checked.hpp"
#include "memory/access_prices.hpp"
#include "plan.hpp"
#include "state/frames.hpp"
#include "state/programs.hpp"
#include "state/worker.hpp"

namespace numasim {

class HelperThreads {
public:
    HelperThreads(const Plan& plan, const Programs& programs, AccessPrices& prices, Traffic& traffic)
        : rules_(plan.effects.helpers),
          programs_(programs),
          prices_(prices),
          traffic_(traffic),
          helpers_(plan.workers) {}

    bool has(const Worker& w) const { return rules_.has[w.id] != 0; }

    // Start the worker's helper without a unit.
    void start_phase(Worker& w) {
        if (!has(w)) return;
        helpers_[w.id] = {};
        w.owed_ps = sum_ps(w.owed_ps, rules_.start_ps);
    }

    // The worker begins the unit on which its helper has worked. The helper goes on with `unit`; nullptr: no unit.
    void follow(const Worker& w, const Frame* unit) {
        Helper& helper = helpers_[w.id];
        helper.begun = helper.unit;
        helper.brought_before = std::exchange(helper.brought, {});
        helper.unit = unit != nullptr ? unit->id : NO_UNIT;
        helper.row = unit != nullptr ? unit->row : 0;
        begin(helper);
    }

    // The worker's transaction has aborted: restart the helper. Returns the time that the worker spends on this.
    std::int64_t restart_ps(const Worker& w) {
        if (!has(w)) return 0;
        begin(helpers_[w.id]);
        return rules_.restart_ps;
    }

    // The bytes that the helper has brought in for the worker's unit, if the worker's unit is `task`; else nullptr.
    Brought* brought_for(std::uint32_t worker, std::int64_t task) {
        Helper& helper = helpers_[worker];
        return helper.begun == task ? &helper.brought_before : nullptr;
    }

    // Let the worker's helper run for `time_ps`. Add the resources that it uses to `uses`.
    void run_ahead(std::uint32_t worker, const Place& place, std::int64_t time_ps, std::vector<Use>& uses) {
        if (rules_.has[worker] == 0) return;
        Helper& helper = helpers_[worker];
        std::int64_t left_ps = time_ps - helper.debt_ps;
        Step step;
        prices_.go_on_with(uses);
        while (left_ps > 0) {
            if (!next(helper, step)) {
                left_ps = 0;
                break;
            }
            Price ahead = {.compute_ps = step.compute_ps};
            const std::int64_t fetched = step.access->print.total() - prices_.price_ahead(*step.access, place, ahead);
            helper.brought.add(step.op, step.number, fetched);
            traffic_.prefetched_bytes += fetched;
            left_ps -= sum_ps(sum_ps(ahead.compute_ps, ahead.wait_ps), sum_ps(ahead.queued_ps, ahead.fault_ps));
        }
        helper.debt_ps = -left_ps;
        prices_.collect(uses);
    }

private:
    static constexpr std::int64_t NO_UNIT = -1;

    // A helper: its unit and its worker's unit (`begun`), with the bytes that the helper has brought in for each unit;
    // the place of the helper in its unit; the bytes that the helper may still read; and the time by which its last
    // access ended too late (`debt_ps`).
    struct Helper {
        std::int64_t unit = NO_UNIT, begun = NO_UNIT;
        std::uint32_t row = 0, op = 0, number = 0;
        bool ended = true;
        std::int64_t left_bytes = 0, debt_ps = 0;
        Brought brought, brought_before;
    };

    // An access of a unit, and the time that the helper computes before the access.
    struct Step {
        const Access* access;
        std::uint32_t op, number;
        std::int64_t compute_ps;
    };

    void begin(Helper& helper) const {
        helper.op = helper.number = 0;
        helper.ended = helper.unit == NO_UNIT;
        helper.left_bytes = rules_.lifespan_bytes;
        helper.debt_ps = 0;
    }

    // Find the next reading access of the unit. Returns false if there is none, or the helper's lifespan is over.
    bool next(Helper& helper, Step& step) const {
        while (!helper.ended) {
            const Instruction at = programs_.instruction(programs_.first(helper.row) + helper.op);
            helper.ended = at.op == END;
            if (at.op == RUN && next_of_segment(helper, at.arg, step)) return true;
            ++helper.op;
            helper.number = 0;
        }
        return false;
    }

    bool next_of_segment(Helper& helper, std::uint32_t segment, Step& step) const {
        const AccessTable& table = prices_.table();
        const std::span<const Access> accesses = table.accesses(segment);
        const std::int64_t mine_ps = floor_ratio(table.compute_ps(segment), rules_.work_ppm, MILLION);
        const auto count = static_cast<std::int64_t>(accesses.size());
        while (helper.number < accesses.size()) {
            const std::uint32_t number = helper.number++;
            const Access& access = accesses[number];
            const std::int64_t size = access.print.total();
            if (access.mode == WRITE || size == 0) continue;
            helper.left_bytes -= size;
            helper.ended = helper.left_bytes < 0;
            if (helper.ended) return false;
            const std::int64_t before_ps = floor_ratio(mine_ps, number, count);
            step = {&access, helper.op, number, floor_ratio(mine_ps, number + std::int64_t{1}, count) - before_ps};
            return true;
        }
        return false;
    }

    const ns_helpers& rules_;
    const Programs& programs_;
    AccessPrices& prices_;
    Traffic& traffic_;
    std::vector<Helper> helpers_;  // [workers]
};

}  // namespace numasim
