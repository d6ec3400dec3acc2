"""The fields of memory: pages, their homes, and the accesses of segments (model 2)."""

from __future__ import annotations

from numasim.schema.enumerations import CacheModel, ContentionModel, Mode
from numasim.schema.field_kinds import (
    I32,
    I64,
    U8,
    U32,
    Array,
    Choice,
    Computed,
    Field,
    Flag,
    Integer,
    Listed,
    Part,
    Structure,
    cost,
    latencies,
    of_accesses,
    of_domains,
    of_nodes,
    of_regions,
    of_workers,
    pointer,
    ppm,
    times,
)

# ---- The fields of what couples running segments: caches, bandwidth, shared cores, clocks, noise (model 2.4 to 2.9).


SEGMENT_NEEDS = Structure(
    "ns_segment_needs",
    "SegmentNeeds",
    "What the segments of the graph compute and touch.",
    (
        times("segment_compute_ps", "segments", "segments", member="compute_ps"),
        pointer("segment_accesses", "segments + 1", "segments + 1", "len(access_region)", member="first_access"),
        of_accesses("access_mode", U8, str(int(max(Mode))), low=str(int(min(Mode))), member="mode", note="Mode"),
        of_accesses("access_passes", I64, "MOST_PASSES", member="passes", low="1"),
        of_accesses(
            "access_misses", I64, "MOST_MISSES", member="misses", low="1", note="under way at once, times 1000"
        ),
    ),
    checked=True,
)
CACHE_SIZES = Structure(
    "ns_cache_sizes",
    "CacheSizes",
    "The caches.",
    (
        Choice("cache", CacheModel, member="model"),
        Integer("l2_bytes", low="-1", high="MOST_BYTES", note="-1: none that counts"),
        cost("llc_hit_ps", member="hit_ps"),
        cost("llc_remote_hit_ps", member="remote_hit_ps"),
        Flag("llc_forwards", member="forwards", note="clean lines, too, come from other caches"),
        Integer("llc_domains", low="1", high="MOST_WORKERS", c_type="uint64_t", member="domains"),
        of_domains("llc_bytes", I64, "MOST_BYTES", low="0", note="0: none"),
        of_workers("llc_domain", U32, "llc_domains - 1", member="domain", note="the last-level cache of each worker"),
        Computed("region_bytes", "ns_i64s", note="[regions]"),
    ),
    checked=True,
)


def _path(name: str, note: str) -> tuple[Field, ...]:
    return (
        Computed(f"{name}s", "ns_paths", note=note),
        Array(f"{name}_resource", U32, "uses", high="len(resource_capacity) - 1", member=f"{name}s.resource"),
        Array(
            f"{name}_per_line",
            I64,
            "uses",
            size=f"len({name}_resource)",
            high="MOST_BYTES",
            member=f"{name}s.per_line",
            note="units that a line takes",
        ),
        Array(
            f"{name}_first",
            I64,
            "nodes * nodes + 1",
            size="nodes * nodes + 1",
            points_into=f"len({name}_resource)",
            member=f"{name}s.first",
        ),
    )


