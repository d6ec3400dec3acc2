// The speed of each worker: shared cores, clocks that fall with load, several kinds of cores, differences between
// workers (model 2.6; engine/reference/memory/speeds.py).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "checked.hpp"
#include "plan.hpp"

namespace numasim {

enum class Activity : std::uint8_t { EXECUTES, POLLS, RESTS };

// How fast a worker computes and how fast memory serves it, in ppm of full speed. Both are at least 1.
struct Speed {
    std::int64_t compute_ppm = 0, memory_ppm = 0;

    bool operator==(const Speed&) const = default;
};

constexpr std::int64_t LEAST_NOISE_PPM = -900'000, MOST_NOISE_PPM = 3'000'000;
constexpr std::int64_t LANES_MEAN = 131'070,
                       LANES_DEVIATION = 37'837;  // of the sum of the four 16-bit parts of a random number

// A relative deviation of a time with a nearly normal distribution, from a random number (model 1.4).
inline std::int64_t noise_ppm(std::uint64_t number, std::int64_t deviation_ppm) {
    std::int64_t lanes = -LANES_MEAN;
    for (int shift = 0; shift < 64; shift += 16) lanes += static_cast<std::int64_t>(number >> shift & 0xFFFF);
    return std::clamp(lanes * deviation_ppm / LANES_DEVIATION, LEAST_NOISE_PPM, MOST_NOISE_PPM);
}

// [units] the workers of each unit, a core or a socket. `unit`: the unit of each worker.
inline std::vector<std::vector<std::uint32_t>> workers_of(U32s unit) {
    std::vector<std::vector<std::uint32_t>> workers(std::size_t{*std::max_element(unit.begin(), unit.end())} + 1);
    for (std::uint32_t w = 0; w < unit.size(); ++w) workers[unit[w]].push_back(w);
    return workers;
}

// `time_ps` with the relative deviation that `noise_ppm` makes of the random number `number`.
inline std::int64_t noisy_ps(std::int64_t time_ps, std::uint64_t number, std::int64_t deviation_ppm) {
    return floor_ratio(time_ps, MILLION + noise_ppm(number, deviation_ppm), MILLION);
}

// The speeds of all workers, which depend on what workers do. At first all workers execute.
class Speeds {
public:
    Speeds(const SpeedRules& rules, std::size_t workers, std::uint64_t seed)
        : rules_(rules),
          told_(rules.executing_ppm != MILLION || rules.polling_ppm != MILLION || !rules.clock_active.empty()),
          now_(workers, Activity::EXECUTES),
          next_(now_),
          on_core_(workers_of(rules.core)),
          on_socket_(workers_of(rules.socket)),
          active_(on_socket_.size(), 0),
          own_ppm_(workers, MILLION),
          speed_(workers),
          marked_(workers, 0) {
        for (const std::vector<std::uint32_t>& on_core : on_core_) {
            awake_.push_back(static_cast<std::int64_t>(on_core.size()));
            if (!on_core.empty()) ++active_[rules.socket[on_core.front()]];
        }
        for (std::size_t socket = 0; socket < active_.size(); ++socket) clock_ppm_.push_back(clock_ppm(socket));
        for (std::uint32_t w = 0; w < workers; ++w) {
            if (rules.worker_spread_ppm != 0) {
                const std::uint64_t number = ns_draw(ns_base(seed, NS_DRAW_WORKER_SPEED, w), 0);
                own_ppm_[w] += noise_ppm(number, rules.worker_spread_ppm);
            }
            speed_[w] = speed_of(w);
        }
    }

    const Speed& speed(std::size_t worker) const { return speed_[worker]; }

    // The worker's activity is `activity` from now on. Speeds change at the next `update`.
    void set_activity(std::uint32_t worker, Activity activity) {
        if (!told_) return;
        if (next_[worker] == activity) return;
        next_[worker] = activity;
        touched_.push_back(worker);
    }

    // Compute the speeds for the present activities. Returns the workers whose speed may have changed. `changed`
    // returns the last result of `update`.
    const std::vector<std::uint32_t>& update() {
        for (const std::uint32_t w : changed_) marked_[w] = 0;
        changed_.clear();
        for (const std::uint32_t w : touched_) {
            if (now_[w] != next_[w]) move(w);
        }
        touched_.clear();
        for (const std::uint32_t w : changed_) speed_[w] = speed_of(w);
        return changed_;
    }

