// Helper threads, which bring data of a worker's next unit into the last-level cache (model 4.11;
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

    // Start the worker's helper without a unit.
    void start_phase(Worker& w);
    // The worker begins the unit of its helper. The helper goes on with `unit`, or with no unit.
    void follow(const Worker& w, const Frame* unit);
    // The worker's attempt has aborted: restart its helper. Returns the cost for the worker.
    std::int64_t restart_ps(const Worker& w);
    // What the helper has brought for the worker's unit, if that is `task`; otherwise nullptr.
    Brought* brought_for(std::uint32_t worker, std::int64_t task);
    // Let the worker's helper run for `time_ps`. Adds what it uses to `uses`.
    void run_ahead(std::uint32_t worker, const Place& place, std::int64_t time_ps, std::vector<Use>& uses);

private:
    static constexpr std::int64_t NO_UNIT = -1;

    // The state of a helper: its unit and the unit of its worker (`begun`), with what it has brought for each; its
    // place in its unit; the rest of its lifespan; and by how much its last access has exceeded the given time
    // (`debt_ps`).
    struct Helper {
        std::int64_t unit = NO_UNIT, begun = NO_UNIT;
        std::uint32_t row = 0, op = 0, number = 0;
        bool ended = true;
        std::int64_t left_bytes = 0, debt_ps = 0;
        Brought brought, brought_before;
    };

    // An access of a unit, and the time that the helper computes before it.
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
