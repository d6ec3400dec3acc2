// The bodies of a program's tasks. An engine that is compiled with NUMASIM_BODIES executes programs that have bodies:
// virtual time (lib/runtime/source/virtual). Where it comes to an op of a task, the body of that task has come
// there too. Any other engine has no code for bodies.
#pragma once

#include <cstdint>

#include "memory/pages.h"
#include "state/programs.hpp"

namespace numasim {

#ifdef NUMASIM_BODIES
constexpr bool HAS_BODIES = true;
#else
constexpr bool HAS_BODIES = false;
#endif

constexpr std::int64_t AS_PLANNED = -1;  // in place of a time that was measured

// What a segment takes, what it takes if all its bytes are local, and the overhead in front of it.
struct BodyTime {
    std::int64_t total_ps, local_ps, owed_ps;
};

class Bodies {
public:
    virtual ~Bodies() = default;

    // The worker has come to instruction `at`, which is `next`, of the task of `row`. A body that has not come so far
    // runs on; throws where the body does something else.
    virtual void come_to(std::uint32_t worker, std::uint32_t row, std::uint32_t at, Instruction next) = 0;

    // How long the segment computes that was come to last, or AS_PLANNED.
    virtual std::int64_t compute_ps() const = 0;

    // What a segment takes that starts now and computes for so long, where workers do not influence each other.
    virtual BodyTime start(ns_pages& pages, std::uint32_t segment, ns_toucher toucher, std::int64_t compute_ps) = 0;
};

}  // namespace numasim
