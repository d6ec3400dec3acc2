"""The fields of a plan: names, types, shapes and bounds, in the order in which they are read.

The native engine is given them as a dict of arrays (`numasim.engine.native`), the runtime as a file
(`numasim.runtime.fields_file`). Times are in ps, sizes in bytes, shares in parts per million (ppm).
"""

from __future__ import annotations

from numasim.schema.enumerations import (
    BarrierName,
    CacheModel,
    ContentionModel,
    Counted,
    Deal,
    JoinKind,
    Kind,
    LockName,
    Mode,
    Op,
    ProducerKind,
    Role,
    ThresholdRule,
    ThresholdTime,
)
from numasim.schema.field_kinds import (
    I32,
    I64,
    U8,
    U32,
    U64,
    Array,
    Arrays,
    Choice,
    Computed,
    Field,
    Flag,
    Integer,
    Listed,
    Part,
    Records,
    Structure,
    Text,
    Value,
    Word,
)
from numasim.schema.record_layouts import CHANCE, DATA, LEVEL, QUEUE

LAST_OP, LAST_ROLE = str(int(max(Op))), str(int(max(Role)))


def _cost(name: str, note: str = "", low: str = "0", member: str = "") -> Integer:
    return Integer(name=name, low=low, high="MOST_COST_PS", note=note, member=member)


def _ppm(name: str, note: str = "", low: str = "0", high: str = "MILLION") -> Integer:
    return Integer(name=name, low=low, high=high, note=note)


def _times(name: str, shape: str, size: str, note: str = "", member: str = "") -> Array:
    return Array(name=name, type=I64, shape=shape, size=size, high="LONGEST_PS", note=note, member=member)


def _latencies(name: str, note: str, member: str = "", count: str = "", when: str = "") -> Array:
    return Array(
        name=name, type=I64, shape="nodes, nodes", size="nodes * nodes", high="MOST_COST_PS", note=note,
        member=member, count=count, when=when,
    )  # fmt: skip


# ---- programs of tasks (model 3) -----------------------------------------------------------------------------------

GRAPH = Structure(
    "ns_graph",
    "Graph",
    "Programs of tasks in CSR form (numasim/workload/graph.py). A folded graph has one row for all equal subtrees.",
    (
        Integer(name="rows", high="MOST_ROWS"),
        Flag(name="folded"),
        Array(name="op_code", type=U8, shape="ops", high=LAST_OP, note="Op"),
        Array(name="op_arg", type=U32, shape="ops", size="len(op_code)"),
        Array(name="op_ptr", type=I64, shape="rows + 1", size="rows + 1", points_into="len(op_code)"),
        Array(name="kind", type=U8, shape="rows", size="rows", high=str(int(max(Kind))), note="Kind"),
        Array(name="segment_kernel", type=U8, shape="segments", size="segments", member="kernel"),
        Array(name="parent", type=I64, shape="rows", size="rows", low="-1", high="rows - 1", when="not folded"),
        Array(name="successor", type=U32, shape="edges", high="rows - 1", when="not folded"),
        Array(
            name="successor_ptr",
            type=I64,
            shape="rows + 1",
            size="rows + 1",
            points_into="len(successor)",
            when="not folded",
        ),
        Computed(name="tasks", c_type="int64_t", note="ids of tasks are below this"),
        Computed(name="size", c_type="ns_i64s", note="[rows] tasks in the subtree of each row, itself included"),
        Computed(
            name="child",
            c_type="ns_i64s",
            note="[ops] id of the task that an op spawns or calls, less that of its parent, where the graph is folded",
        ),
        Computed(
            name="segment",
            c_type="ns_u32s",
            note="[ops] likewise: number of the op's segment, or of its child's first one, less that of its task",
        ),
        Computed(name="subtree_segments", c_type="ns_u32s", note="[rows] likewise: segments of the subtree"),
    ),
    checked=True,
)
PHASE = Structure(
    "ns_phase",
    "Phase",
    "A part of the program after which all workers meet.",
    (
        Array(name="roots", type=I64, shape="roots", high="rows - 1", note="rows"),
        Integer(name="family", low="-1", high="len(families) - 1", note="-1: none"),
        Value(name="deal", of=Deal),
        Flag(name="serial"),
        Integer(name="repeat", high="MOST_ITEMS"),
        Computed(name="ids", c_type="ns_i64s", note="[roots] ids of the roots"),
        Computed(name="segments", c_type="ns_u32s", note="[roots] number of their first segment"),
    ),
)
SEGMENT_TIMES = Structure(
    "ns_segment_times",
    "SegmentTimes",
    "Times of segments by node, where they are known before the run; those of a node without workers are empty.",
    (
        Integer(name="segments", high="MOST_ITEMS"),
        Arrays(
            name="total_ps", type=I64, shape="nodes, segments", count="nodes", size="segments", low="0",
            high="LONGEST_PS", member="total",
        ),
        Arrays(
            name="local_ps", type=I64, shape="nodes, segments", count="nodes", size="segments", low="0",
            high="LONGEST_PS", member="local",
        ),
        Array(
            name="traffic",
            type=I64,
            shape="segments, nodes",
            high="MOST_BYTES",
            note="bytes of the settled accesses by home, or empty where there are none",
        ),
    ),
    checked=True,
)  # fmt: skip

