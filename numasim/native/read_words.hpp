// The shared words of a plan, and the ops that use them, with every index in bounds (numasim/strategy/locks.py).
#pragma once

#include "plan.hpp"
#include "reader.hpp"

namespace numasim {

// Ops on shared words are about words of their role, and every row holds locks as in brackets; else BadPlan.
void check_uses(const Graph& graph, U8s role);

// The words, whose roles have been read; `plan` has its machine, costs and strategy.
Words read_words(Reader& reader, U8s role, const Plan& plan);

}  // namespace numasim
