// Helper threads: what of a worker's next unit is in the last-level cache when it begins that (model 4.11;
// engine/reference/memory/helper_threads.py).
#pragma once

#include <cstdint>
#include <vector>

#include "memory/access_prices.hpp"
#include "plan.hpp"
#include "state/frames.hpp"
#include "state/programs.hpp"
#include "state/worker.hpp"

namespace numasim {

class HelperThreads {
public:
    HelperThreads(const Plan& plan, const Programs& programs, AccessPrices& prices, Traffic& traffic);

    bool has(const Worker& w) const { return rules_.has[w.id] != 0; }

    // The worker's helper starts anew, without a unit.
    void start_phase(Worker& w);
    // The worker begins the unit that its helper has run through; the helper turns to `unit`, or to none.
    void follow(const Worker& w, const Frame* unit);
    // The worker's attempt has aborted: its helper begins anew; what that costs the worker.
    std::int64_t restart_ps(const Worker& w);
    // What the helper has brought for the unit that the worker executes, if that is `task`; else nullptr.
    Brought* brought_for(std::uint32_t worker, std::int64_t task);
    // Let the worker's helper run for a time; `uses` gets what it uses, too.
    void run_ahead(std::uint32_t worker, const Place& place, std::int64_t time_ps, std::vector<Use>& uses);

private:
    static constexpr std::int64_t NO_UNIT = -1;

    // What a helper has brought for the unit ahead, and for the one that its worker executes; how far it has come in
    // the unit ahead, what is left of its lifespan, and what its last access takes longer than it had.
    struct Helper {
        std::int64_t unit = NO_UNIT, begun = NO_UNIT;
        std::uint32_t row = 0, op = 0, number = 0;
        bool ended = true;
        std::int64_t left_bytes = 0, debt_ps = 0;
        Brought brought, brought_before;
    };

    // An access of a unit, and what the helper computes before it.
    struct Step {
        const Access* access;
        std::uint32_t op, number;
        std::int64_t compute_ps;
    };

    void begin(Helper& helper) const;
    bool next(Helper& helper, Step& step) const;
    bool next_of_segment(Helper& helper, std::uint32_t segment, Step& step) const;

    const ns_helpers& rules_;
    const Programs& programs_;
    AccessPrices& prices_;
    Traffic& traffic_;
    std::vector<Helper> helpers_;  // [workers]
};

}  // namespace numasim
