#include "read_memory.hpp"

#include <string>

#include "bounds.hpp"
#include "checked.hpp"

namespace numasim {

namespace {

void check_access(const Accesses& accesses, const Memory& memory, std::size_t a) {
    require(accesses.region[a] < memory.region_pages.size(), "access_region has a value out of bounds");
    const std::int64_t bytes = memory.region_pages[accesses.region[a]] * memory.page_bytes;
    const std::int64_t last = accesses.rows[a] == 0 ? 0
                                                    : accesses.offset[a] + (accesses.rows[a] - 1) * accesses.stride[a] +
                                                          accesses.row_bytes[a];
    require(last <= bytes, "an access reaches beyond its region");
    std::int64_t moved = 0;
    const bool countable = !__builtin_mul_overflow(accesses.rows[a], accesses.row_bytes[a], &moved) &&
                           !__builtin_mul_overflow(moved, accesses.factor[a], &moved) && moved <= MOST_BYTES;
    require(countable, "an access moves more bytes than can be counted");
}

// Of each region none, one, or one for each of its units.
RegionNodes read_nodes(Reader& reader, const char* pointer, const char* name, const Memory& memory,
                       std::uint32_t nodes) {
    RegionNodes found{};
    found.ptr = reader.array<std::int64_t>(pointer, size_of(memory.region_pages) + 1);
    found.node = reader.array<std::int32_t>(name, ANY);
    require_pointer(found.ptr, found.node.size(), pointer);
    require_within(found.node, 0, nodes - 1, name);
    for (std::size_t r = 0; r < memory.region_pages.size(); ++r) {
        const std::int64_t units = ceil_div(memory.region_pages[r], memory.unit_pages[r]);
        require(found[r].size() < 2 || size_of(found[r]) == units,
                [&] { return std::string(name) + " does not have an entry for each unit of a region"; });
    }
    return found;
}

std::vector<Stage> read_stages(Reader& reader, const Memory& memory, std::uint32_t nodes) {
    std::vector<Stage> stages;
    for (Reader& given : [&] { return reader.list("stages"); }()) {
        Stage stage{};
        stage.phase = given.integer("phase", stages.empty() ? 0 : stages.back().phase, MOST_ITEMS);
        stage.wish = read_nodes(given, "wish_ptr", "wish", memory, nodes);
        stage.reads_place = given.flag("reads_place");
        stage.marks = given.flag("marks");
        stages.push_back(stage);
        reader.keep(std::move(given));
    }
    require(!stages.empty(), "stages has no entry");
    return stages;
}

void check_open(const OpenAccesses& open, const Accesses& accesses, const Memory& memory) {
    for (const std::int64_t access : open.access) {
        require(0 <= access && access < size_of(accesses.region), "open_access has a value out of bounds");
        const std::size_t region = accesses.region[static_cast<std::size_t>(access)];
        require(memory.dynamic[region] != 0, "open_access has an access whose homes are known");
    }
}

}  // namespace

Memory read_memory(Reader& reader, std::uint32_t nodes) {
    Memory memory{};
    memory.page_bytes = reader.integer("page_bytes", 1, std::int64_t{1} << 32);
    memory.region_pages = reader.array<std::int64_t>("region_pages", ANY);
    memory.unit_pages = reader.array<std::int64_t>("unit_pages", size_of(memory.region_pages));
    memory.dynamic = reader.array<std::uint8_t>("region_dynamic", size_of(memory.region_pages));
    require_within(memory.region_pages, 0, MOST_BYTES / memory.page_bytes, "region_pages");
    require_within(memory.unit_pages, 1, 1 << 20, "unit_pages");
    memory.home = read_nodes(reader, "home_ptr", "home", memory, nodes);
    memory.stages = read_stages(reader, memory, nodes);
    memory.free_pages = reader.array<std::int64_t>("free_pages", ANY);
    require(memory.free_pages.empty() || size_of(memory.free_pages) == nodes,
            "free_pages does not have an entry for each node");
    require_within(memory.free_pages, -LONGEST_PS, LONGEST_PS, "free_pages");
    memory.by_distance = reader.array<std::int64_t>("nodes_by_distance", size_of(memory.free_pages) * nodes);
    require_within(memory.by_distance, 0, nodes - 1, "nodes_by_distance");
    return memory;
}

Accesses read_accesses(Reader& reader, const Memory& memory, std::uint32_t nodes) {
    Accesses accesses{};
    accesses.region = reader.array<std::uint32_t>("access_region", ANY);
    const auto column = [&](const char* name, std::int64_t low, std::int64_t high) {
        const I64s values = reader.array<std::int64_t>(name, size_of(accesses.region));
        require_within(values, low, high, name);
        return values;
    };
    accesses.offset = column("access_offset", 0, MOST_BYTES);
    accesses.row_bytes = column("access_row_bytes", 0, MOST_BYTES);
    accesses.rows = column("access_rows", 0, std::int64_t{1} << 31);
    accesses.stride = column("access_stride", 0, std::int64_t{1} << 31);
    accesses.factor = column("access_factor", 0, MOST_FACTOR);
    accesses.mlp = column("access_mlp", 1, MILLION);
    accesses.writes = reader.array<std::uint8_t>("access_writes", size_of(accesses.region));
    accesses.settled = reader.array<std::int64_t>("settled_bytes", ANY);
    require_within(accesses.settled, 0, MOST_BYTES, "settled_bytes");
    require(accesses.settled.empty() || size_of(accesses.settled) == size_of(accesses.region) * nodes,
            "settled_bytes does not have a row for each access");
    for (std::size_t a = 0; a < accesses.region.size(); ++a) check_access(accesses, memory, a);
    return accesses;
}

OpenAccesses read_open(Reader& reader, const Plan& plan) {
    OpenAccesses open{};
    const std::int64_t segments = plan.times.segments, nodes = plan.nodes;
    open.ptr = reader.array<std::int64_t>("open_ptr", ANY);
    if (open.ptr.empty()) return open;
    require(size_of(open.ptr) == segments + 1, "open_ptr does not have an entry for each segment");
    open.access = reader.array<std::int64_t>("open_access", ANY);
    require_pointer(open.ptr, open.access.size(), "open_ptr");
    open.compute = reader.array<std::int64_t>("compute_ps", segments);
    open.settled = reader.array<std::int64_t>("settled_ps", segments * nodes);
    require_within(open.compute, 0, LONGEST_PS, "compute_ps");
    require_within(open.settled, 0, LONGEST_PS, "settled_ps");
    open.latency_ps = reader.array<std::int64_t>("latency_ps", nodes * nodes);
    require_within(open.latency_ps, 0, MOST_COST_PS, "latency_ps");
    check_open(open, plan.accesses, plan.memory);
    return open;
}

}  // namespace numasim