    const std::vector<std::uint32_t>& changed() const { return changed_; }

    // The worker's speed if all other workers on its core have the activity `others`. While no worker rests, the
    // worker's speed lies between its speeds for `others` that execute and for `others` that poll.
    Speed speed_beside(std::uint32_t worker, Activity others) const {
        std::int64_t shared = MILLION;
        for (std::size_t mates = on_core_[rules_.core[worker]].size(); mates-- > 1;)
            shared = slowed_ppm(shared, others);
        return speed_at(worker, shared);
    }

private:
    // Make `next_` of a worker its activity. Mark the workers whose speeds may change: those of its core, and those of
    // its socket if the clock frequency of the socket changes.
    void move(std::uint32_t worker) {
        const std::size_t core = rules_.core[worker], socket = rules_.socket[worker];
        const bool rested = now_[worker] == Activity::RESTS, rests = next_[worker] == Activity::RESTS;
        now_[worker] = next_[worker];
        mark_all(on_core_[core]);
        const bool was_active = awake_[core] != 0;
        awake_[core] += rested - rests;
        if (was_active == (awake_[core] != 0)) return;
        active_[socket] += was_active ? -1 : 1;
        const std::int64_t clock = clock_ppm(socket);
        if (clock == clock_ppm_[socket]) return;
        clock_ppm_[socket] = clock;
        mark_all(on_socket_[socket]);
    }

    void mark_all(const std::vector<std::uint32_t>& workers) {
        for (const std::uint32_t w : workers) {
            if (!marked_[w]) changed_.push_back(w);
            marked_[w] = 1;
        }
    }

    // The clock frequency of a socket relative to the highest frequency. It falls with the number of cores at work.
    std::int64_t clock_ppm(std::size_t socket) const {
        if (rules_.clock_active.empty()) return MILLION;
        std::int64_t hz = rules_.clock_base_hz;
        for (std::size_t step = rules_.clock_active.size(); step-- > 0;) {
            if (active_[socket] <= rules_.clock_active[step]) hz = rules_.clock_hz[step];
        }
        return hz * MILLION / rules_.clock_hz[0];
    }

    Speed speed_of(std::uint32_t worker) const {
        std::int64_t shared = MILLION;
        for (const std::uint32_t mate : on_core_[rules_.core[worker]]) {
            if (mate != worker) shared = slowed_ppm(shared, now_[mate]);
        }
        return speed_at(worker, shared);
    }

    // The speed `ppm` of a worker if one more worker on the core has the activity `mate`.
    std::int64_t slowed_ppm(std::int64_t ppm, Activity mate) const {
        if (mate == Activity::RESTS) return ppm;
        return ppm * (mate == Activity::POLLS ? rules_.polling_ppm : rules_.executing_ppm) / MILLION;
    }

    Speed speed_at(std::uint32_t worker, std::int64_t shared_ppm) const {
        const std::int64_t clocked = shared_ppm * clock_ppm_[rules_.socket[worker]] / MILLION;
        const std::int64_t compute = clocked * rules_.core_ppm[worker] / MILLION * own_ppm_[worker] / MILLION;
        const std::int64_t memory = (rules_.slows_memory ? shared_ppm : MILLION) * own_ppm_[worker] / MILLION;
        return {std::max<std::int64_t>(1, compute), std::max<std::int64_t>(1, memory)};
    }

    const SpeedRules& rules_;
    const bool told_;                                    // whether speeds depend on the activities of workers
    std::vector<Activity> now_, next_;                   // [workers]
    std::vector<std::uint32_t> touched_;                 // workers whose `now_` and `next_` may differ
    std::vector<std::vector<std::uint32_t>> on_core_;    // [cores] workers
    std::vector<std::vector<std::uint32_t>> on_socket_;  // [sockets] workers
    std::vector<std::int64_t> awake_;                    // [cores] number of workers that do not rest
    std::vector<std::int64_t> active_;                   // [sockets] number of cores with workers that do not rest
    std::vector<std::int64_t> clock_ppm_;                // [sockets]
    std::vector<std::int64_t> own_ppm_;                  // [workers]
    std::vector<Speed> speed_;                           // [workers]
    std::vector<std::uint8_t> marked_;                   // [workers]
    std::vector<std::uint32_t> changed_;
};

}  // namespace numasim
