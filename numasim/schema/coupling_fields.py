"""The fields of what couples running segments: caches, bandwidth, shared cores, clocks, noise (model 2.4 to 2.9)."""

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
    ppm,
    times,
)

SEGMENT_NEEDS = Structure(
    "ns_segment_needs",
    "SegmentNeeds",
    "What the segments of the graph compute and touch.",
    (
        times("segment_compute_ps", "segments", "segments", member="compute_ps"),
        Array(
            name="segment_accesses",
            type=I64,
            shape="segments + 1",
            size="segments + 1",
            points_into="len(access_region)",
            member="first_access",
        ),
        Array(
            name="access_mode",
            type=U8,
            shape="accesses",
            size="len(access_region)",
            low=str(int(min(Mode))),
            high=str(int(max(Mode))),
            member="mode",
            note="Mode",
        ),
        of_accesses("access_passes", I64, "passes", "MOST_PASSES", low="1"),
        of_accesses("access_misses", I64, "misses", "MOST_MISSES", low="1", note="under way at once, times 1000"),
    ),
    checked=True,
)
CACHE_SIZES = Structure(
    "ns_cache_sizes",
    "CacheSizes",
    "The caches.",
    (
        Choice(name="cache", of=CacheModel, member="model"),
        Integer(name="l2_bytes", low="-1", high="MOST_BYTES", note="-1: none that counts"),
        cost("llc_hit_ps", member="hit_ps"),
        cost("llc_remote_hit_ps", member="remote_hit_ps"),
        Flag(name="llc_forwards", member="forwards", note="clean lines, too, come from other caches"),
        Integer(name="llc_domains", low="1", high="MOST_WORKERS", c_type="uint64_t", member="domains"),
        Array(
            name="llc_bytes",
            type=I64,
            shape="llc domains",
            size="llc_domains",
            low="0",
            high="MOST_BYTES",
            note="0: none",
        ),
        Array(
            name="llc_domain",
            type=U32,
            shape="workers",
            size="workers",
            high="llc_domains - 1",
            note="the last-level cache of each worker",
            member="domain",
        ),
        Computed(name="region_bytes", c_type="ns_i64s", note="[regions]"),
    ),
    checked=True,
)


def _path(name: str, note: str) -> tuple[Field, ...]:
    return (
        Computed(name=f"{name}s", c_type="ns_paths", note=note),
        Array(
            name=f"{name}_resource", type=U32, shape="uses", high="len(resource_capacity) - 1",
            member=f"{name}s.resource",
        ),
        Array(
            name=f"{name}_per_line", type=I64, shape="uses", size=f"len({name}_resource)", high="MOST_BYTES",
            member=f"{name}s.per_line", note="units that a line takes",
        ),
        Array(
            name=f"{name}_first", type=I64, shape="nodes * nodes + 1", size="nodes * nodes + 1",
            points_into=f"len({name}_resource)", member=f"{name}s.first",
        ),
    )  # fmt: skip


