#include "pages.hpp"

#include <algorithm>

#include "checked.hpp"

namespace numasim {

namespace {
constexpr std::int16_t UNPLACED = -1;
constexpr std::int64_t LINE_BYTES = 64;

std::int64_t ceil_div(std::int64_t part, std::int64_t whole) { return part / whole + (part % whole != 0); }
}  // namespace

FirstTouch::FirstTouch(const Plan& plan)
    : open_(plan.open),
      granule_bytes_(plan.open.granule_pages * plan.open.page_bytes),
      homes_(plan.open.region_pages.size()),
      moved_(plan.nodes, 0) {}

Touch FirstTouch::touch(std::int64_t access, std::int32_t node, std::int64_t* bytes) {
    const auto a = static_cast<std::size_t>(access);
    const std::size_t region = open_.region[a];
    std::vector<std::int16_t>& homes = homes_[region];
    const std::int64_t pages = open_.region_pages[region];
    if (homes.empty()) homes.assign(static_cast<std::size_t>(ceil_div(pages, open_.granule_pages)), UNPLACED);
    std::fill(moved_.begin(), moved_.end(), 0);
    std::int64_t placed = 0;
    for (std::int64_t r = 0; r < open_.rows[a]; ++r) {
        const std::int64_t begin = open_.offset[a] + r * open_.stride[a];
        const Row row{begin, begin + open_.row_bytes[a]};
        placed += place(homes, pages, row, node);
        count(homes, row);
    }
    for (std::size_t home = 0; home < moved_.size(); ++home) bytes[home] += moved_[home] *= open_.factor[a];
    return {wait_ps(access, node), placed};
}

std::int64_t FirstTouch::place(std::vector<std::int16_t>& homes, std::int64_t pages, const Row& row,
                               std::int32_t node) const {
    std::int64_t placed = 0;
    for (std::int64_t g = row.begin / granule_bytes_; g * granule_bytes_ < row.end; ++g) {
        std::int16_t& home = homes[static_cast<std::size_t>(g)];
        if (home != UNPLACED) continue;
        home = static_cast<std::int16_t>(node);
        placed += std::min(open_.granule_pages, pages - g * open_.granule_pages);
    }
    return placed;
}

void FirstTouch::count(const std::vector<std::int16_t>& homes, const Row& row) {
    std::int64_t at = row.begin;
    while (at < row.end) {
        const std::int64_t granule = at / granule_bytes_;
        const std::int64_t border = std::min(row.end, (granule + 1) * granule_bytes_);
        moved_[static_cast<std::size_t>(homes[static_cast<std::size_t>(granule)])] += border - at;
        at = border;
    }
}

std::int64_t FirstTouch::wait_ps(std::int64_t access, std::int32_t node) const {
    std::int64_t sum = 0;
    for (std::size_t home = 0; home < moved_.size(); ++home) {
        const std::int64_t lines = ceil_div(moved_[home], LINE_BYTES);
        const std::int64_t latency = open_.latency_ps[static_cast<std::size_t>(node) * moved_.size() + home];
        const std::int64_t misses_ps = product_ps(product_ps(lines, latency), 1000);
        sum = sum_ps(sum, ceil_div(misses_ps, open_.mlp[static_cast<std::size_t>(access)]));
    }
    return sum;
}

}  // namespace numasim
