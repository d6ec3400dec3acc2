#include "memory/pages.hpp"

#include <algorithm>
#include <new>

namespace numasim {

namespace {

ns_region_nodes nodes_of(const RegionNodes& nodes) { return {nodes.ptr.data(), nodes.node.data()}; }

std::vector<ns_page_stage> stages_of(const Memory& memory) {
    std::vector<ns_page_stage> stages;
    for (const Stage& stage : memory.stages) {
        stages.push_back({stage.phase, nodes_of(stage.wish), stage.reads_place, stage.marks});
    }
    return stages;
}

}  // namespace

PageMap::PageMap(const Plan& plan)
    : accesses_(plan.accesses),
      memory_(plan.memory),
      nodes_(plan.nodes),
      stages_(stages_of(plan.memory)),
      migrated_(plan.nodes, 0) {
    const ns_page_plan described{
        .nodes = plan.nodes,
        .page_bytes = memory_.page_bytes,
        .regions = memory_.region_pages.size(),
        .accesses = accesses_.region.size(),
        .region_pages = memory_.region_pages.data(),
        .unit_pages = memory_.unit_pages.data(),
        .dynamic = memory_.dynamic.data(),
        .home = nodes_of(memory_.home),
        .stages = stages_.data(),
        .stage_count = stages_.size(),
        .free_pages = memory_.free_pages.empty() ? nullptr : memory_.free_pages.data(),
        .by_distance = memory_.by_distance.data(),
        .access_region = accesses_.region.data(),
        .offset = accesses_.offset.data(),
        .row_bytes = accesses_.row_bytes.data(),
        .rows = accesses_.rows.data(),
        .stride = accesses_.stride.data(),
        .writes = accesses_.writes.data(),
    };
    map_.reset(ns_page_map_create(&described));
    if (!map_) throw std::bad_alloc();
}

Touch PageMap::touch(std::int64_t access, std::int32_t node, std::int64_t* bytes) {
    if (!is_settled(access)) {
        return ns_page_map_touch(map_.get(), static_cast<std::uint64_t>(access), node, bytes, migrated_.data());
    }
    copy_settled(access, bytes);
    return {0, 0};
}

void PageMap::bytes_at(std::int64_t access, std::int64_t* bytes) const {
    if (is_settled(access)) return copy_settled(access, bytes);
    ns_page_map_bytes(map_.get(), static_cast<std::uint64_t>(access), bytes);
}

std::vector<std::int64_t> PageMap::node_pages() const {
    std::vector<std::int64_t> pages(nodes_, 0);
    ns_page_map_count(map_.get(), pages.data());
    return pages;
}

void PageMap::copy_settled(std::int64_t access, std::int64_t* bytes) const {
    std::copy_n(accesses_.settled.data() + static_cast<std::size_t>(access) * nodes_, nodes_, bytes);
}

}  // namespace numasim
