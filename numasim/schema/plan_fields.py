"""The fields of a plan: names, types, shapes and bounds, in the order in which they are read.

The native engine is given them as a dict of arrays (`numasim.engine.native`), the runtime as a file
(`numasim.runtime.fields_file`). Times are in ps, sizes in bytes, shares in parts per million (ppm). A row is a task of
the graph; a segment is a part of a task that computes and accesses memory; a range is many similar tasks, its items, by
one rule (a family). The home of a byte is the node whose memory holds it. Notes become comments in C.
"""

from __future__ import annotations

from numasim.schema import enumerations as enums
from numasim.schema.field_kinds import (
    I32,
    I64,
    U8,
    U32,
    U64,
    Array,
    Choice,
    Computed,
    Field,
    Flag,
    Integer,
    Listed,
    Part,
    Records,
    Structure,
    Value,
    by_node,
    cost,
    latencies,
    of_accesses,
    of_domains,
    of_homes,
    of_nodes,
    of_objects,
    of_regions,
    of_rows,
    of_words,
    of_workers,
    pointer,
    ppm,
    times,
)
from numasim.schema.record_layouts import CHANCE, DATA, LEVEL, QUEUE

# The tables keep their own line breaks.
# fmt: off

# ---- The fields of coupled segments: caches, bandwidth, shared cores, clocks, noise (model 2.4 to 2.9) --------------

SEGMENT_NEEDS = Structure(
    "ns_segment_needs", "SegmentNeeds", "The computing and the accesses of the segments of the graph.",
    (
        times("segment_compute_ps", "segments", "segments", member="compute_ps"),
        pointer("segment_accesses", "segments + 1", "segments + 1", "len(access_region)", member="first_access"),
        of_accesses("access_mode", U8, str(int(max(enums.Mode))), low=str(int(min(enums.Mode))), member="mode",
                    note="Mode"),
        of_accesses("access_passes", I64, "MOST_PASSES", member="passes", low="1"),
        of_accesses("access_misses", I64, "MOST_MISSES", member="misses", low="1",
                    note="misses under way at once, times 1000"),
    ),
    checked=True,
    requires=(("len(settled_bytes) == len(access_region) * nodes", "settled_bytes is missing"),),
)
CACHE_SIZES = Structure(
    "ns_cache_sizes", "CacheSizes", "The caches.",
    (
        Choice("cache", enums.CacheModel, member="model"),
        Integer("l2_bytes", low="-1", high="MOST_BYTES", note="-1: no cache that counts"),
        cost("llc_hit_ps", member="hit_ps"),
        cost("llc_remote_hit_ps", member="remote_hit_ps"),
        Flag("llc_forwards", member="forwards", note="clean lines, too, come from other caches"),
        Integer("llc_domains", low="1", high="MOST_WORKERS", c_type="uint64_t", member="domains"),
        of_domains("llc_bytes", I64, "MOST_BYTES", low="0", note="0: no cache"),
        of_workers("llc_domain", U32, "llc_domains - 1", member="domain", note="the last-level cache of each worker"),
        Computed("region_bytes", "ns_i64s", note="[regions]"),
    ),
    checked=True,
)

def _path(name: str, note: str) -> tuple[Field, ...]:
    pairs, uses = "nodes * nodes + 1", f"len({name}_resource)"
    return (
        Computed(f"{name}s", "ns_paths", note=note),
        Array(f"{name}_resource", U32, "uses", high="len(resource_capacity) - 1", member=f"{name}s.resource"),
        Array(f"{name}_per_line", I64, "uses", size=uses, high="MOST_BYTES", member=f"{name}s.per_line",
              note="units that a line takes"),
        pointer(f"{name}_first", pairs, pairs, uses, member=f"{name}s.first"),
    )