# ---- memory (model 2) ----------------------------------------------------------------------------------------------

SCAN = Structure(
    "ns_scan",
    "Scan",
    "How automatic NUMA balancing scans memory, and after how many hinting faults pages migrate.",
    (
        _cost("scan_delay_ps", "from the begin of the stage to the first scan", member="delay_ps"),
        _cost("scan_period_ps", "between scans; 0: nothing is scanned", member="period_ps"),
        Integer(name="scan_bytes", low="1", high="MOST_BYTES", note="of a scan", member="bytes"),
        _cost("hint_fault_ps", "of each page; -1: as any page fault", low="-1"),
        Integer(name="migrate_after", low="1", high="255", note="hinting faults of one node in a row"),
    ),
)
STAGE = Structure(
    "ns_stage",
    "Stage",
    "What is done with pages from a phase on.",
    (
        Integer(name="phase", high="MOST_ITEMS"),
        Flag(name="reads_place", note="whether reads place pages"),
        Flag(name="marks", note="every page that is placed when the phase starts migrates to its next toucher"),
        Part(name="scan", of=SCAN),
        Computed(
            name="wish",
            c_type="ns_node_lists",
            note="the nodes of pages that are placed; where nothing is said, that of the toucher",
        ),
        Array(name="wish", type=I32, shape="wishes", high="nodes - 1", member="wish.node"),
        Array(
            name="wish_ptr",
            type=I64,
            shape="regions + 1",
            size="len(region_pages) + 1",
            points_into="len(wish)",
            member="wish.ptr",
        ),
    ),
)
MEMORY = Structure(
    "ns_memory",
    "Memory",
    "Where the pages of regions are (engine/reference/memory/page_map.py).",
    (
        Integer(name="page_bytes", low="1", high="MOST_PAGE_BYTES"),
        Array(name="region_pages", type=I64, shape="regions", high="MOST_BYTES / page_bytes"),
        Array(
            name="unit_pages",
            type=I64,
            shape="regions",
            size="len(region_pages)",
            low="1",
            high="MOST_UNIT_PAGES",
            note="pages that are placed and moved together",
        ),
        Array(
            name="region_dynamic",
            type=U8,
            shape="regions",
            size="len(region_pages)",
            high="1",
            note="whether pages are placed or moved while the program runs",
            member="dynamic",
        ),
        Computed(name="home", c_type="ns_node_lists", note="of dynamic regions before the run"),
        Array(name="home", type=I32, shape="homes", high="nodes - 1", member="home.node"),
        Array(
            name="home_ptr",
            type=I64,
            shape="regions + 1",
            size="len(region_pages) + 1",
            points_into="len(home)",
            member="home.ptr",
        ),
        Listed(name="stages", of=STAGE, note="by phase; the first one is in force before the run"),
        Array(
            name="home_of_node",
            type=I32,
            shape="nodes",
            size="nodes",
            high="nodes - 1",
            note="where memory lives that is wanted on a node: another one if that has no memory",
        ),
        Array(
            name="free_pages",
            type=I64,
            shape="nodes",
            low="-LONGEST_PS",
            high="LONGEST_PS",
            note="empty where memory is not looked at",
        ),
        Array(
            name="nodes_by_distance",
            type=I64,
            shape="nodes, nodes",
            size="len(free_pages) * nodes",
            high="nodes - 1",
            note="the nodes from each one on, nearest first; empty likewise",
            member="by_distance",
        ),
    ),
    checked=True,
)


