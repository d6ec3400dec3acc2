#include "read_steal.hpp"

#include <algorithm>

#include "bounds.hpp"
#include "policy/masks.h"
#include "policy/similarity.h"

namespace numasim {

namespace {

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

void add_masks(ns_plan& steal, std::vector<std::uint64_t>& mask) {
    if (!ns_masks_serve(&steal)) return;
    mask.assign(std::size_t{steal.row[steal.rows - 1]} * ns_mask_words(&steal), 0);
    ns_masks_fill(&steal, mask.data());
    steal.mask = mask.data();
}

}  // namespace

ns_plan read_steal(Reader& reader, std::uint32_t workers, std::uint32_t nodes, std::int64_t refill,
                   std::vector<std::uint64_t>& mask) {
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
    add_masks(steal, mask);
    return steal;
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

}  // namespace numasim
