// The bodies of a program's tasks, which are C code. Only an engine that is compiled with NUMASIM_BODIES can execute
// bodies: the runtime does so in virtual time (lib/runtime/source/virtual). When the engine comes to an op of a task,
// the engine lets the body of the task run up to the same op.
#pragma once

#include <cstdint>

#include "plan.hpp"
#include "state/programs.hpp"

namespace numasim {

#ifdef NUMASIM_BODIES
constexpr bool HAS_BODIES = true;
#else
constexpr bool HAS_BODIES = false;
#endif

constexpr std::int64_t AS_PLANNED = -1;  // in place of a measured time: the time that the plan gives

// The time of a segment, the time that it would take if all its bytes were local, and the overhead before the segment.
struct BodyTime {
    std::int64_t total_ps, local_ps, owed_ps;
};

class Bodies {
public:
    virtual ~Bodies() = default;

    // The worker has come to instruction number `at` of the task of `row`: the instruction `next`. Lets the body run up
    // to this instruction. Throws if the body does something else.
    virtual void come_to(std::uint32_t worker, std::uint32_t row, std::uint32_t at, Instruction next) = 0;

    // How long the present segment computes, or AS_PLANNED.
    virtual std::int64_t compute_ps() const = 0;

    // The time of a segment that starts now and computes for `compute_ps`. The run is not coupled.
    virtual BodyTime start(ns_pages& pages, std::uint32_t segment, ns_toucher toucher, std::int64_t compute_ps) = 0;
};

}  // namespace numasim
