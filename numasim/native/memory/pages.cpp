#include "memory/pages.hpp"

#include <algorithm>
#include <iterator>

#include "checked.hpp"

namespace numasim {

namespace {
constexpr std::int16_t UNPLACED = -1;
}  // namespace

// Call `visit` with the units that an access touches, row by row, and with how many bytes of the row are in each.
template <typename Visit>
void PageMap::for_units(std::int64_t access, Visit&& visit) const {
    const auto a = static_cast<std::size_t>(access);
    const std::int64_t size = memory_.unit_pages[region(access)] * memory_.page_bytes;
    const std::int64_t rows = accesses_.rows[a], row_bytes = accesses_.row_bytes[a], stride = accesses_.stride[a];
    std::int64_t begin = accesses_.offset[a], first = 0, border = 0;
    for (std::int64_t r = 0; r < rows; ++r, begin += stride) {
        if (begin >= border) {
            first = begin / size;
            border = (first + 1) * size;
        }
        auto unit = static_cast<std::size_t>(first);
        std::int64_t at = begin;
        const std::int64_t end = begin + row_bytes;
        for (std::int64_t next = border; next < end; at = next, next += size, ++unit) visit(unit, next - at);
        if (at < end) visit(unit, end - at);
    }
}

PageMap::PageMap(const Plan& plan)
    : accesses_(plan.accesses),
      memory_(plan.memory),
      nodes_(plan.nodes),
      homes_(plan.memory.region_pages.size()),
      free_(plan.memory.free_pages.begin(), plan.memory.free_pages.end()),
      migrated_(plan.nodes, 0) {
    for (std::size_t region = 0; region < homes_.size(); ++region) {
        if (memory_.dynamic[region] != 0 && !memory_.home[region].empty()) settle(region);
    }
    if (!memory_.stages.empty() && memory_.stages[0].marks) mark();
}

// Give a region the homes that it has before the run.
void PageMap::settle(std::size_t region) {
    const auto units = static_cast<std::size_t>(ceil_div(memory_.region_pages[region], memory_.unit_pages[region]));
    const I32s home = memory_.home[region];
    std::vector<std::int16_t>& node = homes_[region].node;
    if (home.size() < 2) {
        node.assign(units, home.empty() ? UNPLACED : static_cast<std::int16_t>(home[0]));
    } else {
        std::transform(home.begin(), home.end(), std::back_inserter(node),
                       [](std::int32_t at) { return static_cast<std::int16_t>(at); });
    }
}

void PageMap::mark() {
    for (Homes& homes : homes_) {
        homes.marked.resize(homes.node.size());
        std::transform(homes.node.begin(), homes.node.end(), homes.marked.begin(),
                       [](std::int16_t node) { return node != UNPLACED; });
    }
}

void PageMap::start_phase(std::size_t phase) {
    while (stage_ + 1 < memory_.stages.size() && memory_.stages[stage_ + 1].phase <= static_cast<std::int64_t>(phase)) {
        if (memory_.stages[++stage_].marks) mark();
    }
}

Touch PageMap::touch(std::int64_t access, std::int32_t node, std::int64_t* bytes) {
    Touch touch{0, 0};
    std::fill(migrated_.begin(), migrated_.end(), 0);
    if (is_settled(access)) {
        copy_settled(access, bytes);
        return touch;
    }
    const std::size_t at = region(access);
    if (homes_[at].node.empty()) settle(at);
    std::fill(bytes, bytes + nodes_, 0);
    const bool places = accesses_.writes[static_cast<std::size_t>(access)] != 0 || memory_.stages[stage_].reads_place;
    const std::int16_t* homes = homes_[at].node.data();
    const std::uint8_t* marked = homes_[at].marked.empty() ? nullptr : homes_[at].marked.data();
    for_units(access, [&](std::size_t unit, std::int64_t count) {
        if (marked != nullptr && marked[unit] != 0) migrate(at, unit, node, touch);
        if (places && homes[unit] == UNPLACED) place(at, unit, node, touch);
        const std::int16_t home = homes[unit];
        bytes[home == UNPLACED ? node : home] += count;
    });
    return touch;
}

void PageMap::bytes_at(std::int64_t access, std::int64_t* bytes) const {
    if (is_settled(access)) return copy_settled(access, bytes);
    std::fill(bytes, bytes + nodes_, 0);
    const std::vector<std::int16_t>& homes = homes_[region(access)].node;
    if (homes.empty()) return;
    for_units(access, [&](std::size_t unit, std::int64_t count) {
        if (homes[unit] != UNPLACED) bytes[homes[unit]] += count;
    });
}

std::vector<std::int64_t> PageMap::node_pages() const {
    std::vector<std::int64_t> pages(nodes_, 0);
    for (std::size_t region = 0; region < homes_.size(); ++region) {
        const std::vector<std::int16_t>& node = homes_[region].node;
        for (std::size_t unit = 0; unit < node.size(); ++unit) {
            if (node[unit] == UNPLACED) continue;
            pages[static_cast<std::size_t>(node[unit])] += pages_of(region, unit);
        }
    }
    return pages;
}

std::int64_t PageMap::pages_of(std::size_t region, std::size_t unit) const {
    const std::int64_t pages = memory_.unit_pages[region];
    return std::min(pages, memory_.region_pages[region] - static_cast<std::int64_t>(unit) * pages);
}

void PageMap::place(std::size_t region, std::size_t unit, std::int32_t node, Touch& touch) {
    const I32s wish = memory_.stages[stage_].wish[region];
    const std::size_t at = wish.size() == 1 ? 0 : unit;
    const std::int64_t pages = pages_of(region, unit);
    const std::int32_t home = room(wish.empty() ? node : wish[at], pages);
    homes_[region].node[unit] = static_cast<std::int16_t>(home);
    touch.placed += pages;
}

// Pages that would migrate to a full node stay; either way their mark is gone.
void PageMap::migrate(std::size_t region, std::size_t unit, std::int32_t node, Touch& touch) {
    const auto to = static_cast<std::size_t>(node);
    homes_[region].marked[unit] = 0;
    std::int16_t& home = homes_[region].node[unit];
    const auto from = static_cast<std::size_t>(home);
    const std::int64_t pages = pages_of(region, unit);
    if (from == to || (!free_.empty() && free_[to] < pages)) return;
    if (!free_.empty()) {
        free_[to] -= pages;
        free_[from] += pages;
    }
    home = static_cast<std::int16_t>(node);
    migrated_[from] += pages;
    touch.migrated += pages;
}

// The node that gets `pages` pages that are wanted on one.
std::int32_t PageMap::room(std::int32_t wanted, std::int64_t pages) {
    if (free_.empty()) return wanted;
    const I64s order = memory_.by_distance.subspan(static_cast<std::size_t>(wanted) * nodes_, nodes_);
    const auto found = std::find_if(order.begin(), order.end(),
                                    [&](std::int64_t node) { return free_[static_cast<std::size_t>(node)] >= pages; });
    const std::int32_t node = found == order.end() ? wanted : static_cast<std::int32_t>(*found);
    free_[static_cast<std::size_t>(node)] -= pages;
    return node;
}

void PageMap::copy_settled(std::int64_t access, std::int64_t* bytes) const {
    std::copy_n(accesses_.settled.data() + static_cast<std::size_t>(access) * nodes_, nodes_, bytes);
}

}  // namespace numasim
