#include "read_plan.hpp"

#include <algorithm>
#include <string>

#include "bounds.hpp"
#include "checked.hpp"
#include "policy/masks.h"
#include "policy/similarity.h"
#include "read_effects.hpp"
#include "read_objects.hpp"
#include "read_words.hpp"

namespace numasim {

namespace {

// ---- the graph ----------------------------------------------------------------------------------------------------

void check_ops(const Graph& graph, std::int64_t segments, std::int64_t words) {
    for (std::size_t i = 0; i < graph.op_code.size(); ++i) {
        require(graph.op_code[i] <= BROADCAST, "op_code has a value out of bounds");
        const std::int64_t most = graph.op_code[i] == RUN    ? segments
                                  : graph.op_code[i] == WAIT ? MOST_ROWS
                                  : graph.op_code[i] >= LOCK ? words
                                                             : graph.rows;
        require(graph.op_arg[i] < most, "op_arg has a value out of bounds");
    }
}

// The rows below each and the ids of children, from the last row up: a child's row is higher than its parent's.
void number_tasks(Graph& graph, Computed& computed) {
    computed.size.assign(static_cast<std::size_t>(graph.rows), 0);
    if (graph.folded) computed.child.assign(graph.op_code.size(), 0);
    for (std::int64_t row = graph.rows - 1; row >= 0; --row) {
        const auto r = static_cast<std::size_t>(row);
        std::int64_t next = 1;
        for (auto op = static_cast<std::size_t>(graph.op_ptr[r]); op < static_cast<std::size_t>(graph.op_ptr[r + 1]);
             ++op) {
            if (graph.op_code[op] != SPAWN && graph.op_code[op] != CALL) continue;
            const std::size_t child = graph.op_arg[op];
            require(static_cast<std::int64_t>(child) > row, "op_arg has a child above its parent");
            require(graph.kind[child] == (graph.op_code[op] == CALL ? CALLED : TASK),
                    "op_arg has a child of the wrong kind");
            if (graph.folded) computed.child[op] = next;
            require(graph.folded || static_cast<std::int64_t>(child) == row + next,
                    "op_arg has a child that is out of order");
            require(!__builtin_add_overflow(next, computed.size[child], &next), "the graph has more than 2**63 tasks");
        }
        computed.size[r] = next;
    }
    graph.size = computed.size;
    graph.child = computed.child;
}

// Numbers of the segments that the tasks of a folded graph would have: a task's own first, then those of its children.
void number_segments(Graph& graph, Computed& computed) {
    computed.segment.assign(graph.op_code.size(), 0);
    computed.segments.assign(static_cast<std::size_t>(graph.rows), 0);
    for (std::int64_t row = graph.rows - 1; row >= 0; --row) {
        const auto r = static_cast<std::size_t>(row);
        const auto first = static_cast<std::size_t>(graph.op_ptr[r]),
                   last = static_cast<std::size_t>(graph.op_ptr[r + 1]);
        std::uint32_t next = 0;
        for (std::size_t op = first; op < last; ++op) {
            if (graph.op_code[op] == RUN) computed.segment[op] = next++;
        }
        for (std::size_t op = first; op < last; ++op) {
            if (graph.op_code[op] != SPAWN && graph.op_code[op] != CALL) continue;
            computed.segment[op] = next;
            const bool fits = !__builtin_add_overflow(next, computed.segments[graph.op_arg[op]], &next);
            require(fits, "the graph has more than 2**32 segments, so that it can only be run skipping ahead");
        }
        computed.segments[r] = next;
    }
    graph.segment = computed.segment;
}

void check_parents(const Graph& graph) {
    for (std::int64_t row = 0; row < graph.rows; ++row) {
        const auto r = static_cast<std::size_t>(row);
        require(-1 <= graph.parent[r] && graph.parent[r] < row, "parent has a value out of bounds");
        for (auto op = static_cast<std::size_t>(graph.op_ptr[r]); op < static_cast<std::size_t>(graph.op_ptr[r + 1]);
             ++op) {
            const bool creates = graph.op_code[op] == SPAWN || graph.op_code[op] == CALL;
            require(!creates || graph.parent[graph.op_arg[op]] == row, "op_arg has a child of another");
        }
    }
}

Graph read_graph(Reader& reader, std::int64_t segments, U8s role, bool skipping, Computed& computed) {
    Graph graph{};
    graph.rows = reader.integer("rows", 0, MOST_ROWS);
    graph.folded = reader.flag("folded");
    graph.op_ptr = reader.array<std::int64_t>("op_ptr", graph.rows + 1);
    graph.op_code = reader.array<std::uint8_t>("op_code", ANY);
    graph.op_arg = reader.array<std::uint32_t>("op_arg", size_of(graph.op_code));
    require_pointer(graph.op_ptr, graph.op_code.size(), "op_ptr");
    require(size_of(graph.op_code) < MOST_ITEMS, "op_code has too many entries");
    graph.kind = reader.array<std::uint8_t>("kind", graph.rows);
    require_within(graph.kind, TASK, IMPLICIT, "kind");
    graph.kernel = reader.array<std::uint8_t>("segment_kernel", segments);
    check_ops(graph, segments, size_of(role));
    if (!role.empty()) check_uses(graph, role);
    number_tasks(graph, computed);
    if (graph.folded && !skipping) number_segments(graph, computed);
    if (graph.folded) return graph;  // the roots of its phases tell how many tasks it has
    graph.tasks = graph.rows;
    graph.parent = reader.array<std::int64_t>("parent", graph.rows);
    check_parents(graph);
    graph.successor_ptr = reader.array<std::int64_t>("successor_ptr", graph.rows + 1);
    graph.successor = reader.array<std::uint32_t>("successor", ANY);
    require_pointer(graph.successor_ptr, graph.successor.size(), "successor_ptr");
    require_within(graph.successor, 0, graph.rows - 1, "successor");
    return graph;
}

// ---- times --------------------------------------------------------------------------------------------------------

SegmentTimes read_times(Reader& reader, std::uint32_t nodes) {
    SegmentTimes times{};
    times.segments = reader.integer("segments", 0, MOST_ITEMS);
    for (Reader& node : [&] { return reader.list("segment_times"); }()) {
        const I64s total = node.array<std::int64_t>("total_ps", ANY);
        require(total.empty() || size_of(total) == times.segments, "total_ps does not have an entry for each segment");
        times.total.push_back(total);
        times.local.push_back(node.array<std::int64_t>("local_ps", size_of(total)));
        require_within(total, 0, LONGEST_PS, "total_ps");
        require_within(times.local.back(), 0, LONGEST_PS, "local_ps");
        reader.keep(std::move(node));
    }
    require(times.total.size() == nodes, "segment_times does not have an entry for each node");
    times.traffic = reader.array<std::int64_t>("traffic", ANY);
    require(times.traffic.empty() || size_of(times.traffic) == times.segments * nodes,
            "traffic does not have a row for each segment");
    require_within(times.traffic, 0, MOST_BYTES, "traffic");
    return times;
}

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

Accesses read_accesses(Reader& reader, std::uint32_t nodes) {
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
    return accesses;
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

void check_open(const OpenAccesses& open, const Accesses& accesses, const Memory& memory) {
    for (const std::int64_t access : open.access) {
        require(0 <= access && access < size_of(accesses.region), "open_access has a value out of bounds");
        const std::size_t region = accesses.region[static_cast<std::size_t>(access)];
        require(memory.dynamic[region] != 0, "open_access has an access whose homes are known");
    }
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

ItemAccess read_item_access(Reader& reader, std::uint32_t nodes, std::int64_t items) {
    ItemAccess access{};
    access.divisor = reader.integer("divisor", 1, INT64_MAX);
    access.by_quotient = reader.flag("by_quotient");
    access.by_remainder = reader.flag("by_remainder");
    access.traffic = reader.array<std::int64_t>("traffic", ANY);
    require(size_of(access.traffic) % nodes == 0, "traffic does not have whole rows");
    require_within(access.traffic, 0, MOST_BYTES, "traffic");
    const std::int64_t rows = size_of(access.traffic) / nodes;
    const std::int64_t quotients = (items + access.divisor - 1) / access.divisor,
                       remainders = std::min(access.divisor, items);
    const std::int64_t needed = access.by_quotient    ? (access.by_remainder ? items : quotients)
                                : access.by_remainder ? remainders
                                                      : 1;
    require(rows >= needed, "traffic has too few rows");
    for (Reader& node : [&] { return reader.list("nodes"); }()) {
        access.wait.push_back(node.array<std::int64_t>("wait_ps", ANY));
        require(access.wait.back().empty() || size_of(access.wait.back()) == rows,
                "wait_ps does not have an entry for each row");
        require_within(access.wait.back(), 0, LONGEST_PS, "wait_ps");
        reader.keep(std::move(node));
    }
    require(access.wait.size() == nodes, "wait_ps is not there for each node");
    return access;
}

Family read_family(Reader& reader, std::uint32_t nodes) {
    Family family{};
    family.count = reader.integer("count", 0, MOST_ITEMS);
    family.kernel = static_cast<std::uint32_t>(reader.integer("kernel", 0, UINT8_MAX));
    family.low_ps = reader.integer("low_ps", 0, LONGEST_PS);
    family.high_ps = reader.integer("high_ps", family.low_ps, LONGEST_PS);
    family.local_wait = reader.array<std::int64_t>("local_wait_ps", nodes);
    require_within(family.local_wait, 0, LONGEST_PS, "local_wait_ps");
    for (Reader& access : [&] { return reader.list("accesses"); }()) {
        family.accesses.push_back(read_item_access(access, nodes, family.count));
        reader.keep(std::move(access));
    }
    return family;
}

// ---- phases -------------------------------------------------------------------------------------------------------

// The trees of a folded graph are numbered in the order of the roots that they grow from.
void number_roots(Phase& phase, Graph& graph, const Computed& computed, std::uint32_t& segments) {
    for (const std::int64_t root : phase.roots) {
        phase.ids.push_back(graph.folded ? graph.tasks : root);
        phase.segments.push_back(segments);
        if (!graph.folded) continue;
        const auto r = static_cast<std::size_t>(root);
        require(!__builtin_add_overflow(graph.tasks, computed.size[r], &graph.tasks),
                "the graph has more than 2**63 tasks");
        if (!computed.segments.empty()) segments += computed.segments[r];
    }
}

Phase read_phase(Reader& reader, const Graph& graph, std::int64_t families) {
    Phase phase{};
    const I64s roots = reader.array<std::int64_t>("roots", ANY);
    require_within(roots, 0, graph.rows - 1, "roots");
    phase.roots.assign(roots.begin(), roots.end());
    phase.family = reader.integer("family", -1, families - 1);
    phase.deal = static_cast<ns_deal>(reader.integer("deal", NS_DEAL_MASTER, NS_DEAL_CYCLIC));
    phase.serial = reader.flag("serial");
    phase.repeat = reader.integer("repeat", 0, MOST_ITEMS);
    for (const std::int64_t root : phase.roots) {
        require(graph.folded || graph.parent[static_cast<std::size_t>(root)] < 0, "roots has a task with a parent");
        require(graph.kind[static_cast<std::size_t>(root)] != CALLED, "roots has a task that nobody calls");
    }
    return phase;
}

// ---- the strategy -------------------------------------------------------------------------------------------------

void check_level(const ns_plan& steal, std::uint32_t index, std::uint32_t nodes) {
    const ns_level& level = steal.level[index];
    const std::uint32_t end = index + 1 < steal.levels ? steal.level[index + 1].row : steal.rows - 1;
    const bool steals = index < steal.steal_levels;
    const std::uint32_t anchors = level.anchor == NS_ANCHOR_ALL        ? 1
                                  : level.anchor == NS_ANCHOR_LAST     ? 0
                                  : level.anchor >= NS_ANCHOR_LIGHTEST ? nodes
                                                                       : steal.workers + (steals ? 0 : 1);
    const bool in_bounds = level.row <= end && end < steal.rows && end - level.row >= anchors && level.segments >= 1 &&
                           level.anchor <= NS_ANCHOR_DATA && level.pick <= NS_PICK_BLOCK &&
                           level.visit <= NS_VISIT_WEIGHTED && level.amount_kind <= NS_AMOUNT_SHARE &&
                           level.amount >= 1;
    require(in_bounds && (steals || level.anchor <= NS_ANCHOR_ALL || level.anchor >= NS_ANCHOR_LIGHTEST),
            "level has a record out of bounds");
    require(!steals || level.anchor < NS_ANCHOR_LIGHTEST, "level has a record out of bounds");
    require(level.data == NS_NONE8 || (!steals && level.data < steal.data_count), "level has data that is not there");
    require(level.anchor != NS_ANCHOR_DATA ||
                (level.data != NS_NONE8 && (steal.data[level.data].flags & NS_FLAG_LOOKS) != 0),
            "level has a rule that does not say which node");
    require(level.watch == NS_NONE8 || level.watch < steal.watches, "level has a watch that is not there");
    require(level.chance == NS_NONE8 || level.chance < steal.chances, "level has a chance that is not there");
    for (std::uint32_t r = level.row; r < end; ++r) {
        const std::uint32_t first = steal.row[r], last = steal.row[r + 1];
        require((last - first) % level.segments == 0, "level has a row of broken groups");
        for (std::uint32_t s = first; s < last && level.visit == NS_VISIT_WEIGHTED; ++s) {
            require(steal.weight[s] != 0 && (s == first || steal.weight[s] >= steal.weight[s - 1]),
                    "weight is not cumulative");
        }
    }
}

void check_queues(const ns_plan& steal, std::uint32_t nodes) {
    for (std::uint32_t q = 0; q < steal.queue_count; ++q) {
        const ns_queue& queue = steal.queues[q];
        const bool in_bounds = queue.home >= -1 && queue.home < static_cast<std::int32_t>(nodes) && queue.owner >= 0 &&
                               static_cast<std::uint32_t>(queue.owner) < steal.workers && queue.capacity >= 0 &&
                               queue.own_end <= 1 && queue.steal_end <= 1 && queue.full <= NS_FULL_BLOCK;
        require(in_bounds, "queues has a record out of bounds");
    }
}

void read_data(Reader& reader, ns_plan& steal, std::uint32_t nodes) {
    const auto data = reader.records<ns_data>("data");
    require(data.size() < NS_NONE8, "data has too many entries");
    for (const ns_data& record : data) {
        require(record.min_bytes >= 0 && record.min_share_ppm >= 0 && record.rank <= NS_RANK_ANY &&
                    NS_COUNT_READS <= record.count && record.count <= NS_COUNT_BOTH && record.weigh <= NS_WEIGH_OBJECTS,
                "data has a record out of bounds");
    }
    const auto node = reader.array<std::int32_t>("position_node", std::int64_t{steal.workers} + 1);
    const auto domains = reader.array<std::int32_t>("domains", ANY);
    const auto latency = reader.array<std::int64_t>("latency_ps", std::int64_t{nodes} * nodes);
    require_within(node, 0, nodes - 1, "position_node");
    require_within(domains, 0, nodes - 1, "domains");
    require(!domains.empty() && std::is_sorted(domains.begin(), domains.end()), "domains does not ascend");
    require_within(latency, 0, MOST_COST_PS, "latency_ps");
    steal.data = data.data();
    steal.data_count = static_cast<std::uint32_t>(data.size());
    steal.node = node.data();
    steal.domains = domains.data();
    steal.domain_count = static_cast<std::uint32_t>(domains.size());
    steal.latency_ps = latency.data();
    steal.nodes = nodes;
}

bool keeps_more_than_one(const ns_plan& steal) {
    return std::any_of(steal.level, steal.level + steal.steal_levels,
                       [](const ns_level& level) { return level.amount_kind == NS_AMOUNT_SHARE || level.amount > 1; });
}

ns_plan read_steal(Reader& reader, std::uint32_t workers, std::uint32_t nodes, std::int64_t refill) {
    ns_plan steal{};
    const auto level = reader.records<ns_level>("level");
    const auto row = reader.array<std::uint32_t>("row", ANY), seg = reader.array<std::uint32_t>("seg", ANY);
    const auto queue = reader.array<std::uint32_t>("queue", ANY);
    const auto watch = reader.array<std::int32_t>("watch", ANY);
    const auto chance = reader.records<ns_chance>("chance");
    const auto queues = reader.records<ns_queue>("queues");
    const auto own = reader.array<std::uint32_t>("own", workers);
    require(!seg.empty() && !row.empty() && !level.empty() && level.size() < NS_NONE8 && chance.size() < NS_NONE8 &&
                watch.size() % 2 == 0 && watch.size() / 2 < NS_NONE8,
            "level, row, seg, chance or watch has a wrong number of entries");
    require_pointer(row, seg.size() - 1, "row");
    require_pointer(seg, queue.size(), "seg");
    require_within(queue, 0, size_of(queues) - 1, "queue");
    for (const std::uint32_t q : own) require(q < queues.size() || q == NS_NO_QUEUE, "own has a value out of bounds");
    steal.level = level.data();
    steal.row = row.data();
    steal.seg = seg.data();
    steal.queue = queue.data();
    steal.weight = reader.array<std::uint64_t>("weight", size_of(seg) - 1).data();
    steal.watch = watch.data();
    steal.chance = chance.data();
    steal.queues = queues.data();
    steal.own = own.data();
    steal.workers = workers;
    steal.levels = static_cast<std::uint32_t>(level.size());
    steal.steal_levels = static_cast<std::uint32_t>(reader.integer("steal_levels", 0, size_of(level)));
    steal.rows = static_cast<std::uint32_t>(row.size());
    steal.watches = static_cast<std::uint32_t>(watch.size() / 2);
    steal.chances = static_cast<std::uint32_t>(chance.size());
    steal.queue_count = static_cast<std::uint32_t>(queues.size());
    read_data(reader, steal, nodes);
    for (std::uint32_t i = 0; i < steal.levels; ++i) check_level(steal, i, nodes);
    check_queues(steal, nodes);
    const bool needs_own = refill != 0 || keeps_more_than_one(steal);
    require(!needs_own || std::none_of(own.begin(), own.end(), [](std::uint32_t q) { return q == NS_NO_QUEUE; }),
            "own has a worker without a queue for the tasks that it steals");
    return steal;
}

void add_masks(ns_plan& steal, std::vector<std::uint64_t>& mask) {
    if (!ns_masks_serve(&steal)) return;
    mask.assign(std::size_t{steal.row[steal.rows - 1]} * ns_mask_words(&steal), 0);
    ns_masks_fill(&steal, mask.data());
    steal.mask = mask.data();
}

ns_threshold_rules read_thresholds(Reader& reader) {
    return {
        .max_tasks = reader.integer("max_tasks", -1, LONGEST_PS),
        .min_tasks = reader.integer("min_tasks", -1, LONGEST_PS),
        .fraction_ppm = reader.integer("fraction_ppm", 0, 1'000 * MILLION),
        .rule = reader.choice<ns_threshold_rule>("threshold_rule", {"literal", "avail", "fraction"}),
    };
}

ns_backoff read_backoff(Reader& reader) {
    return {
        .first_ps = reader.integer("backoff_first_ps", 0, LONGEST_PS),
        .factor = reader.integer("backoff_factor", 1, std::int64_t{1} << 31),
        .max_ps = reader.integer("backoff_max_ps", -1, LONGEST_PS),
        .poll_ps = reader.integer("poll_ps", 0, MOST_COST_PS),
        .scan_ps = reader.integer("scan_ps", 1, MOST_COST_PS),
    };
}

Costs read_costs(Reader& reader) {
    const auto cost = [&](const char* name) { return reader.integer(name, 0, MOST_COST_PS); };
    return {
        .push_ps = cost("push_ps"),
        .locate_ps = cost("locate_ps"),
        .pop_ps = cost("pop_ps"),
        .join_ps = cost("join_ps"),
        .wait_ps = cost("wait_ps"),
        .resume_ps = cost("resume_ps"),
        .take_ps = cost("take_ps"),
        .move_ps = cost("move_ps"),
        .wake_ps = cost("wake_ps"),
        .wake_remote_ps = cost("wake_remote_ps"),
        .fault_ps = cost("fault_ps"),
        .migrate_ps = cost("migrate_ps"),
        .signal_ps = cost("signal_ps"),
        .probe_near_ps = cost("probe_near_ps"),
        .probe_far_ps = cost("probe_far_ps"),
        .least_probe_ps = reader.integer("least_probe_ps", 1, MOST_COST_PS),
        .line = reader.flag("line"),
    };
}

}  // namespace

Plan read_plan(Reader& reader, Computed& computed) {
    Plan plan{};
    plan.workers = static_cast<std::uint32_t>(reader.integer("workers", 1, MOST_WORKERS));
    plan.nodes = static_cast<std::uint32_t>(reader.integer("nodes", 1, MOST_NODES));
    plan.seed = reader.word("seed");
    plan.node = reader.array<std::int32_t>("node", plan.workers);
    require_within(plan.node, 0, plan.nodes - 1, "node");
    plan.skipping = reader.flag("skipping");
    plan.times = read_times(reader, plan.nodes);
    const U8s role = reader.array<std::uint8_t>("word_role", ANY);
    require(role.empty() || !plan.skipping, "word_role has words, with which nothing is skipped");
    plan.graph = read_graph(reader, plan.times.segments, role, plan.skipping, computed);
    for (const std::int32_t node : plan.node) {
        require(size_of(plan.times.total[static_cast<std::size_t>(node)]) == plan.times.segments,
                "total_ps is missing for a node with workers");
    }
    if (reader.flag("looks_at_accesses")) {
        plan.accesses = read_accesses(reader, plan.nodes);
        plan.memory = read_memory(reader, plan.nodes);
        for (std::size_t a = 0; a < plan.accesses.region.size(); ++a) check_access(plan.accesses, plan.memory, a);
    }
    plan.open = read_open(reader, plan);
    for (Reader& family : [&] { return reader.list("families"); }()) {
        plan.families.push_back(read_family(family, plan.nodes));
        for (const ItemAccess& access : plan.families.back().accesses) {
            for (const std::int32_t node : plan.node) {
                require(!access.wait[static_cast<std::size_t>(node)].empty(),
                        "wait_ps is missing for a node with workers");
            }
        }
        reader.keep(std::move(family));
    }
    plan.effects = read_effects(reader, plan);
    std::uint32_t segments = 0;
    for (Reader& phase : [&] { return reader.list("phases"); }()) {
        plan.phases.push_back(read_phase(phase, plan.graph, size_of(plan.families)));
        number_roots(plan.phases.back(), plan.graph, computed, segments);
    }
    plan.refill = reader.integer("refill", -1, LONGEST_PS);
    plan.steal = read_steal(reader, plan.workers, plan.nodes, plan.refill);
    add_masks(plan.steal, computed.mask);
    plan.thresholds = read_thresholds(reader);
    plan.threshold_time = reader.choice<ThresholdTime>("threshold_time", {"first-drain", "phase", "fixed"});
    plan.backoff = read_backoff(reader);
    plan.backoff_after_probe = reader.flag("backoff_after_probe");
    plan.backoff_counts_empty = reader.flag("backoff_counts_empty");
    plan.costs = read_costs(reader);
    const bool lines_move = plan.costs.line || !role.empty();
    plan.line_ps = reader.array<std::int64_t>("line_ps", lines_move ? std::int64_t{plan.workers} * plan.workers : ANY);
    require_within(plan.line_ps, 0, MOST_COST_PS, "line_ps");
    plan.words = read_words(reader, role, plan);
    plan.join = reader.choice<Join>("join", {"help", "own", "strict", "continuation", "block"});
    plan.maker = reader.choice<Maker>("producer", {"none", "extra", "master"});
    plan.inline_resume_ppm = reader.integer("inline_resume_ppm", 0, MILLION);
    plan.work_first = reader.flag("work_first");
    plan.skip = reader.flag("skip");
    plan.own_dispatch = reader.flag("own_dispatch");
    plan.sees_marks_only = reader.flag("sees_marks_only");
    plan.one_queue_each = reader.flag("one_queue_each");
    plan.room = reader.integer("room", 0, INT64_MAX);
    if (ns_looks_at_data(&plan.steal)) plan.objects = read_objects(reader, plan);
    const bool all_own =
        std::none_of(plan.steal.own, plan.steal.own + plan.workers, [](std::uint32_t q) { return q == NS_NO_QUEUE; });
    require(all_own || !(plan.own_dispatch || plan.one_queue_each || plan.skipping),
            "own has a worker without a queue");
    return plan;
}

}  // namespace numasim
