#include "memory/pages.hpp"

#include <algorithm>
#include <new>

namespace numasim {

PageMap::PageMap(const Plan& plan, const Clock& clock)
    : accesses_(plan.accesses),
      memory_(plan.memory),
      clock_(clock),
      nodes_(plan.nodes),
      migrated_(plan.nodes, 0),
      map_(ns_page_map_create(&plan)) {
    if (!map_) throw std::bad_alloc();
}

Touch PageMap::touch(std::int64_t access, std::int32_t node, std::int64_t* bytes) {
    if (!is_settled(access)) {
        const ns_toucher toucher = {node, clock_.now_ps()};
        return ns_page_map_touch(map_.get(), static_cast<std::uint64_t>(access), toucher, bytes, migrated_.data());
    }
    copy_settled(access, bytes);
    return {};
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
