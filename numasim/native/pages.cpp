#include "pages.hpp"

#include <algorithm>
#include <iterator>

#include "checked.hpp"

namespace numasim {

namespace {
constexpr std::int16_t UNPLACED = -1;
constexpr std::int32_t NOWHERE = -1;
}  // namespace

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
    const auto a = static_cast<std::size_t>(access);
    if (homes_[at].node.empty()) settle(at);
    std::fill(bytes, bytes + nodes_, 0);
    const bool places = accesses_.writes[a] != 0 || memory_.stages[stage_].reads_place;
    for (std::int64_t r = 0; r < accesses_.rows[a]; ++r) {
        touch_row(at, row(access, r), node, places, touch);
        count(at, row(access, r), node, bytes);
    }
    return touch;
}

void PageMap::bytes_at(std::int64_t access, std::int64_t* bytes) const {
    if (is_settled(access)) return copy_settled(access, bytes);
    const std::size_t at = region(access);
    std::fill(bytes, bytes + nodes_, 0);
    if (homes_[at].node.empty()) return;
    for (std::int64_t r = 0; r < accesses_.rows[static_cast<std::size_t>(access)]; ++r) {
        count(at, row(access, r), NOWHERE, bytes);
    }
}

std::vector<std::int64_t> PageMap::node_pages() const {
    std::vector<std::int64_t> pages(nodes_, 0);
    for (std::size_t region = 0; region < homes_.size(); ++region) {
        const std::vector<std::int16_t>& node = homes_[region].node;
        for (std::size_t unit = 0; unit < node.size(); ++unit) {
            if (node[unit] == UNPLACED) continue;
            pages[static_cast<std::size_t>(node[unit])] += pages_of(region, static_cast<std::int64_t>(unit));
        }
    }
    return pages;
}

std::int64_t PageMap::pages_of(std::size_t region, std::int64_t unit) const {
    const std::int64_t pages = memory_.unit_pages[region];
    return std::min(pages, memory_.region_pages[region] - unit * pages);
}

PageMap::Row PageMap::row(std::int64_t access, std::int64_t number) const {
    const auto a = static_cast<std::size_t>(access);
    const std::int64_t begin = accesses_.offset[a] + number * accesses_.stride[a];
    return {begin, begin + accesses_.row_bytes[a]};
}

void PageMap::touch_row(std::size_t region, const Row& row, std::int32_t node, bool places, Touch& touch) {
    const Homes& homes = homes_[region];
    const std::int64_t size = unit_bytes(region);
    for (std::int64_t unit = row.begin / size; unit * size < row.end; ++unit) {
        const auto u = static_cast<std::size_t>(unit);
        if (!homes.marked.empty() && homes.marked[u] != 0) {
            migrate(region, unit, node, touch);
        } else if (places && homes.node[u] == UNPLACED) {
            place(region, unit, node, touch);
        }
    }
}

void PageMap::place(std::size_t region, std::int64_t unit, std::int32_t node, Touch& touch) {
    const I32s wish = memory_.stages[stage_].wish[region];
    const std::size_t at = wish.size() == 1 ? 0 : static_cast<std::size_t>(unit);
    const std::int64_t pages = pages_of(region, unit);
    const std::int32_t home = room(wish.empty() ? node : wish[at], pages);
    homes_[region].node[static_cast<std::size_t>(unit)] = static_cast<std::int16_t>(home);
    touch.placed += pages;
}

// Pages that would migrate to a full node stay; either way their mark is gone.
void PageMap::migrate(std::size_t region, std::int64_t unit, std::int32_t node, Touch& touch) {
    const auto u = static_cast<std::size_t>(unit), to = static_cast<std::size_t>(node);
    homes_[region].marked[u] = 0;
    std::int16_t& home = homes_[region].node[u];
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

// Add the bytes of a row to `bytes`; unplaced ones count as those of the node `at_home`, or not at all.
void PageMap::count(std::size_t region, const Row& row, std::int32_t at_home, std::int64_t* bytes) const {
    const std::int64_t size = unit_bytes(region);
    std::int64_t at = row.begin;
    while (at < row.end) {
        const std::int64_t unit = at / size;
        const std::int64_t border = std::min(row.end, (unit + 1) * size);
        const std::int16_t home = homes_[region].node[static_cast<std::size_t>(unit)];
        const std::int32_t node = home == UNPLACED ? at_home : home;
        if (node != NOWHERE) bytes[node] += border - at;
        at = border;
    }
}

void PageMap::copy_settled(std::int64_t access, std::int64_t* bytes) const {
    std::copy_n(accesses_.settled.data() + static_cast<std::size_t>(access) * nodes_, nodes_, bytes);
}

}  // namespace numasim
