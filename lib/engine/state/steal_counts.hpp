// How often steals were tried and succeeded, by pair of nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/probes.h"

namespace numasim {

class StealCounts : public ns_steal_counts {
public:
    explicit StealCounts(std::size_t nodes) : ns_steal_counts{}, counts_(2 * nodes * nodes, 0) {
        attempts = counts_.data();
        successes = attempts + nodes * nodes;
    }

private:
    std::vector<std::int64_t> counts_;
};

}  // namespace numasim