RESOURCES = Structure(
    "ns_resources",
    "Resources",
    "What flows use together. Capacities are in units per second: bytes, or page faults.",
    (
        Array(
            name="resource_capacity", type=I64, shape="resources", low="1", high="MOST_UNITS_PER_S", member="capacity"
        ),
        *_path("read", "what a line uses that is read from a home"),
        *_path("write", "or written back to a home"),
        *_path("move", "or moved between caches"),
        Array(
            name="llc_port",
            type=I32,
            shape="llc domains",
            size="llc_domains",
            low="-1",
            high="len(resource_capacity) - 1",
            note="-1: none",
        ),
        Integer(
            name="faults",
            low="-1",
            high="len(resource_capacity) - 1",
            c_type="int32_t",
            note="the address space, or -1",
        ),
        Integer(name="fault_units", high="MOST_COST_PS", note="of the address space that a page fault takes"),
        ppm("fault_alpha_ppm", high="1000 * MILLION"),
    ),
    checked=True,
)
SPEED_RULES = Structure(
    "ns_speed_rules",
    "SpeedRules",
    "What the speeds of workers follow from.",
    (
        Array(name="core", type=U32, shape="workers", size="workers", high="MOST_WORKERS"),
        Array(name="socket", type=U32, shape="workers", size="workers", high="MOST_WORKERS"),
        Flag(name="slows_memory", note="who shares a core also waits longer for memory"),
        ppm("executing_ppm", "speed of a thread beside one that executes", low="1"),
        ppm("polling_ppm", "beside one that polls", low="1"),
        Array(name="clock_active", type=I64, shape="steps", note="empty where the clock is fixed"),
        Array(name="clock_hz", type=I64, shape="steps", size="len(clock_active)", low="1", high="MOST_HZ"),
        Integer(name="clock_base_hz", low="1", high="MOST_HZ"),
        Array(
            name="core_ppm",
            type=I64,
            shape="workers",
            size="workers",
            low="1",
            high="MILLION",
            note="speed of computing of each worker's core",
        ),
        ppm("worker_spread_ppm"),
    ),
)
ITEM_ACCESS_PRICE = Structure(
    "ns_item_access_price",
    "ItemAccessPrice",
    "One access of the items of a range, tabulated like its ItemAccess.",
    (
        Flag(name="owned", note="what is fetched is fetched for ownership"),
        Array(name="wait_ps", type=I64, shape="rows", high="LONGEST_PS", member="wait"),
        Array(name="fetched", type=I64, shape="rows, nodes", size="len(wait_ps) * nodes", high="MOST_BYTES"),
        Array(name="written", type=I64, shape="rows, nodes", size="len(wait_ps) * nodes", high="MOST_BYTES"),
        Integer(name="cached_bytes", high="MOST_BYTES"),
    ),
)
FAMILY_PRICE = Structure(
    "ns_family_price",
    "FamilyPrice",
    "What the items of a family cost the workers of a seat, and what those ask for meanwhile.",
    (
        Integer(name="local_wait_ps", high="LONGEST_PS"),
        Integer(name="mean_compute_ps", high="LONGEST_PS"),
        Integer(name="mean_wait_ps", high="LONGEST_PS"),
        Integer(name="mean_pages_ps", high="LONGEST_PS", note="of page faults and of giving back memory"),
        Array(
            name="resource",
            type=U32,
            shape="uses",
            high="len(resource_capacity) - 1",
            note="that the mean item uses; they ascend",
        ),
        Array(name="units", type=I64, shape="uses", size="len(resource)", high="LONGEST_PS", note="of each"),
        Listed(name="accesses", of=ITEM_ACCESS_PRICE),
    ),
)
SEAT = Structure(
    "ns_seat",
    "Seat",
    "Workers that pay the same prices.",
    (Listed(name="families", of=FAMILY_PRICE, count="len(families)"),),
    checked=True,
)
PAGE_COSTS = Structure(
    "ns_page_costs",
    "PageCosts",
    "What items pay for touching memory first and for giving it back.",
    (
        cost("unmap_ps", "of each page of the own node that is given back"),
        Array(
            name="unmap_far_ps",
            type=I64,
            shape="nodes, homes",
            size="nodes * nodes",
            high="LONGEST_PS",
            note="of each page of a given home that is given back, as seen from a node",
        ),
        Integer(name="flush_ps", high="LONGEST_PS", note="of each flush, for all other threads together"),
        Integer(name="unmap_batch", high="MOST_BYTES", note="pages a flush; 0: all that an item gives back"),
    ),
)
HELPERS = Structure(
    "ns_helpers",
    "Helpers",
    "Helper threads (model 4.11).",
    (
        Array(name="helper", type=U8, shape="workers", size="workers", high="1", member="has", note="each has one"),
        Integer(name="helper_lifespan", high="MOST_BYTES", member="lifespan_bytes"),
        Integer(name="helper_work_ppm", high="MILLION", member="work_ppm"),
        cost("helper_start_ps", member="start_ps"),
        cost("helper_restart_ps", member="restart_ps"),
    ),
)
COUPLED = Structure(
    "ns_effects",
    "Effects",
    "What couples the running segments of a plan: caches, bandwidth, shared cores, clocks, noise.",
    (
        Computed(name="coupled", c_type="bool", note="all else is only there where this holds"),
        Choice(name="contention", of=ContentionModel),
        Flag(name="queueing"),
        ppm("overlap_ppm"),
        ppm("task_noise_ppm"),
        latencies("load_ps", "how long a load takes", member="latency_ps"),
        Part(name="segments", of=SEGMENT_NEEDS),
        Part(name="caches", of=CACHE_SIZES),
        Part(name="resources", of=RESOURCES),
        Part(name="speeds", of=SPEED_RULES),
        Part(name="pages", of=PAGE_COSTS),
        Part(name="helpers", of=HELPERS),
        Listed(name="seats", of=SEAT, member="prices", note="by price class"),
        Array(name="seat", type=U32, shape="workers", size="workers", high="len(seats) - 1", member="price_class"),
    ),
)