RESOURCES = Structure(
    "ns_resources",
    "Resources",
    "What flows use together. Capacities are in units per second: bytes, or page faults.",
    (
        Array("resource_capacity", I64, "resources", low="1", high="MOST_UNITS_PER_S", member="capacity"),
        *_path("read", "what a line uses that is read from a home"),
        *_path("write", "or written back to a home"),
        *_path("move", "or moved between caches"),
        of_domains("llc_port", I32, "len(resource_capacity) - 1", low="-1", note="-1: none"),
        Integer(
            "faults", low="-1", high="len(resource_capacity) - 1", c_type="int32_t", note="the address space, or -1"
        ),
        Integer("fault_units", high="MOST_COST_PS", note="of the address space that a page fault takes"),
        ppm("fault_alpha_ppm", high="1000 * MILLION"),
    ),
    checked=True,
)
SPEED_RULES = Structure(
    "ns_speed_rules",
    "SpeedRules",
    "What the speeds of workers follow from.",
    (
        of_workers("core", U32, "MOST_WORKERS"),
        of_workers("socket", U32, "MOST_WORKERS"),
        Flag("slows_memory", note="who shares a core also waits longer for memory"),
        ppm("executing_ppm", "speed of a thread beside one that executes", low="1"),
        ppm("polling_ppm", "beside one that polls", low="1"),
        Array("clock_active", I64, "steps", note="empty where the clock is fixed"),
        Array("clock_hz", I64, "steps", size="len(clock_active)", low="1", high="MOST_HZ"),
        Integer("clock_base_hz", low="1", high="MOST_HZ"),
        of_workers("core_ppm", I64, "MILLION", low="1", note="speed of computing of each worker's core"),
        ppm("worker_spread_ppm"),
    ),
    checked=True,
)
ITEM_ACCESS_PRICE = Structure(
    "ns_item_access_price",
    "ItemAccessPrice",
    "One access of the items of a range, tabulated like its ItemAccess.",
    (
        Flag("owned", note="what is fetched is fetched for ownership"),
        Array("wait_ps", I64, "rows", high="LONGEST_PS", member="wait"),
        Array("fetched", I64, "rows, nodes", size="len(wait_ps) * nodes", high="MOST_BYTES"),
        Array("written", I64, "rows, nodes", size="len(wait_ps) * nodes", high="MOST_BYTES"),
        Integer("cached_bytes", high="MOST_BYTES"),
    ),
)
FAMILY_PRICE = Structure(
    "ns_family_price",
    "FamilyPrice",
    "What the items of a family cost the workers of a seat, and what those ask for meanwhile.",
    (
        Integer("local_wait_ps", high="LONGEST_PS"),
        Integer("mean_compute_ps", high="LONGEST_PS"),
        Integer("mean_wait_ps", high="LONGEST_PS"),
        Integer("mean_pages_ps", high="LONGEST_PS", note="of page faults and of giving back memory"),
        Array("resource", U32, "uses", high="len(resource_capacity) - 1", note="that the mean item uses; they ascend"),
        Array("units", I64, "uses", size="len(resource)", high="LONGEST_PS", note="of each"),
        Listed("accesses", ITEM_ACCESS_PRICE),
    ),
)
SEAT = Structure(
    "ns_seat",
    "Seat",
    "Workers that pay the same prices.",
    (Listed("families", FAMILY_PRICE, count="len(families)"),),
    checked=True,
)
PAGE_COSTS = Structure(
    "ns_page_costs",
    "PageCosts",
    "What items pay for touching memory first and for giving it back.",
    (
        cost("unmap_ps", "of each page of the own node that is given back"),
        Array(
            "unmap_far_ps",
            I64,
            "nodes, homes",
            size="nodes * nodes",
            high="LONGEST_PS",
            note="of each page of a given home that is given back, as seen from a node",
        ),
        Integer("flush_ps", high="LONGEST_PS", note="of each flush, for all other threads together"),
        Integer("unmap_batch", high="MOST_BYTES", note="pages a flush; 0: all that an item gives back"),
    ),
)
HELPERS = Structure(
    "ns_helpers",
    "Helpers",
    "Helper threads (model 4.11).",
    (
        of_workers("helper", U8, "1", member="has", note="each has one"),
        Integer("helper_lifespan", high="MOST_BYTES", member="lifespan_bytes"),
        Integer("helper_work_ppm", high="MILLION", member="work_ppm"),
        cost("helper_start_ps", member="start_ps"),
        cost("helper_restart_ps", member="restart_ps"),
    ),
)
COUPLED = Structure(
    "ns_effects",
    "Effects",
    "What couples the running segments of a plan: caches, bandwidth, shared cores, clocks, noise.",
    (
        Computed("coupled", "bool", note="all else is only there where this holds"),
        Choice("contention", ContentionModel),
        Flag("queueing"),
        ppm("overlap_ppm"),
        ppm("task_noise_ppm"),
        latencies("load_ps", "how long a load takes", member="latency_ps"),
        Part("segments", SEGMENT_NEEDS),
        Part("caches", CACHE_SIZES),
        Part("resources", RESOURCES),
        Part("speeds", SPEED_RULES),
        Part("pages", PAGE_COSTS),
        Part("helpers", HELPERS),
        Listed("seats", SEAT, member="prices", note="by price class"),
        of_workers("seat", U32, "len(seats) - 1", member="price_class"),
    ),
)


