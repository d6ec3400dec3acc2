// Regions, their homes and the accesses to them, with every index in bounds (numasim/engine/native.py).
#pragma once

#include "plan.hpp"
#include "reader.hpp"

namespace numasim {

// All of them throw BadPlan.
Memory read_memory(Reader& reader, std::uint32_t nodes);
Accesses read_accesses(Reader& reader, const Memory& memory, std::uint32_t nodes);

// The accesses whose homes are found out during the run; `plan` has its times, memory and accesses.
OpenAccesses read_open(Reader& reader, const Plan& plan);

}  // namespace numasim
