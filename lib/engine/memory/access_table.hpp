// The segments of a plan and their accesses: all that prices of an access depend on is in one cache line (model 2.3).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "memory/caches.hpp"
#include "plan.hpp"
#include "state/programs.hpp"

namespace numasim {

constexpr std::int32_t SEVERAL = -1;

// One access of a segment.
struct alignas(64) Access {
    Footprint print;
    std::int64_t passes, misses;
    std::int32_t home;  // the node of all its bytes if known before the run, or SEVERAL
    AccessMode mode;
    bool settled;  // whether all homes are known before the run

    bool writes() const { return mode != READ; }
};
static_assert(sizeof(Access) == 64);

// The node on which all bytes of an access lie, or SEVERAL. `by_home`: its bytes on each node.
inline std::int32_t only_home(I64s by_home) {
    std::int32_t only = SEVERAL;
    for (std::size_t home = 0; home < by_home.size(); ++home) {
        if (by_home[home] == 0) continue;
        if (only != SEVERAL) return SEVERAL;
        only = static_cast<std::int32_t>(home);
    }
    return only;
}

class AccessTable {
public:
    explicit AccessTable(const Plan& plan) {
        if (!plan.effects.coupled) return;
        const Accesses& shape = plan.accesses;
        const SegmentNeeds& needs = plan.effects.segments;
        segments_.reserve(needs.first_access.size());
        for (std::size_t s = 0; s < needs.compute_ps.size(); ++s) {
            segments_.push_back({needs.compute_ps[s], needs.first_access[s]});
        }
        segments_.push_back({0, needs.first_access.back()});
        const std::vector<std::int64_t> begins = region_begins(plan.effects.caches.region_bytes);
        accesses_.reserve(shape.region.size());
        for (std::size_t a = 0; a < shape.region.size(); ++a) {
            const bool settled = plan.memory.dynamic[shape.region[a]] == 0;
            const I64s by_home = shape.settled.subspan(a * plan.nodes, plan.nodes);
            accesses_.push_back({
                .print = {begins[shape.region[a]] + shape.offset[a], shape.row_bytes[a], shape.rows[a],
                          shape.stride[a]},
                .passes = needs.passes[a],
                .misses = needs.misses[a],
                .home = settled ? only_home(by_home) : SEVERAL,
                .mode = static_cast<AccessMode>(needs.mode[a]),
                .settled = settled,
            });
        }
    }

    std::int64_t compute_ps(std::size_t segment) const { return segments_[segment].compute_ps; }
    std::span<const Access> accesses(std::size_t segment) const {
        return {accesses_.data() + segments_[segment].first_access,
                accesses_.data() + segments_[segment + 1].first_access};
    }
    std::size_t number_of(const Access& access) const { return static_cast<std::size_t>(&access - accesses_.data()); }

    // Prefetch a segment; prefetch its accesses. Most of the time of pricing is cache misses for these data.
    void prefetch(std::size_t segment) const { __builtin_prefetch(segments_.data() + segment); }
    void prefetch_accesses(std::size_t segment) const {
        __builtin_prefetch(accesses_.data() + segments_[segment].first_access);
    }

private:
    struct Segment {
        std::int64_t compute_ps, first_access;
    };

    std::vector<Segment> segments_;  // [segments + 1] if the plan is coupled
    std::vector<Access> accesses_;
};

// Prefetches the programs, segments and accesses of children while their parent works.
//
// A child needs a chain of four look-ups, each probably a cache miss of the simulating machine. With every new child
// come its first look-up and one look-up for each of three earlier children, so that no look-up waits for another.
class TaskPrefetch {
public:
    TaskPrefetch(const Programs& programs, const AccessTable& accesses) : programs_(programs), accesses_(accesses) {}

    // A task will be spawned soon.
    void expect(std::uint32_t row) {
        programs_.expect(row);
        chain_[at_] = row;
        find_op(chain_[(at_ - APART) % CHILDREN]);
        find_segment(chain_[(at_ - 2 * APART) % CHILDREN]);
        accesses_.prefetch_accesses(chain_[(at_ - 3 * APART) % CHILDREN]);
        at_ = (at_ + 1) % CHILDREN;
    }

private:
    static constexpr std::size_t APART = 4, CHILDREN = 4 * APART;

    // Replace a row by its first op.
    void find_op(std::uint32_t& entry) const {
        entry = programs_.first(entry);
        programs_.expect_instruction(entry);
    }

    // Replace an op by its segment if it is a RUN op, otherwise by segment 0.
    void find_segment(std::uint32_t& entry) const {
        const Instruction first = programs_.instruction(entry);
        entry = first.op == RUN ? first.arg : 0;
        accesses_.prefetch(entry);
    }

    const Programs& programs_;
    const AccessTable& accesses_;
    std::array<std::uint32_t, CHILDREN> chain_{};  // the children: first as rows, then ops, then segments
    std::size_t at_ = 0;
};

}  // namespace numasim
