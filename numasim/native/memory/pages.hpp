// The page map of a run: core/memory/page_map.h, with a class around it that also knows of settled regions.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "memory/page_map.h"
#include "plan.hpp"
#include "state/clock.hpp"

namespace numasim {

using Touch = ns_page_touch;

class PageMap {
public:
    PageMap(const Plan& plan, const Clock& clock);

    // Go over to the policy that is in force from `phase` on, which starts now.
    void start_phase(std::size_t phase) {
        ns_page_map_start_phase(map_.get(), static_cast<std::int64_t>(phase), clock_.now_ps());
    }

    // Walk access number `access`, which a worker on `node` makes now: what it finds unplaced is placed, what is to
    // migrate goes to `node`. `bytes` [nodes] is its footprint on each home afterwards.
    Touch touch(std::int64_t access, std::int32_t node, std::int64_t* bytes);

    // [nodes] the pages that the last touch of a dynamic region has moved from each.
    const std::vector<std::int64_t>& migrated() const { return migrated_; }

    // `bytes` [nodes] is the footprint of an access on each home as it is now; unplaced pages are left out.
    void bytes_at(std::int64_t access, std::int64_t* bytes) const;

    // [nodes] how many pages of dynamic regions live on each node.
    std::vector<std::int64_t> node_pages() const;

private:
    struct Destroy {
        void operator()(ns_page_map* map) const { ns_page_map_destroy(map); }
    };

    bool is_settled(std::int64_t access) const {
        return memory_.dynamic[accesses_.region[static_cast<std::size_t>(access)]] == 0;
    }
    void copy_settled(std::int64_t access, std::int64_t* bytes) const;

    const Accesses& accesses_;
    const Memory& memory_;
    const Clock& clock_;
    const std::size_t nodes_;
    std::vector<std::int64_t> migrated_;
    std::unique_ptr<ns_page_map, Destroy> map_;
};

}  // namespace numasim
