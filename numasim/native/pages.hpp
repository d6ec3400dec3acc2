// The page map of a run: which node is the home of which page (model 2.2, 2.10; numasim/engine/pages.py).
#pragma once

#include <cstdint>
#include <vector>

#include "plan.hpp"

namespace numasim {

class PageMap {
public:
    explicit PageMap(const Plan& plan);

    // Walk access number `access` from `node`: what it finds unplaced is placed there. `bytes` [nodes] is its footprint
    // on each home afterwards. The number of pages that it placed.
    std::int64_t touch(std::int64_t access, std::int32_t node, std::int64_t* bytes);

    // `bytes` [nodes] is the footprint of an access on each home as it is now; unplaced pages are left out.
    void bytes_at(std::int64_t access, std::int64_t* bytes) const;

private:
    struct Row {
        std::int64_t begin, end;
    };
    using Homes = std::vector<std::int16_t>;

    bool is_settled(std::int64_t access) const { return memory_.dynamic[region(access)] == 0; }
    std::size_t region(std::int64_t access) const { return accesses_.region[static_cast<std::size_t>(access)]; }
    Row row(std::int64_t access, std::int64_t number) const;
    std::int64_t place(std::size_t region, const Row& row, std::int32_t node);
    void count(const Homes& homes, const Row& row, std::int64_t* bytes) const;
    void copy_settled(std::int64_t access, std::int64_t* bytes) const;

    const Accesses& accesses_;
    const Memory& memory_;
    const std::size_t nodes_;
    const std::int64_t granule_bytes_;
    std::vector<Homes> homes_;  // [regions][granules], empty until the region is touched
};

}  // namespace numasim
