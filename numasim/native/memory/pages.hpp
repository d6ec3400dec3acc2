// The page map of a run: which node is the home of which page (model 2.2, 2.10; numasim/engine/pages.py).
#pragma once

#include <cstdint>
#include <vector>

#include "plan.hpp"

namespace numasim {

struct Touch {
    std::int64_t placed, migrated;  // pages
};

class PageMap {
public:
    explicit PageMap(const Plan& plan);

    // Go over to the policy that is in force from `phase` on.
    void start_phase(std::size_t phase);

    // Walk access number `access` from `node`: what it finds unplaced is placed, what it finds marked moves to `node`.
    // `bytes` [nodes] is its footprint on each home afterwards.
    Touch touch(std::int64_t access, std::int32_t node, std::int64_t* bytes);

    // [nodes] the pages that the last touch has moved from each.
    const std::vector<std::int64_t>& migrated() const { return migrated_; }

    // `bytes` [nodes] is the footprint of an access on each home as it is now; unplaced pages are left out.
    void bytes_at(std::int64_t access, std::int64_t* bytes) const;

    // [nodes] how many pages of dynamic regions live on each node.
    std::vector<std::int64_t> node_pages() const;

private:
    struct Homes {
        std::vector<std::int16_t> node;    // [units], empty until the region is touched
        std::vector<std::uint8_t> marked;  // [units], empty until pages are marked
    };

    bool is_settled(std::int64_t access) const { return memory_.dynamic[region(access)] == 0; }
    std::size_t region(std::int64_t access) const { return accesses_.region[static_cast<std::size_t>(access)]; }
    std::int64_t pages_of(std::size_t region, std::size_t unit) const;
    template <typename Visit>
    void for_units(std::int64_t access, Visit&& visit) const;
    void settle(std::size_t region);
    void mark();
    [[gnu::noinline]] void place(std::size_t region, std::size_t unit, std::int32_t node, Touch& touch);
    [[gnu::noinline]] void migrate(std::size_t region, std::size_t unit, std::int32_t node, Touch& touch);
    std::int32_t room(std::int32_t wanted, std::int64_t pages);
    void copy_settled(std::int64_t access, std::int64_t* bytes) const;

    const Accesses& accesses_;
    const Memory& memory_;
    const std::size_t nodes_;
    std::vector<Homes> homes_;  // [regions]
    std::size_t stage_ = 0;     // in force
    std::vector<std::int64_t> free_, migrated_;
};

}  // namespace numasim
