// What depends on a plan alone: computed once for all its runs.
#pragma once

#include "memory/access_table.hpp"
#include "plan.hpp"
#include "state/programs.hpp"

namespace numasim {

struct Prepared {
    explicit Prepared(const Plan& given) : plan(given), programs(given), accesses(given) {}

    const Plan& plan;
    const Programs programs;
    const AccessTable accesses;
};

}  // namespace numasim