def _of_accesses(name: str, type: str, member: str, high: str = "", low: str = "", note: str = "") -> Array:
    return Array(
        name=name, type=type, shape="accesses", size="len(access_region)", low=low, high=high, member=member, note=note
    )


ACCESSES = Structure(
    "ns_accesses",
    "Accesses",
    "The accesses of segments, where a run has to look at them one by one.",
    (
        Array(name="access_region", type=U32, shape="accesses", high="len(region_pages) - 1", member="region"),
        _of_accesses("access_offset", I64, "offset", "MOST_BYTES"),
        _of_accesses("access_row_bytes", I64, "row_bytes", "MOST_BYTES"),
        _of_accesses("access_rows", I64, "rows", "MOST_ACCESS_ROWS"),
        _of_accesses("access_stride", I64, "stride", "MOST_ACCESS_ROWS"),
        _of_accesses("access_factor", I64, "factor", "MOST_FACTOR", note="bytes moved for each byte of the footprint"),
        _of_accesses("access_mlp", I64, "mlp", "MILLION", low="1", note="misses under way at once"),
        _of_accesses("access_writes", U8, "writes", "1"),
        Array(
            name="settled_bytes",
            type=I64,
            shape="accesses, nodes",
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
        Computed(name="ptr", c_type="ns_i64s", note="[segments + 1] into `access`"),
        Array(name="open_access", type=I64, shape="open accesses", high="len(access_region) - 1", member="access"),
        _times("compute_ps", "segments", "segments", member="compute"),
        _times("settled_ps", "nodes, segments", "nodes * segments", "memory time of the other accesses", "settled"),
        _latencies("latency_ps", "from a core of the first to memory of the second"),
    ),
    checked=True,
)

# ---- ranges of items (model 3.5) -----------------------------------------------------------------------------------

ITEM_ACCESS = Structure(
    "ns_item_access",
    "ItemAccess",
    "One access of the items of a range, tabulated over the distinct offsets that they give it.",
    (
        Integer(name="divisor", low="1", high="INT64_MAX"),
        Flag(name="by_quotient"),
        Flag(name="by_remainder"),
        Array(name="traffic", type=I64, shape="rows, nodes", high="MOST_BYTES", note="bytes by home"),
        Arrays(
            name="wait_ps", type=I64, shape="nodes, rows", count="nodes", size="len(traffic) / nodes", low="0",
            high="LONGEST_PS", member="wait", note="memory time, empty for a node without workers",
        ),
    ),
)  # fmt: skip
FAMILY = Structure(
    "ns_family",
    "Family",
    "Like tasks that are never materialised.",
    (
        Integer(name="count", high="MOST_ITEMS"),
        Integer(name="kernel", high="255", c_type="uint32_t"),
        Integer(name="low_ps", high="LONGEST_PS"),
        Integer(name="high_ps", low="low_ps", high="LONGEST_PS"),
        _times("local_wait_ps", "nodes", "nodes", "memory time if all bytes were local", "local_wait"),
        Listed(name="accesses", of=ITEM_ACCESS),
    ),
    checked=True,
)

# ---- what couples running segments (model 2.4 to 2.9) --------------------------------------------------------------

SEGMENT_NEEDS = Structure(
    "ns_segment_needs",
    "SegmentNeeds",
    "What the segments of the graph compute and touch.",
    (
        _times("segment_compute_ps", "segments", "segments", member="compute_ps"),
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
        _of_accesses("access_passes", I64, "passes", "MOST_PASSES", low="1"),
        _of_accesses("access_misses", I64, "misses", "MOST_MISSES", low="1", note="under way at once, times 1000"),
    ),
    checked=True,
)
CACHE_SIZES = Structure(
    "ns_cache_sizes",
    "CacheSizes",
    "The caches.",
    (
        Choice(name="cache", of=CacheModel, member="model"),
        Integer(name="llc_bytes", high="MOST_BYTES", note="0: none"),
        Integer(name="l2_bytes", low="-1", high="MOST_BYTES", note="-1: none that counts"),
        _cost("llc_hit_ps", member="hit_ps"),
        _cost("llc_remote_hit_ps", member="remote_hit_ps"),
        Integer(name="llc_domains", low="1", high="MOST_WORKERS", c_type="uint64_t", member="domains"),
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
        *_path("read", "what a byte uses that is read from a home"),
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
        _ppm("fault_alpha_ppm", high="1000 * MILLION"),
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
        _ppm("executing_ppm", "speed of a thread beside one that executes", low="1"),
        _ppm("polling_ppm", "beside one that polls", low="1"),
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
        _ppm("worker_spread_ppm"),
    ),
    checked=True,
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
        Array(
            name="resource",
            type=U32,
            shape="uses",
            high="len(resource_capacity) - 1",
            note="that the mean item uses; they ascend",
        ),
        Array(name="units", type=I64, shape="uses", size="len(resource)", high="MOST_BYTES", note="of each"),
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
COUPLED = Structure(
    "ns_effects",
    "Effects",
    "What couples the running segments of a plan: caches, bandwidth, shared cores, clocks, noise.",
    (
        Computed(name="coupled", c_type="bool", note="all else is only there where this holds"),
        Choice(name="contention", of=ContentionModel),
        Flag(name="queueing"),
        _ppm("overlap_ppm"),
        _ppm("task_noise_ppm"),
        _latencies("load_ps", "how long a load takes", member="latency_ps"),
        Part(name="segments", of=SEGMENT_NEEDS),
        Part(name="caches", of=CACHE_SIZES),
        Part(name="resources", of=RESOURCES),
        Part(name="speeds", of=SPEED_RULES),
        Listed(name="seats", of=SEAT, member="prices", note="by price class"),
        Array(name="seat", type=U32, shape="workers", size="workers", high="len(seats) - 1", member="price_class"),
    ),
)

# ---- compiled strategies (model 4) ---------------------------------------------------------------------------------

STEAL = Structure(
    "ns_plan",
    "",
    "A compiled strategy as an executor reads it: the tables of numasim/strategy/steal_plan.py, in memory as there.",
    (
        Records(name="level", of=LEVEL, count="levels"),
        Array(name="queue", type=U32, shape="queue entries", count="none"),
        Array(name="seg", type=U32, shape="segments + 1", points_into="len(queue)", count="none"),
        Array(name="row", type=U32, shape="rows", points_into="len(seg) - 1", count="rows", note="entries of `row`"),
        Array(
            name="weight",
            type=U64,
            shape="segments",
            size="len(seg) - 1",
            count="none",
            note="cumulative within a row, for NS_VISIT_WEIGHTED",
        ),
        Array(
            name="watch",
            type=I32,
            shape="watches, 2",
            count="watches",
            width=2,
            note="the bit is set at length >= [0], cleared at length <= [1]",
        ),
        Records(name="chance", of=CHANCE, count="chances"),
        Records(name="queues", of=QUEUE, count="queue_count"),
        Records(name="data", of=DATA, count="data_count"),
        Array(
            name="own",
            type=U32,
            shape="workers",
            size="workers",
            count="none",
            note="the worker's own queue, or NS_NO_QUEUE",
        ),
        Array(
            name="position_node",
            type=I32,
            shape="workers + 1",
            size="workers + 1",
            high="nodes - 1",
            member="node",
            count="none",
            note="of each worker, and of an extra producer",
        ),
        Array(
            name="domains",
            type=I32,
            shape="domains",
            high="nodes - 1",
            count="domain_count",
            note="the nodes that have workers, ascending",
        ),
        _latencies("latency_ps", "from a core of the first to memory of the second", count="none"),
        Integer(name="steal_levels", high="len(level)", c_type="uint32_t"),
        Computed(name="workers", c_type="uint32_t"),
        Computed(name="nodes", c_type="uint32_t"),
        Computed(
            name="mask",
            c_type="const uint64_t *",
            note="[segments][ns_mask_words] the queues of each segment, or NULL: see masks.h",
        ),
    ),
    checked=True,
    order=(
        *("level", "row", "seg", "queue", "weight", "watch", "chance", "queues", "own", "workers", "steal_levels"),
        *("levels", "rows", "watches", "chances", "queue_count", "data", "node", "domains", "latency_ps"),
        *("data_count", "nodes", "domain_count", "mask"),
    ),
)
THRESHOLD_RULES = Structure(
    "ns_threshold_rules",
    "",
    "How the thresholds S (high) and s (low) come about; -1 where they are computed.",
    (
        Integer(name="max_tasks", low="-1", high="LONGEST_PS"),
        Integer(name="min_tasks", low="-1", high="LONGEST_PS"),
        _ppm("fraction_ppm", high="1000 * MILLION"),
        Choice(name="threshold_rule", of=ThresholdRule, member="rule"),
    ),
)
BACKOFF = Structure(
    "ns_backoff",
    "",
    "How long a worker waits after fruitless rounds.",
    (
        Integer(name="backoff_first_ps", high="LONGEST_PS", member="first_ps"),
        Integer(name="backoff_factor", low="1", high="2147483648", member="factor"),
        Integer(name="backoff_max_ps", low="-1", high="LONGEST_PS", member="max_ps", note="-1: without bound"),
        _cost("poll_ps", "the wait where no back-off is given"),
        _cost("scan_ps", "a round without a probe takes at least this long", low="1"),
    ),
)
COSTS = Structure(
    "ns_operation_costs",
    "Costs",
    "What the operations of a runtime take.",
    (
        *(_cost(name) for name in ("push_ps", "locate_ps", "pop_ps", "join_ps", "wait_ps", "resume_ps", "take_ps")),
        *(_cost(name) for name in ("move_ps", "wake_ps", "wake_remote_ps", "fault_ps", "migrate_ps", "signal_ps")),
        _cost("probe_near_ps"),
        _cost("probe_far_ps"),
        _cost("least_probe_ps", low="1"),
        Flag(name="line", note="probes, takes, joins and pushes elsewhere also pay the transfer of the cache line"),
    ),
)

# ---- synchronisation objects (model 5) -----------------------------------------------------------------------------

LOCK_RULES = Structure(
    "ns_lock_rules",
    "",
    "What the kinds of locks go by.",
    (
        Flag(name="lock_fair", member="fair"),
        Integer(name="lock_batch", low="1", high="LONGEST_PS", member="batch"),
        Integer(name="spin_ps", high="LONGEST_PS"),
        _cost("pause_ps"),
        _cost("futex_ps"),
        Computed(name="wake_ps", c_type="int64_t"),
        Computed(name="wake_remote_ps", c_type="int64_t"),
    ),
)
TRANSFERS = Structure(
    "ns_transfers",
    "",
    "What it takes to move a cache line to a worker.",
    (
        Computed(name="between_ps", c_type="const int64_t *", note="[workers][workers] to each from each other's core"),
        _latencies("word_memory_ps", "to a core of the first node from memory of the second", "memory_ps", "none"),
        Computed(name="node", c_type="const int32_t *", note="[workers]"),
        Computed(name="workers", c_type="uint32_t"),
        Computed(name="nodes", c_type="uint32_t"),
        Flag(name="words_cached", member="cached", note="or words live in memory alone"),
    ),
)
WORDS = Structure(
    "ns_plan_words",
    "Words",
    "Synchronisation objects in their places (numasim/strategy/sync_places.py); those of the program come first.",
    (
        Array(name="word_role", type=U8, shape="words", high=LAST_ROLE, member="role", note="Role"),
        Array(name="word_home", type=I32, shape="words", size="len(word_role)", high="nodes - 1", member="home"),
        Array(
            name="worker_home",
            type=I32,
            shape="workers",
            size="workers",
            high="nodes - 1",
            note="where a word that is kept for each worker lives",
        ),
        Array(
            name="word_parties",
            type=I64,
            shape="words",
            size="len(word_role)",
            low="1",
            high="MOST_WORKERS",
            member="parties",
        ),
        Integer(name="words_declared", high="len(word_role)", c_type="uint32_t", member="declared"),
        Array(name="level_lock", type=I32, shape="steal levels, queues", note="or empty; -1: none"),
        Array(name="queue_lock", type=I32, shape="queues", note="or empty; -1: none"),
        Flag(name="looks_first", note="a probe looks into a queue before it takes the queue's lock"),
        Choice(name="lock_kind", of=LockName, member="kind"),
        Choice(name="barrier_kind", of=BarrierName, member="barrier"),
        Part(name="rules", of=LOCK_RULES),
        Part(name="transfers", of=TRANSFERS),
    ),
    checked=True,
)

# ---- what new tasks are about (thesis 5.3 to 5.5) ------------------------------------------------------------------

ITEM_OBJECT = Structure(
    "ns_item_object",
    "ItemObject",
    "One object of every item of a range, at home on `home[row]`; the row is as in ItemAccess.",
    (
        Integer(name="divisor", low="1", high="INT64_MAX"),
        Flag(name="by_quotient"),
        Flag(name="by_remainder"),
        Array(name="home", type=I32, shape="rows", low="NOWHERE", high="nodes - 1"),
        Integer(name="bytes", high="MOST_BYTES"),
        Integer(name="mode", low=str(int(Counted.READS)), high=str(int(Counted.BOTH)), c_type="uint32_t"),
    ),
)
ITEM_OBJECTS = Structure(
    "ns_item_objects",
    "ItemObjects",
    "The objects of the items of a family.",
    (Listed(name="objects", of=ITEM_OBJECT),),
)


def _of_objects(name: str, type: str, member: str, low: str, high: str, note: str = "") -> Array:
    return Array(
        name=name, type=type, shape="objects", size="len(object_home)", low=low, high=high, member=member, note=note
    )


TASK_OBJECTS = Structure(
    "ns_task_objects",
    "TaskObjects",
    "What new tasks are about (engine/reference/memory/object_map.py): row r has ptr[r] .. ptr[r + 1].",
    (
        Array(name="object_home", type=I32, shape="objects", low="OPEN_HOME", high="nodes - 1", member="home"),
        Array(
            name="object_ptr",
            type=I64,
            shape="rows + 1",
            size="rows + 1",
            points_into="len(object_home)",
            member="ptr",
        ),
        _of_objects("object_mode", U8, "mode", str(int(Counted.READS)), str(int(Counted.BOTH))),
        _of_objects("object_count", I64, "count", "0", "MOST_OBJECTS"),
        _of_objects("object_bytes", I64, "bytes", "0", "MOST_OBJECT_BYTES"),
        _of_objects("object_access", I64, "access", "-1", "INT64_MAX", "of an object whose home is looked up"),
        Listed(name="item_objects", of=ITEM_OBJECTS, count="len(families)", member="families"),
    ),
    checked=True,
)

# ---- the whole -----------------------------------------------------------------------------------------------------

PLAN = Structure(
    "ns_full_plan",
    "Plan",
    "Everything that an engine is given.",
    (
        Integer(name="workers", low="1", high="MOST_WORKERS", c_type="uint32_t"),
        Integer(name="nodes", low="1", high="MOST_NODES", c_type="uint32_t"),
        Array(name="node", type=I32, shape="workers", size="workers", high="nodes - 1"),
        Flag(name="skipping", note="only steals are events (model 1.7)"),
        Flag(name="skip"),
        Part(name="times", of=SEGMENT_TIMES),
        Part(name="graph", of=GRAPH),
        Flag(name="looks_at_accesses"),
        Part(name="memory", of=MEMORY, when="looks_at_accesses"),
        Part(name="accesses", of=ACCESSES, when="looks_at_accesses"),
        Array(name="open_ptr", type=I64, shape="segments + 1", member="open.ptr"),
        Part(name="open", of=OPEN_ACCESSES, when="len(open_ptr) > 0"),
        Listed(name="families", of=FAMILY),
        Flag(name="coupled", member="effects.coupled"),
        Part(name="effects", of=COUPLED, when="coupled"),
        Listed(name="phases", of=PHASE),
        Integer(name="refill", low="-1", high="LONGEST_PS", note="-1: the queue's own threshold s"),
        Flag(name="work_first"),
        Part(name="steal", of=STEAL),
        Part(name="thresholds", of=THRESHOLD_RULES),
        Choice(name="threshold_time", of=ThresholdTime),
        Part(name="backoff", of=BACKOFF),
        Flag(name="backoff_after_probe"),
        Flag(name="backoff_counts_empty"),
        Part(name="costs", of=COSTS),
        Array(
            name="line_ps",
            type=I64,
            shape="workers, workers",
            high="MOST_COST_PS",
            note="transfer of a cache line to each worker from each other's core; empty where no line moves",
        ),
        Part(name="words", of=WORDS),
        Choice(name="join", of=JoinKind),
        Choice(name="producer", of=ProducerKind, member="maker"),
        Flag(name="begins_released", note="a worker begins the first task whose last predecessor it has finished"),
        _ppm("inline_resume_ppm"),
        Flag(name="own_dispatch", note="every worker puts new tasks into its own queue alone"),
        Flag(name="sees_marks_only"),
        Flag(name="one_queue_each"),
        Integer(name="room", high="INT64_MAX", note="tasks that all queues hold together"),
        Flag(name="looks_at_data", note="a dispatch rule asks where the objects of a new task are"),
        Part(name="objects", of=TASK_OBJECTS, when="looks_at_data"),
        Computed(name="locks_search", c_type="bool", note="a search takes locks"),
        Computed(name="locks_probes", c_type="bool", note="even for fruitless probes"),
        Computed(name="own_never_full", c_type="bool", note="every new task finds room in its worker's own queue"),
        Computed(name="inlines", c_type="bool", note="spawns are executed at once where a queue overflows"),
        Computed(name="puts_take_time", c_type="bool"),
    ),
    checked=True,
)

# ---- beside the plan, in files for the runtime ---------------------------------------------------------------------

FILE = Structure(
    "",
    "",
    "A seed, who runs what where, and what segments compute, so that one may take as long as it is measured to.",
    (
        Word(name="seed", note="of runs that are given none, and of what the file holds that is drawn before a run"),
        Array(name="subtree_end", type=I64, shape="rows", note="one more than the last row of each subtree"),
        Text(name="strategy"),
        Array(name="thread", type=I32, shape="workers", note="hardware thread of each worker"),
        Array(name="compute_ps", type=I64, shape="segments"),
    ),
)
FILE_WAITS = Structure(
    "",
    "",
    "Where there are accesses: how long a segment waits on a node.",
    (
        Array(name="settled_ps", type=I64, shape="nodes, segments", note="for the accesses whose homes are known"),
        Array(name="local_wait_ps", type=I64, shape="nodes, segments", note="for all of them if they were local"),
    ),
)
