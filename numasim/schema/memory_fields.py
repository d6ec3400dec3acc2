"""The fields of memory: pages, their homes, and the accesses of segments (model 2)."""

from __future__ import annotations

from numasim.schema.field_kinds import (
    I32,
    I64,
    U8,
    U32,
    Array,
    Computed,
    Flag,
    Integer,
    Listed,
    Part,
    Structure,
    cost,
    latencies,
    of_accesses,
    times,
)

SCAN = Structure(
    "ns_scan",
    "Scan",
    "How automatic NUMA balancing scans memory, and after how many hinting faults pages migrate.",
    (
        cost("scan_delay_ps", "from the begin of the stage to the first scan", member="delay_ps"),
        cost("scan_period_ps", "between scans; 0: nothing is scanned", member="period_ps"),
        Integer(name="scan_bytes", low="1", high="MOST_BYTES", note="of a scan", member="bytes"),
        cost("hint_fault_ps", "of each page; -1: as any page fault", low="-1"),
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

ACCESSES = Structure(
    "ns_accesses",
    "Accesses",
    "The accesses of segments, where a run has to look at them one by one.",
    (
        Array(name="access_region", type=U32, shape="accesses", high="len(region_pages) - 1", member="region"),
        of_accesses("access_offset", I64, "offset", "MOST_BYTES"),
        of_accesses("access_row_bytes", I64, "row_bytes", "MOST_BYTES"),
        of_accesses("access_rows", I64, "rows", "MOST_ACCESS_ROWS"),
        of_accesses("access_stride", I64, "stride", "MOST_STRIDE"),
        of_accesses("access_factor", I64, "factor", "MOST_FACTOR", note="bytes moved for each byte of the footprint"),
        of_accesses("access_mlp", I64, "mlp", "MILLION", low="1", note="misses under way at once"),
        of_accesses("access_writes", U8, "writes", "1"),
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
        times("compute_ps", "segments", "segments", member="compute"),
        times("settled_ps", "nodes, segments", "nodes * segments", "memory time of the other accesses", "settled"),
        latencies("latency_ps", "from a core of the first to memory of the second"),
    ),
    checked=True,
)
