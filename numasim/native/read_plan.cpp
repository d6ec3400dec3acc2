#include "read_plan.hpp"

#include <algorithm>

#include "bounds.hpp"
#include "checked.hpp"
#include "policy/similarity.h"
#include "read_effects.hpp"
#include "read_memory.hpp"
#include "read_objects.hpp"
#include "read_steal.hpp"
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

// ---- costs
// ------------------------------------------------------------------------------------------------------------

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
        plan.memory = read_memory(reader, plan.nodes);
        plan.accesses = read_accesses(reader, plan.memory, plan.nodes);
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
    plan.steal = read_steal(reader, plan.workers, plan.nodes, plan.refill, computed.mask);
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