SCAN = Structure(
    "ns_scan",
    "Scan",
    "How automatic NUMA balancing scans memory, and after how many hinting faults pages migrate.",
    (
        cost("scan_delay_ps", "from the begin of the stage to the first scan", member="delay_ps"),
        cost("scan_period_ps", "between scans; 0: nothing is scanned", member="period_ps"),
        Integer("scan_bytes", low="1", high="MOST_BYTES", note="of a scan", member="bytes"),
        cost("hint_fault_ps", "of each page; -1: as any page fault", low="-1"),
        Integer("migrate_after", low="1", high="255", note="hinting faults of one node in a row"),
    ),
)
STAGE = Structure(
    "ns_stage",
    "Stage",
    "What is done with pages from a phase on.",
    (
        Integer("phase", high="MOST_ITEMS"),
        Flag("reads_place", note="whether reads place pages"),
        Flag("marks", note="every page that is placed when the phase starts migrates to its next toucher"),
        Part("scan", SCAN),
        Computed(
            "wish",
            "ns_node_lists",
            note="the nodes of pages that are placed; where nothing is said, that of the toucher",
        ),
        Array("wish", I32, "wishes", high="nodes - 1", member="wish.node"),
        pointer("wish_ptr", "regions + 1", "len(region_pages) + 1", "len(wish)", member="wish.ptr"),
    ),
)
MEMORY = Structure(
    "ns_memory",
    "Memory",
    "Where the pages of regions are (engine/reference/memory/page_map.py).",
    (
        Integer("page_bytes", low="1", high="MOST_PAGE_BYTES"),
        Array("region_pages", I64, "regions", high="MOST_BYTES / page_bytes"),
        of_regions("unit_pages", I64, "MOST_UNIT_PAGES", low="1", note="pages that are placed and moved together"),
        of_regions(
            "region_dynamic", U8, "1", member="dynamic", note="whether pages are placed or moved while the program runs"
        ),
        Computed("home", "ns_node_lists", note="of dynamic regions before the run"),
        Array("home", I32, "homes", high="nodes - 1", member="home.node"),
        pointer("home_ptr", "regions + 1", "len(region_pages) + 1", "len(home)", member="home.ptr"),
        Listed("stages", STAGE, note="by phase; the first one is in force before the run"),
        of_nodes(
            "home_of_node",
            I32,
            "nodes - 1",
            note="where memory lives that is wanted on a node: another one if that has no memory",
        ),
        Array(
            "free_pages", I64, "nodes", low="-LONGEST_PS", high="LONGEST_PS", note="empty where memory is not looked at"
        ),
        Array(
            "nodes_by_distance",
            I64,
            "nodes, nodes",
            size="len(free_pages) * nodes",
            high="nodes - 1",
            note="the nodes from each one on, nearest first; empty likewise",
            member="by_distance",
        ),
    ),
    checked=True,
)

ACCESSES = Structure(
    "ns_accesses",
    "Accesses",
    "The accesses of segments, where a run has to look at them one by one.",
    (
        Array("access_region", U32, "accesses", high="len(region_pages) - 1", member="region"),
        of_accesses("access_offset", I64, "MOST_BYTES", member="offset"),
        of_accesses("access_row_bytes", I64, "MOST_BYTES", member="row_bytes"),
        of_accesses("access_rows", I64, "MOST_ACCESS_ROWS", member="rows"),
        of_accesses("access_stride", I64, "MOST_STRIDE", member="stride"),
        of_accesses(
            "access_factor", I64, "MOST_FACTOR", member="factor", note="bytes moved for each byte of the footprint"
        ),
        of_accesses("access_mlp", I64, "MILLION", member="mlp", low="1", note="misses under way at once"),
        of_accesses("access_writes", U8, "1", member="writes"),
        Array(
            "settled_bytes",
            I64,
            "accesses, nodes",
            high="MOST_BYTES",
            note="footprint on each home before the run, or empty where nobody asks",
            member="settled",
        ),
    ),
    checked=True,
)
OPEN_ACCESSES = Structure(
    "ns_open_accesses",
    "OpenAccesses",
    "Accesses whose pages are placed or moved during the run; they are there where `ptr` is not empty.",
    (
        Computed("ptr", "ns_i64s", note="[segments + 1] into `access`"),
        Array("open_access", I64, "open accesses", high="len(access_region) - 1", member="access"),
        times("compute_ps", "segments", "segments", member="compute"),
        times("settled_ps", "nodes, segments", "nodes * segments", "memory time of the other accesses", "settled"),
        latencies("latency_ps", "from a core of the first to memory of the second"),
    ),
    checked=True,
)