RESOURCES = Structure(
    "ns_resources", "Resources",
    "The resources that flows share. Capacities are in units per second: bytes, or page faults.",
    (
        Array("resource_capacity", I64, "resources", low="1", high="MOST_UNITS_PER_S", member="capacity"),
        *_path("read", "the resources that a line uses when it is read from a home"),
        *_path("write", "the resources that a line uses when it is written back to a home"),
        *_path("move", "the resources that a line uses when it moves between caches"),
        of_domains("llc_port", I32, "len(resource_capacity) - 1", low="-1", note="-1: none"),
        Integer("faults", low="-1", high="len(resource_capacity) - 1", c_type="int32_t",
                note="the address space, or -1"),
        Integer("fault_units", high="MOST_COST_PS", note="of the address space that a page fault takes"),
        ppm("fault_alpha_ppm", high="1000 * MILLION"),
    ),
    requires=(("len(resource_capacity) >= nodes", "resource_capacity has no entry for each node"),),
)
SPEED_RULES = Structure(
    "ns_speed_rules", "SpeedRules", "The rules for the speeds of workers.",
    (
        of_workers("core", U32, "MOST_WORKERS"),
        of_workers("socket", U32, "MOST_WORKERS"),
        Flag("slows_memory", note="workers that share a core also wait longer for memory"),
        ppm("executing_ppm", "speed of a thread beside one that executes", low="1"),
        ppm("polling_ppm", "beside one that polls", low="1"),
        Array("clock_active", I64, "steps", note="empty if the clock is fixed"),
        Array("clock_hz", I64, "steps", size="len(clock_active)", low="1", high="MOST_HZ"),
        Integer("clock_base_hz", low="1", high="MOST_HZ"),
        of_workers("core_ppm", I64, "MILLION", low="1", note="speed of computing of each worker's core"),
        ppm("worker_spread_ppm"),
    ),
)
ITEM_ACCESS_PRICE = Structure(
    "ns_item_access_price", "ItemAccessPrice", "One access of the items of a range, tabulated like its ItemAccess.",
    (
        Flag("owned", note="bytes are fetched for ownership"),
        Array("wait_ps", I64, "rows", high="LONGEST_PS", member="wait"),
        Array("fetched", I64, "rows, nodes", size="len(wait_ps) * nodes", high="MOST_BYTES"),
        Array("written", I64, "rows, nodes", size="len(wait_ps) * nodes", high="MOST_BYTES"),
        Integer("cached_bytes", high="MOST_BYTES"),
    ),
)
FAMILY_PRICE = Structure(
    "ns_family_price", "FamilyPrice",
    "The prices of the items of a family for the workers of a seat, and the demands of these workers.",
    (
        Integer("local_wait_ps", high="LONGEST_PS"),
        Integer("mean_compute_ps", high="LONGEST_PS"),
        Integer("mean_wait_ps", high="LONGEST_PS"),
        Integer("mean_pages_ps", high="LONGEST_PS", note="time of page faults and of giving back memory"),
        Array("resource", U32, "uses", high="len(resource_capacity) - 1",
              note="resources that the mean item uses, ascending"),
        Array("units", I64, "uses", size="len(resource)", high="LONGEST_PS", note="units of each resource"),
        Listed("accesses", ITEM_ACCESS_PRICE),
    ),
)
SEAT = Structure(
    "ns_seat", "Seat", "Workers that pay the same prices.",
    (Listed("families", FAMILY_PRICE, count="len(families)"),),
    checked=True,
)
PAGE_COSTS = Structure(
    "ns_page_costs", "PageCosts", "The costs of items that touch memory first or give memory back.",
    (
        cost("unmap_ps", "the time of giving back a page of the own node"),
        Array("unmap_far_ps", I64, "nodes, homes", size="nodes * nodes", high="LONGEST_PS",
              note="the time of giving back a page of each home, as seen from each node"),
        Integer("flush_ps", high="LONGEST_PS", note="the time of a flush, for all other threads together"),
        Integer("unmap_batch", high="MOST_BYTES", note="pages a flush; 0: all pages that an item gives back"),
    ),
)
HELPERS = Structure(
    "ns_helpers", "Helpers", "Helper threads (model 4.11).",
    (
        of_workers("helper", U8, "1", member="has", note="whether each worker has a helper"),
        Integer("helper_lifespan", high="MOST_BYTES", member="lifespan_bytes"),
        Integer("helper_work_ppm", high="MILLION", member="work_ppm"),
        cost("helper_start_ps", member="start_ps"),
        cost("helper_restart_ps", member="restart_ps"),
    ),
)
COUPLED = Structure(
    "ns_effects", "Effects",
    "The couplings of the running segments of a plan: caches, bandwidth, shared cores, clocks, noise.",
    (
        Computed("coupled", "bool", note="all other fields are there only if this holds"),
        Choice("contention", enums.ContentionModel),
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

# ---- The fields of memory: pages, their homes, and the accesses of segments (model 2) -------------------------------

SCAN = Structure(
    "ns_scan", "Scan", "How automatic NUMA balancing scans memory, and after how many hinting faults pages migrate.",
    (
        cost("scan_delay_ps", "from the begin of the stage to the first scan", member="delay_ps"),
        cost("scan_period_ps", "between scans; 0: nothing is scanned", member="period_ps"),
        Integer("scan_bytes", low="1", high="MOST_BYTES", note="of a scan", member="bytes"),
        cost("hint_fault_ps", "the time of a hinting fault of a page; -1: the time of any page fault", low="-1"),
        Integer("migrate_after", low="1", high="255", note="hinting faults of one node in a row"),
    ),
)
STAGE = Structure(
    "ns_stage", "Stage", "The rules for pages from a phase on.",
    (
        Integer("phase", high="MOST_ITEMS"),
        Flag("reads_place", note="whether reads place pages"),
        Flag("marks", note="every page that is placed when the phase starts migrates to its next toucher"),
        Part("scan", SCAN),
        Computed("wish", "ns_node_lists", note="the nodes of pages that are placed; the node of the toucher if empty"),
        Array("wish", I32, "wishes", high="nodes - 1", member="wish.node"),
        pointer("wish_ptr", "regions + 1", "len(region_pages) + 1", "len(wish)", member="wish.ptr"),
    ),
)
MEMORY = Structure(
    "ns_memory", "Memory", "Where the pages of regions are (engine/reference/memory/page_map.py).",
    (
        Integer("page_bytes", low="1", high="MOST_PAGE_BYTES"),
        Array("region_pages", I64, "regions", high="MOST_BYTES / page_bytes"),
        of_regions("unit_pages", I64, "MOST_UNIT_PAGES", low="1", note="pages that are placed and moved together"),
        of_regions("region_dynamic", U8, "1", member="dynamic",
                   note="whether pages are placed or moved while the program runs"),
        Computed("home", "ns_node_lists", note="homes of the pages of dynamic regions before the run"),
        Array("home", I32, "homes", high="nodes - 1", member="home.node"),
        pointer("home_ptr", "regions + 1", "len(region_pages) + 1", "len(home)", member="home.ptr"),
        Listed("stages", STAGE, note="by phase; the first one is in force before the run"),
        of_nodes("home_of_node", I32, "nodes - 1",
                 note="the node of memory that is wanted on each node: another node if that node has no memory"),
        Array("free_pages", I64, "nodes", full="nodes", low="-LONGEST_PS", high="LONGEST_PS",
              note="empty if nodes cannot be full"),
        Array("nodes_by_distance", I64, "nodes, nodes", size="len(free_pages) * nodes", high="nodes - 1",
              note="all nodes by distance from each node, nearest first; empty if nodes cannot be full",
              member="by_distance"),
    ),
    checked=True,
    requires=(("len(stages) > 0", "stages has no entry"),),
)

ACCESSES = Structure(
    "ns_accesses", "Accesses", "The accesses of segments, for runs that need them one by one.",
    (
        Array("access_region", U32, "accesses", high="len(region_pages) - 1", member="region"),
        of_accesses("access_offset", I64, "MOST_BYTES", member="offset"),
        of_accesses("access_row_bytes", I64, "MOST_BYTES", member="row_bytes"),
        of_accesses("access_rows", I64, "MOST_ACCESS_ROWS", member="rows"),
        of_accesses("access_stride", I64, "MOST_STRIDE", member="stride"),
        of_accesses("access_factor", I64, "MOST_FACTOR", member="factor",
                    note="bytes moved for each byte of the footprint"),
        of_accesses("access_mlp", I64, "MILLION", member="mlp", low="1", note="misses under way at once"),
        of_accesses("access_writes", U8, "1", member="writes"),
        Array("settled_bytes", I64, "accesses, nodes", full="len(access_region) * nodes", high="MOST_BYTES",
              note="footprint on each home before the run; empty if unused", member="settled"),
    ),
    checked=True,
)
OPEN_ACCESSES = Structure(
    "ns_open_accesses", "OpenAccesses",
    "Accesses whose pages are placed or moved during the run; `ptr` is empty if there are none.",
    (
        Computed("ptr", "ns_i64s", note="[segments + 1] into `access`"),
        Array("open_access", I64, "open accesses", high="len(access_region) - 1", member="access"),
        times("compute_ps", "segments", "segments", member="compute"),
        times("settled_ps", "nodes, segments", "nodes * segments", "memory time of the other accesses", "settled"),
        latencies("latency_ps", "from a core of the first to memory of the second"),
    ),
    checked=True,
)

# ---- The fields of programs of tasks, and of ranges of items that are never materialised (model 3) ------------------

GRAPH = Structure(
    "ns_graph", "Graph",
    "Programs of tasks in CSR form (numasim/workload/graph.py). A folded graph has one row for all equal subtrees.",
    (
        Integer("rows", high="MOST_ROWS"),
        Flag("folded"),
        Array("op_code", U8, "ops", high=str(int(max(enums.Op))), note="Op"),
        Array("op_arg", U32, "ops", size="len(op_code)"),
        pointer("op_ptr", "rows + 1", "rows + 1", "len(op_code)"),
        of_rows("kind", U8, str(int(max(enums.Kind))), note="Kind"),
        Array("segment_kernel", U8, "segments", size="segments", member="kernel"),
        of_rows("parent", I64, "rows - 1", low="-1", when="not folded"),
        Array("successor", U32, "edges", high="rows - 1", when="not folded"),
        pointer("successor_ptr", "rows + 1", "rows + 1", "len(successor)", when="not folded"),
        Computed("tasks", "int64_t", note="ids of tasks are below this"),
        Computed("size", "ns_i64s", note="[rows] number of tasks in the subtree of each row, the row included"),
        Computed("child", "ns_i64s",
                 note="[ops] id of the task that an op spawns or calls, less the id of the parent, "
                      "if the graph is folded"),
        Computed("segment", "ns_u32s",
                 note="[ops] number of the op's segment, or of the first segment of the op's child, "
                      "less the number of the first segment of the op's task, if the graph is folded"),
        Computed("subtree_segments", "ns_u32s",
                 note="[rows] number of segments of the subtree, if the graph is folded"),
    ),
    checked=True,
)
PHASE = Structure(
    "ns_phase", "Phase", "A part of the program after which all workers meet.",
    (
        Array("roots", I64, "roots", high="rows - 1", note="rows"),
        Integer("family", low="-1", high="len(families) - 1", note="-1: none"),
        Value("deal", enums.Deal),
        Flag("serial"),
        Integer("repeat", low="1", high="MOST_ITEMS"),
        Computed("ids", "ns_i64s", note="[roots] ids of the roots"),
        Computed("segments", "ns_u32s", note="[roots] number of the first segment of each root"),
    ),
)
LOOP = Structure(
    "ns_loop", "Loop",
    "The phases from `first` to `end` - 1, which a program goes through `repeat` times, one after the other.",
    (
        Integer("first", high="len(phases) - 1"),
        Integer("end", low="first + 1", high="len(phases)"),
        Integer("repeat", low="1", high="MOST_ITEMS"),
    ),
)
SEGMENT_TIMES = Structure(
    "ns_segment_times", "SegmentTimes",
    "Times of segments by node, if they are known before the run; empty for a node without workers.",
    (
        Integer("segments", high="MOST_ITEMS"),
        by_node("total_ps", "segments", "segments", "total"),
        by_node("local_ps", "segments", "segments", "local"),
        Array("traffic", I64, "segments, nodes", full="segments * nodes", high="MOST_BYTES",
              note="bytes of the settled accesses by home, empty if there are none"),
    ),
    checked=True,
)

# ---- The fields of ranges of items (model 3.5) -----------------------------------------------------------------------

ITEM_ACCESS = Structure(
    "ns_item_access", "ItemAccess", "One access of the items of a range, tabulated over its distinct offsets.",
    (
        Integer("divisor", low="1", high="INT64_MAX"),
        Flag("by_quotient"),
        Flag("by_remainder"),
        Array("traffic", I64, "rows, nodes", high="MOST_BYTES", note="bytes by home"),
        by_node("wait_ps", "rows", "len(traffic) / nodes", "wait",
                note="memory time, empty for a node without workers"),
    ),
    requires=(("len(traffic) % nodes == 0", "traffic does not have whole rows"),),
)
AMOUNTS = Structure(
    "ns_amounts", "Amounts",
    "A whole number for each item of a range, or a table to draw them from (numasim/workload/amounts.py).",
    (
        Array("amounts", I64, "items", high="LONGEST_PS", member="items", note="empty if drawn"),
        Array("part_start", U64, "parts", member="start", note="the lowest number that finds each part"),
        Array("part_low", I64, "parts", size="len(part_start)", high="LONGEST_PS", member="low"),
        Array("part_high", I64, "parts", size="len(part_start)", high="LONGEST_PS", member="high"),
    ),
    checked=True,
)
NODE_ACCESS = Structure(
    "ns_node_access", "NodeAccess", "Bytes that items move from and to given homes, which no cache serves.",
    (
        Part("amounts", AMOUNTS),
        Array("home", I32, "homes", low="0", high="nodes - 1"),
        of_homes("share_end", I64, "MOST_SHARES", low="1",
                 note="the end of each home's share of an amount, in units of which the last end is the whole"),
        Flag("owned", note="bytes are fetched for ownership"),
        Flag("written", note="bytes are written back"),
        Integer("misses", low="1", high="MOST_MISSES", note="under way at once, times 1000"),
        Integer("returned_ppm", high="MILLION", note="the part of the bytes' memory that the item gives back"),
        Array("latency_ps", I64, "nodes, homes", size="nodes * len(home)", high="MOST_COST_PS", member="latency"),
        times("local_latency_ps", "nodes", "nodes", "of each node's own memory", "local_latency"),
    ),
)
PAGE_AMOUNTS = Structure(
    "ns_page_amounts", "PageAmounts", "Bytes of memory that each item touches first, or gives back.",
    (Part("amounts", AMOUNTS),),
)
FAMILY = Structure(
    "ns_family", "Family", "Similar tasks that are never materialised.",
    (
        Integer("count", high="MOST_ITEMS"),
        Integer("kernel", high="255", c_type="uint32_t"),
        Integer("low_ps", high="LONGEST_PS"),
        Integer("high_ps", low="low_ps", high="LONGEST_PS"),
        Part("compute", AMOUNTS, note="empty if times are uniform between the two"),
        times("local_wait_ps", "nodes", "nodes", "memory time if all bytes were local", "local_wait"),
        Listed("accesses", ITEM_ACCESS),
        Listed("node_accesses", NODE_ACCESS),
        Listed("fresh", PAGE_AMOUNTS, note="bytes of memory that items touch first: none, or one"),
        Listed("freed", PAGE_AMOUNTS, note="bytes of memory that items give back: none, or one"),
    ),
    checked=True,
)

# ---- The fields of the objects of new tasks (thesis 5.3 to 5.5) ------------------------------------------------------

ITEM_OBJECT = Structure(
    "ns_item_object", "ItemObject",
    "One object of every item of a range, at home on `home[row]`; the row is as in ItemAccess.",
    (
        Integer("divisor", low="1", high="INT64_MAX"),
        Flag("by_quotient"),
        Flag("by_remainder"),
        Array("home", I32, "rows", low="NOWHERE", high="nodes - 1"),
        Integer("bytes", high="MOST_BYTES"),
        Integer("mode", low=str(int(enums.Counted.READS)), high=str(int(enums.Counted.BOTH)), c_type="uint32_t"),
    ),
)
ITEM_OBJECTS = Structure(
    "ns_item_objects", "ItemObjects", "The objects of the items of a family.", (Listed("objects", ITEM_OBJECT),)
)

TASK_OBJECTS = Structure(
    "ns_task_objects", "TaskObjects",
    "The objects of new tasks (engine/reference/memory/page_map.py): row r has ptr[r] .. ptr[r + 1].",
    (
        Array("object_home", I32, "objects", low="OPEN_HOME", high="nodes - 1", member="home"),
        pointer("object_ptr", "rows + 1", "rows + 1", "len(object_home)", member="ptr"),
        of_objects("object_mode", U8, str(int(enums.Counted.BOTH)), low=str(int(enums.Counted.READS)), member="mode"),
        of_objects("object_count", I64, "MOST_OBJECTS", member="count"),
        of_objects("object_bytes", I64, "MOST_OBJECT_BYTES", member="bytes"),
        of_objects("object_access", I64, "INT64_MAX", low="-1", member="access",
                   note="of an object whose home is looked up"),
        Listed("item_objects", ITEM_OBJECTS, count="len(families)", member="families"),
    ),
    checked=True,
)

# ---- The fields of synchronisation objects (model 5) ----------------------------------------------------------------

LOCK_RULES = Structure(
    "ns_lock_rules", "", "The parameters of the kinds of locks.",
    (
        Flag("lock_fair", member="fair"),
        Integer("lock_batch", low="1", high="LONGEST_PS", member="batch"),
        Integer("spin_ps", high="LONGEST_PS"),
        cost("pause_ps"),
        cost("futex_ps"),
        Computed("wake_ps", "int64_t"),
        Computed("wake_remote_ps", "int64_t"),
    ),
)
TRANSFERS = Structure(
    "ns_transfers", "", "The times to move a cache line to a worker.",
    (
        Computed("between_ps", "const int64_t *", note="[workers][workers] to each from each other's core"),
        latencies("word_memory_ps", "to a core of the first node from memory of the second", "memory_ps", "none"),
        Computed("node", "const int32_t *", note="[workers]"),
        Computed("workers", "uint32_t"),
        Computed("nodes", "uint32_t"),
        Flag("words_cached", member="cached", note="or words live in memory alone"),
    ),
)
WORDS = Structure(
    "ns_plan_words", "Words",
    "Synchronisation objects in their places (numasim/strategy/sync_places.py); the program's objects come first.",
    (
        Array("word_role", U8, "words", high=str(int(max(enums.Role))), member="role", note="Role"),
        of_words("word_home", I32, "nodes - 1", member="home"),
        of_workers("worker_home", I32, "nodes - 1", note="the node of a word that is kept for each worker"),
        of_words("word_parties", I64, "MOST_WORKERS", low="1", member="parties"),
        of_words("word_undo", I64, "MOST_COST_PS", member="undo_ps",
                 note="the wait after an aborted attempt on a memory of objects"),
        of_words("word_same", U8, "1", member="same",
                 note="the next attempt on a memory of objects opens the same objects"),
        Array("word_weight", I64, "weights", low="1", high="MOST_BYTES", member="weight",
              note="of the objects of memories that are not drawn uniformly, summed up to and with each object"),
        pointer("word_weight_ptr", "words + 1", "len(word_role) + 1", "len(word_weight)", member="weight_ptr",
                note="of each memory of objects; empty where its objects are equally likely"),
        Integer("words_declared", high="len(word_role)", c_type="uint32_t", member="declared"),
        Array("level_lock", I32, "steal levels, queues", full="steal_levels * len(queues)",
              note="the lock of a probe, -1: no lock; empty if there are none"),
        Array("queue_lock", I32, "queues", full="len(queues)",
              note="the lock of each queue, -1: no lock; empty if there are none"),
        Flag("looks_first", note="a probe looks into a queue before it takes the queue's lock"),
        Choice("lock_kind", enums.LockName, member="kind"),
        Choice("barrier_kind", enums.BarrierName, member="barrier"),
        Part("rules", LOCK_RULES),
        Part("transfers", TRANSFERS),
    ),
    checked=True,
    requires=(("not len(word_role) or not skipping", "word_role has words, with which nothing is skipped"),),
)

# ---- The fields of compiled strategies, thresholds, back-off and costs (model 4) ------------------------------------

STEAL = Structure(
    "ns_plan", "",
    "A compiled strategy as an executor reads it: the tables of numasim/strategy/steal_plan.py, in memory as there.",
    (
        Records("level", LEVEL, count="levels"),
        Array("queue", U32, "queue entries", count="none"),
        Array("seg", U32, "segments + 1", points_into="len(queue)", count="none"),
        Array("row", U32, "rows", points_into="len(seg) - 1", count="rows", note="entries of `row`"),
        Array("weight", U64, "segments", size="len(seg) - 1", count="none",
              note="cumulative within a row, for NS_VISIT_WEIGHTED"),
        Array("watch", I32, "watches, 2", count="watches", width=2,
              note="the bit is set at length >= [0], cleared at length <= [1]"),
        Records("chance", CHANCE, count="chances"),
        Records("queues", QUEUE, count="queue_count"),
        Records("data", DATA, count="data_count"),
        of_workers("own", U32, count="none", note="the worker's own queue, or NS_NO_QUEUE"),
        Array("position_node", I32, "workers + 1", size="workers + 1", high="nodes - 1", member="node", count="none",
              note="of each worker, and of an extra producer"),
        Array("domains", I32, "domains", high="nodes - 1", count="domain_count",
              note="the nodes that have workers, ascending"),
        of_workers("gate", I32, "workers - 1", count="none",
                   note="the unit of each worker whose live subtrees are counted"),
        Integer("live_most", high="2147483647", note="live subtrees of a unit from which on gated levels are closed"),
        latencies("latency_ps", "from a core of the first to memory of the second", count="none"),
        Integer("steal_levels", high="len(level)", c_type="uint32_t"),
        Computed("workers", "uint32_t"),
        Computed("nodes", "uint32_t"),
        Computed("mask", "const uint64_t *",
                 note="[segments][ns_mask_words] the queues of each segment, or NULL: see policy/pick.h"),
    ),
    checked=True,
    requires=(("len(domains) > 0", "domains has no entry"),),
    order=(
        *("level", "row", "seg", "queue", "weight", "watch", "chance", "queues", "own", "workers", "steal_levels"),
        *("levels", "rows", "watches", "chances", "queue_count", "data", "node", "domains", "latency_ps"),
        *("data_count", "nodes", "domain_count", "mask", "gate", "live_most"),
    ),
)
ADAPTIVE = Structure(
    "ns_adaptive", "", "How the spawn order of a worker adapts to what is stolen from it (model 3.3).",
    (
        Integer("adaptive_stack", high="LONGEST_PS", member="stack",
                note="least depth of calls with help-first; 0: fixed"),
        Integer("adaptive_every", low="1", high="LONGEST_PS", member="every", note="spawns between two decisions"),
        Integer("adaptive_steals", high="LONGEST_PS", member="steals",
                note="least number of stolen tasks for help-first"),
        Flag("adaptive_first", member="work_first", note="at the start"),
    ),
)
CONTROL = Structure(
    "ns_control", "Control",
    "The decisions of a strategy for all tasks of a program, before the first iteration (model 4.14).",
    (
        Array("task_tier", U8, "rows", full="rows", high="4", member="tier", note="Tier; empty: all are local"),
        Array("task_label", I32, "rows", full="rows", low="-1", high="MOST_WORKERS", member="label",
              note="the unit that each task is meant for, -1: no unit; empty if no task has a unit"),
        Array("item_label", I32, "items", high="MOST_WORKERS",
              note="the unit that each item of a range is meant for; empty: by item_units"),
        Integer("item_units", high="MOST_WORKERS",
                note="items of ranges have labels below this number, in equal blocks"),
        Integer("switches", low="-INT64_MAX - 1", high="INT64_MAX", c_type="uint64_t",
                note="a bit for each switch that is on"),
    ),
    checked=True,
    requires=(
        ("not folded or len(task_tier) + len(task_label) == 0", "tiers and labels are those of tasks, not of rows"),
    ),
)
THRESHOLD_RULES = Structure(
    "ns_threshold_rules", "",
    "The thresholds S (`max_tasks`) and s (`min_tasks`), -1 if computed, and the rule by which they are computed.",
    (
        Integer("max_tasks", low="-1", high="LONGEST_PS"),
        Integer("min_tasks", low="-1", high="LONGEST_PS"),
        ppm("fraction_ppm", high="1000 * MILLION"),
        Choice("threshold_rule", enums.ThresholdRule, member="rule"),
    ),
)
BACKOFF = Structure(
    "ns_backoff", "", "How long a worker waits after rounds without a task.",
    (
        Integer("backoff_first_ps", high="LONGEST_PS", member="first_ps"),
        Integer("backoff_factor", low="1", high="2147483648", member="factor"),
        Integer("backoff_max_ps", low="-1", high="LONGEST_PS", member="max_ps", note="-1: without bound"),
        cost("poll_ps", "the wait if no back-off is given"),
        cost("scan_ps", "a round without a probe takes at least this long", low="1"),
    ),
)
COSTS = Structure(
    "ns_operation_costs", "Costs", "The costs of the operations of a runtime.",
    (
        *(cost(name) for name in ("push_ps", "locate_ps", "pop_ps", "join_ps", "wait_ps", "resume_ps", "take_ps")),
        *(cost(name) for name in ("move_ps", "wake_ps", "wake_remote_ps", "fault_ps", "migrate_ps", "signal_ps")),
        cost("probe_near_ps"),
        cost("probe_far_ps"),
        cost("least_probe_ps", low="1"),
        Choice("line", enums.LineName, note="whether and how transfers of cache lines are paid"),
        *(cost(name) for name in ("unpark_ps", "look_ps", "deep_ps", "deep_wake_ps", "yield_ps")),
    ),
)
IDLE_PHASE = Structure(
    "ns_idle_phase", "IdlePhase", "A phase of fruitless rounds of a worker that finds no task.",
    (
        Integer("rounds", high="LONGEST_PS", note="0: the rounds of for_ps"),
        cost("for_ps"),
        cost("wait_ps", "after each round"),
        Flag("naps", note="the worker is off its core in the waits"),
        Flag("yields", note="on threads: the worker yields its core in the waits"),
        Flag("crowded", note="waits grow with the number of searching workers"),
    ),
)
IDLE = Structure(
    "ns_idle", "Idle", "What a worker does that finds no task (numasim/strategy/idle.py).",
    (
        Computed("given", "bool", note="all other fields are there only if this holds"),
        Listed("idle_phases", IDLE_PHASE, member="phases"),
        Integer("cap", high="LONGEST_PS", note="of searching workers; 0: none"),
        Choice("cap_of", enums.CapRule),
        Flag("sleeps"),
        Choice("recheck", enums.RecheckRule),
        cost("sleep_first_ps", "after which a sleep ends by itself; 0: never", member="first_ps"),
        Integer("sleep_factor", low="1", high="1024", member="factor"),
        cost("sleep_max_ps", member="max_ps"),
        Choice("wake_at", enums.WakeRule, member="at"),
        Choice("wake_whom", enums.WhomRule, member="whom"),
        Integer("chain", high="LONGEST_PS", note="workers that are woken by those of chain_by"),
        Choice("chain_by", enums.ChainRule),
        Flag("counted"),
        Flag("cancels"),
        Flag("missed", note="a probe that fails at a lock wakes a sleeper"),
        cost("between_ps", "-1: never", low="-1"),
        Array("reach", U8, "1 + steal levels, queues, workers", high="2",
              note="Reach by the own queue, then by each level; empty: everybody can always take from all queues"),
    ),
)

# ---- The whole plan -------------------------------------------------------------------------------------------------

PLAN = Structure(
    "ns_full_plan", "Plan", "Everything that an engine is given.",
    (
        Integer("workers", low="1", high="MOST_WORKERS", c_type="uint32_t"),
        Integer("nodes", low="1", high="MOST_NODES", c_type="uint32_t"),
        of_workers("node", I32, "nodes - 1"),
        Flag("skipping", note="only steals are events (model 1.7)"),
        Flag("skip"),
        Part("times", SEGMENT_TIMES),
        Part("graph", GRAPH),
        Flag("looks_at_accesses"),
        Part("memory", MEMORY, when="looks_at_accesses"),
        Part("accesses", ACCESSES, when="looks_at_accesses"),
        Array("open_ptr", I64, "segments + 1", full="segments + 1", member="open.ptr"),
        Part("open", OPEN_ACCESSES, when="len(open_ptr) > 0"),
        Listed("families", FAMILY),
        Flag("coupled", member="effects.coupled"),
        Part("effects", COUPLED, when="coupled"),
        Listed("phases", PHASE),
        Listed("loops", LOOP, note="by their first phase, outer ones before the loops in them; they are nested"),
        Integer("refill", low="-1", high="LONGEST_PS", note="-1: the queue's own threshold s"),
        Flag("work_first"),
        Part("adaptive", ADAPTIVE),
        Integer("work_first_tiers", high="EVERY_TIER", c_type="uint32_t",
                note="tiers of tasks that are begun at their spawn"),
        Part("steal", STEAL),
        Part("control", CONTROL),
        Part("thresholds", THRESHOLD_RULES),
        Choice("threshold_time", enums.ThresholdTime),
        Part("backoff", BACKOFF),
        Flag("backoff_after_probe"),
        Flag("backoff_counts_empty"),
        Part("costs", COSTS),
        Array("queue_lines", U8, "queues", low="1", high="2", note="cache lines of each queue's words"),
        Flag("idle_given", member="idle.given"),
        Part("idle", IDLE, when="idle_given"),
        Array("line_ps", I64, "workers, workers", high="MOST_COST_PS",
              note="transfer of a cache line to each worker from the core of each other; empty if no line moves"),
        Part("words", WORDS),
        Choice("join", enums.JoinKind),
        Choice("producer", enums.ProducerKind, member="maker"),
        Flag("begins_released", note="a worker begins the first task whose last predecessor the worker has finished"),
        ppm("inline_resume_ppm"),
        Integer("inline_above", low="-1", high="INT64_MAX",
                note="a new task is executed at once if more other tasks are unfinished; -1: no bound"),
        Flag("own_dispatch", note="every worker puts new tasks into its own queue alone"),
        Flag("sees_marks_only"),
        Flag("one_queue_each"),
        Integer("room", high="INT64_MAX", note="tasks that all queues hold together"),
        Flag("looks_at_data", note="a dispatch rule asks where the objects of a new task are"),
        Part("objects", TASK_OBJECTS, when="looks_at_data"),
        Computed("locks_search", "bool", note="a search takes locks"),
        Computed("locks_probes", "bool", note="probes that find no task take locks, too"),
        Computed("own_never_full", "bool", note="every new task finds room in its worker's own queue"),
        Computed("overflows", "bool", note="spawns are executed at once if a queue overflows"),
        Computed("inlines", "bool", note="spawns may be executed at once, by a queue's length or by `inline_above`"),
        Computed("puts_take_time", "bool"),
        Computed("rules_ask_tasks", "bool", note="a dispatch rule asks for the tier or the label of a task"),
        Computed("counts_live", "bool", note="a steal level depends on how many subtrees are live"),
    ),
    checked=True,
    requires=(("not coupled or looks_at_accesses", "a coupled run looks at accesses"),),
)
