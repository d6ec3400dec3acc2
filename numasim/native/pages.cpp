#include "pages.hpp"

#include <algorithm>

#include "checked.hpp"

namespace numasim {

namespace {
constexpr std::int16_t UNPLACED = -1;
}  // namespace

PageMap::PageMap(const Plan& plan)
    : accesses_(plan.accesses),
      memory_(plan.memory),
      nodes_(plan.nodes),
      granule_bytes_(plan.memory.granule_pages * plan.memory.page_bytes),
      homes_(plan.memory.region_pages.size()) {}

std::int64_t PageMap::touch(std::int64_t access, std::int32_t node, std::int64_t* bytes) {
    if (is_settled(access)) {
        copy_settled(access, bytes);
        return 0;
    }
    const std::size_t at = region(access);
    if (homes_[at].empty()) {
        const std::int64_t granules = ceil_div(memory_.region_pages[at], memory_.granule_pages);
        homes_[at].assign(static_cast<std::size_t>(granules), UNPLACED);
    }
    std::fill(bytes, bytes + nodes_, 0);
    std::int64_t placed = 0;
    for (std::int64_t r = 0; r < accesses_.rows[static_cast<std::size_t>(access)]; ++r) {
        placed += place(at, row(access, r), node);
        count(homes_[at], row(access, r), bytes);
    }
    return placed;
}

void PageMap::bytes_at(std::int64_t access, std::int64_t* bytes) const {
    if (is_settled(access)) return copy_settled(access, bytes);
    const Homes& homes = homes_[region(access)];
    std::fill(bytes, bytes + nodes_, 0);
    if (homes.empty()) return;
    for (std::int64_t r = 0; r < accesses_.rows[static_cast<std::size_t>(access)]; ++r) {
        count(homes, row(access, r), bytes);
    }
}

PageMap::Row PageMap::row(std::int64_t access, std::int64_t number) const {
    const auto a = static_cast<std::size_t>(access);
    const std::int64_t begin = accesses_.offset[a] + number * accesses_.stride[a];
    return {begin, begin + accesses_.row_bytes[a]};
}

std::int64_t PageMap::place(std::size_t region, const Row& row, std::int32_t node) {
    std::int64_t placed = 0;
    for (std::int64_t g = row.begin / granule_bytes_; g * granule_bytes_ < row.end; ++g) {
        std::int16_t& home = homes_[region][static_cast<std::size_t>(g)];
        if (home != UNPLACED) continue;
        home = static_cast<std::int16_t>(node);
        placed += std::min(memory_.granule_pages, memory_.region_pages[region] - g * memory_.granule_pages);
    }
    return placed;
}

void PageMap::count(const Homes& homes, const Row& row, std::int64_t* bytes) const {
    std::int64_t at = row.begin;
    while (at < row.end) {
        const std::int64_t granule = at / granule_bytes_;
        const std::int64_t border = std::min(row.end, (granule + 1) * granule_bytes_);
        const std::int16_t home = homes[static_cast<std::size_t>(granule)];
        if (home != UNPLACED) bytes[home] += border - at;
        at = border;
    }
}

void PageMap::copy_settled(std::int64_t access, std::int64_t* bytes) const {
    std::copy_n(memory_.settled.data() + static_cast<std::size_t>(access) * nodes_, nodes_, bytes);
}

}  // namespace numasim
