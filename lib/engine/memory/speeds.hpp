// The speed of each worker: shared cores, clocks that fall with load, several kinds of cores, differences between
// workers (model 2.6; engine/reference/memory/speeds.py).
#pragma once

#include <cstdint>
#include <vector>

#include "plan.hpp"

namespace numasim {

enum class Activity : std::uint8_t { EXECUTES, POLLS, RESTS };

// How fast a worker computes, and how fast memory answers it, in ppm. Both are at least 1.
struct Speed {
    std::int64_t compute_ppm = 0, memory_ppm = 0;

    bool operator==(const Speed&) const = default;
};

// A time with the relative deviation that the random number `number` stands for.
std::int64_t noisy_ps(std::int64_t time_ps, std::uint64_t number, std::int64_t deviation_ppm);

// The speeds of all workers by what they do. At first all workers execute.
class Speeds {
public:
    Speeds(const SpeedRules& rules, std::size_t workers, std::uint64_t seed);

    const Speed& speed(std::size_t worker) const { return speed_[worker]; }

    // A worker does something else from now on. The next `update` follows that.
    void set_activity(std::uint32_t worker, Activity activity) {
        if (!told_) return;
        if (next_[worker] == activity) return;
        next_[worker] = activity;
        touched_.push_back(worker);
    }

    // Bring speeds up to date. Returns the workers whose speed may have changed; `changed` returns the last result
    // again.
    const std::vector<std::uint32_t>& update();
    const std::vector<std::uint32_t>& changed() const { return changed_; }

    // A worker's speed while all others on its core do the same. While no worker rests, its speed lies between the
    // speeds beside executing and beside polling workers.
    Speed speed_beside(std::uint32_t worker, Activity others) const;

private:
    void move(std::uint32_t worker);
    void mark_all(const std::vector<std::uint32_t>& workers);
    std::int64_t clock_ppm(std::size_t socket) const;
    Speed speed_of(std::uint32_t worker) const;
    std::int64_t slowed_ppm(std::int64_t ppm, Activity mate) const;
    Speed speed_at(std::uint32_t worker, std::int64_t shared_ppm) const;

    const SpeedRules& rules_;
    const bool told_;                                    // whether speeds depend on what workers do
    std::vector<Activity> now_, next_;                   // [workers]
    std::vector<std::uint32_t> touched_;                 // workers for which `now_` and `next_` may differ
    std::vector<std::vector<std::uint32_t>> on_core_;    // [cores] workers
    std::vector<std::vector<std::uint32_t>> on_socket_;  // [sockets] workers
    std::vector<std::int64_t> awake_;                    // [cores] number of workers that do not rest
    std::vector<std::int64_t> active_;                   // [sockets] number of cores with such workers
    std::vector<std::int64_t> clock_ppm_;                // [sockets]
    std::vector<std::int64_t> own_ppm_;                  // [workers]
    std::vector<Speed> speed_;                           // [workers]
    std::vector<std::uint8_t> marked_;                   // [workers]
    std::vector<std::uint32_t> changed_;
};

}  // namespace numasim
