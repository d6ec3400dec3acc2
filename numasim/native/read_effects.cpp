#include "read_effects.hpp"

#include <algorithm>

#include "bounds.hpp"
#include "memory/chunks.hpp"

namespace numasim {

namespace {

constexpr std::int64_t MOST_UNITS_PER_S = std::int64_t{1} << 47, MOST_PASSES = std::int64_t{1} << 32;
constexpr std::int64_t MOST_COPIES = std::int64_t{1} << 28;  // of chunks in caches: 6 GiB, taken as they are used
constexpr std::int64_t MOST_HZ = std::int64_t{1} << 40, MOST_MISSES = std::int64_t{1} << 40;

SegmentNeeds read_segments(Reader& reader, const Plan& plan) {
    SegmentNeeds needs{};
    const std::int64_t accesses = size_of(plan.accesses.region);
    needs.compute_ps = reader.array<std::int64_t>("segment_compute_ps", plan.times.segments);
    needs.first_access = reader.array<std::int64_t>("segment_accesses", plan.times.segments + 1);
    needs.mode = reader.array<std::uint8_t>("access_mode", accesses);
    needs.passes = reader.array<std::int64_t>("access_passes", accesses);
    needs.misses = reader.array<std::int64_t>("access_misses", accesses);
    require_within(needs.compute_ps, 0, LONGEST_PS, "segment_compute_ps");
    require_pointer(needs.first_access, plan.accesses.region.size(), "segment_accesses");
    require_within(needs.mode, READ, READ_WRITE, "access_mode");
    require_within(needs.passes, 1, MOST_PASSES, "access_passes");
    require_within(needs.misses, 1, MOST_MISSES, "access_misses");
    for (std::size_t a = 0; a < needs.passes.size(); ++a) {
        std::int64_t moved = 0;
        const std::int64_t bytes = plan.accesses.row_bytes[a] * plan.accesses.rows[a];
        require(!__builtin_mul_overflow(bytes, needs.passes[a], &moved) && moved <= MOST_BYTES,
                "an access moves more bytes than can be counted");
    }
    require(size_of(plan.accesses.settled) == accesses * plan.nodes, "settled_bytes is missing");
    return needs;
}

CacheSizes read_caches(Reader& reader, const Plan& plan) {
    CacheSizes sizes{};
    sizes.model = reader.choice<CacheModel>("cache", {"none", "share", "lru"});
    sizes.llc_bytes = reader.integer("llc_bytes", 0, MOST_BYTES);
    sizes.l2_bytes = reader.integer("l2_bytes", -1, MOST_BYTES);
    sizes.hit_ps = reader.integer("llc_hit_ps", 0, MOST_COST_PS);
    sizes.remote_hit_ps = reader.integer("llc_remote_hit_ps", 0, MOST_COST_PS);
    sizes.domains = static_cast<std::size_t>(reader.integer("llc_domains", 1, MOST_WORKERS));
    sizes.domain = reader.array<std::uint32_t>("llc_domain", plan.workers);
    require_within(sizes.domain, 0, static_cast<std::int64_t>(sizes.domains) - 1, "llc_domain");
    std::int64_t chunks = 0;
    for (const std::int64_t pages : plan.memory.region_pages) {
        sizes.region_bytes.push_back(pages * plan.memory.page_bytes);
        chunks += sizes.region_bytes.back() / CHUNK_BYTES + 1;
        require(chunks <= MOST_COPIES / static_cast<std::int64_t>(sizes.domains),
                "llc_domains has more caches than can be followed for regions of these sizes");
    }
    return sizes;
}

Paths read_paths(Reader& paths, std::uint32_t nodes, std::int64_t resources) {
    const I64s first = paths.array<std::int64_t>("first", std::int64_t{nodes} * nodes + 1);
    const U32s resource = paths.array<std::uint32_t>("resource", ANY);
    require_pointer(first, resource.size(), "first");
    require_within(resource, 0, resources - 1, "resource");
    return {first, resource};
}

Resources read_resources(Reader& reader, const Plan& plan, std::size_t domains) {
    Resources resources{};
    resources.capacity = reader.array<std::int64_t>("resource_capacity", ANY);
    const std::int64_t count = size_of(resources.capacity);
    require(count >= plan.nodes, "resource_capacity has no entry for each node");
    require_within(resources.capacity, 1, MOST_UNITS_PER_S, "resource_capacity");
    Paths* const into[] = {&resources.reads, &resources.writes, &resources.moves};
    std::vector<Reader> paths = reader.list("paths");
    require(paths.size() == std::size(into), "paths has a wrong number of entries");
    for (std::size_t i = 0; i < paths.size(); ++i) {
        *into[i] = read_paths(paths[i], plan.nodes, count);
        reader.keep(std::move(paths[i]));
    }
    resources.llc_port = reader.array<std::int32_t>("llc_port", static_cast<std::int64_t>(domains));
    require_within(resources.llc_port, -1, count - 1, "llc_port");
    resources.faults = static_cast<std::int32_t>(reader.integer("faults", -1, count - 1));
    resources.fault_alpha_ppm = reader.integer("fault_alpha_ppm", 0, 1'000 * MILLION);
    return resources;
}

SpeedRules read_speeds(Reader& reader, std::uint32_t workers) {
    SpeedRules rules{};
    rules.core = reader.array<std::uint32_t>("core", workers);
    rules.socket = reader.array<std::uint32_t>("socket", workers);
    require_within(rules.core, 0, MOST_WORKERS, "core");
    require_within(rules.socket, 0, MOST_WORKERS, "socket");
    rules.slows_memory = reader.flag("slows_memory");
    rules.executing_ppm = reader.integer("executing_ppm", 1, MILLION);
    rules.polling_ppm = reader.integer("polling_ppm", 1, MILLION);
    rules.clock_active = reader.array<std::int64_t>("clock_active", ANY);
    rules.clock_hz = reader.array<std::int64_t>("clock_hz", size_of(rules.clock_active));
    require_within(rules.clock_hz, 1, MOST_HZ, "clock_hz");
    rules.clock_base_hz = reader.integer("clock_base_hz", 1, rules.clock_hz.empty() ? MOST_HZ : rules.clock_hz[0]);
    require(std::is_sorted(rules.clock_hz.rbegin(), rules.clock_hz.rend()), "clock_hz does not fall");
    rules.worker_spread_ppm = reader.integer("worker_spread_ppm", 0, MILLION);
    return rules;
}

ItemAccessPrice read_access_price(Reader& access, std::int64_t rows, std::uint32_t nodes) {
    ItemAccessPrice price{};
    price.owned = access.flag("owned");
    price.wait = access.array<std::int64_t>("wait_ps", rows);
    price.fetched = access.array<std::int64_t>("fetched", rows * nodes);
    price.written = access.array<std::int64_t>("written", rows * nodes);
    price.cached_bytes = access.integer("cached_bytes", 0, MOST_BYTES);
    require_within(price.wait, 0, LONGEST_PS, "wait_ps");
    require_within(price.fetched, 0, MOST_BYTES, "fetched");
    require_within(price.written, 0, MOST_BYTES, "written");
    return price;
}

FamilyPrice read_family_price(Reader& family, const Family& of, std::uint32_t nodes, std::int64_t resources) {
    FamilyPrice price{};
    price.local_wait_ps = family.integer("local_wait_ps", 0, LONGEST_PS);
    price.mean_compute_ps = family.integer("mean_compute_ps", 0, LONGEST_PS);
    price.mean_wait_ps = family.integer("mean_wait_ps", 0, LONGEST_PS);
    price.resource = family.array<std::uint32_t>("resource", ANY);
    price.units = family.array<std::int64_t>("units", size_of(price.resource));
    require_within(price.resource, 0, resources - 1, "resource");
    require_within(price.units, 0, MOST_BYTES, "units");
    require(std::adjacent_find(price.resource.begin(), price.resource.end(), std::greater_equal<>()) ==
                price.resource.end(),
            "resource does not ascend");
    std::vector<Reader> accesses = family.list("accesses");
    require(accesses.size() == of.accesses.size(), "accesses has a wrong number of entries");
    for (std::size_t a = 0; a < accesses.size(); ++a) {
        const std::int64_t rows = size_of(of.accesses[a].traffic) / nodes;
        price.accesses.push_back(read_access_price(accesses[a], rows, nodes));
        family.keep(std::move(accesses[a]));
    }
    return price;
}

std::vector<FamilyPrice> read_prices(Reader& seat, const Plan& plan, std::int64_t resources) {
    std::vector<FamilyPrice> prices;
    std::vector<Reader> families = seat.list("families");
    require(families.size() == plan.families.size(), "families has a wrong number of entries");
    for (std::size_t f = 0; f < families.size(); ++f) {
        prices.push_back(read_family_price(families[f], plan.families[f], plan.nodes, resources));
        seat.keep(std::move(families[f]));
    }
    return prices;
}

void read_seats(Reader& reader, const Plan& plan, Effects& effects) {
    for (Reader& seat : [&] { return reader.list("seats"); }()) {
        effects.prices.push_back(read_prices(seat, plan, size_of(effects.resources.capacity)));
        reader.keep(std::move(seat));
    }
    effects.price_class = reader.array<std::uint32_t>("seat", plan.workers);
    require_within(effects.price_class, 0, size_of(effects.prices) - 1, "seat");
}

}  // namespace

Effects read_effects(Reader& reader, const Plan& plan) {
    Effects effects{};
    effects.coupled = reader.flag("coupled");
    if (!effects.coupled) return effects;
    require(!plan.skipping, "a run that is coupled cannot skip ahead");
    effects.contention = reader.choice<Contention>("contention", {"none", "snapshot", "fluid"});
    effects.queueing = reader.flag("queueing");
    effects.overlap_ppm = reader.integer("overlap_ppm", 0, MILLION);
    effects.task_noise_ppm = reader.integer("task_noise_ppm", 0, MILLION);
    effects.latency_ps = reader.array<std::int64_t>("load_ps", std::int64_t{plan.nodes} * plan.nodes);
    require_within(effects.latency_ps, 0, MOST_COST_PS, "load_ps");
    effects.segments = read_segments(reader, plan);
    effects.caches = read_caches(reader, plan);
    effects.resources = read_resources(reader, plan, effects.caches.domains);
    effects.speeds = read_speeds(reader, plan.workers);
    read_seats(reader, plan, effects);
    return effects;
}

}  // namespace numasim
