"""The fields of programs of tasks, and of ranges of items that are never materialised (model 3)."""

from __future__ import annotations

from numasim.schema.enumerations import Counted, Deal, Kind, Op
from numasim.schema.field_kinds import (
    I32,
    I64,
    U8,
    U32,
    U64,
    Array,
    Computed,
    Flag,
    Integer,
    Listed,
    Part,
    Structure,
    Value,
    by_node,
    of_homes,
    of_objects,
    of_rows,
    pointer,
    times,
)

GRAPH = Structure(
    "ns_graph",
    "Graph",
    "Programs of tasks in CSR form (numasim/workload/graph.py). A folded graph has one row for all equal subtrees.",
    (
        Integer("rows", high="MOST_ROWS"),
        Flag("folded"),
        Array("op_code", U8, "ops", high=str(int(max(Op))), note="Op"),
        Array("op_arg", U32, "ops", size="len(op_code)"),
        pointer("op_ptr", "rows + 1", "rows + 1", "len(op_code)"),
        of_rows("kind", U8, str(int(max(Kind))), note="Kind"),
        Array("segment_kernel", U8, "segments", size="segments", member="kernel"),
        of_rows("parent", I64, "rows - 1", low="-1", when="not folded"),
        Array("successor", U32, "edges", high="rows - 1", when="not folded"),
        pointer("successor_ptr", "rows + 1", "rows + 1", "len(successor)", when="not folded"),
        Computed("tasks", "int64_t", note="ids of tasks are below this"),
        Computed("size", "ns_i64s", note="[rows] tasks in the subtree of each row, itself included"),
        Computed(
            "child",
            "ns_i64s",
            note="[ops] id of the task that an op spawns or calls, less that of its parent, where the graph is folded",
        ),
        Computed(
            "segment",
            "ns_u32s",
            note="[ops] likewise: number of the op's segment, or of its child's first one, less that of its task",
        ),
        Computed("subtree_segments", "ns_u32s", note="[rows] likewise: segments of the subtree"),
    ),
    checked=True,
)
PHASE = Structure(
    "ns_phase",
    "Phase",
    "A part of the program after which all workers meet.",
    (
        Array("roots", I64, "roots", high="rows - 1", note="rows"),
        Integer("family", low="-1", high="len(families) - 1", note="-1: none"),
        Value("deal", Deal),
        Flag("serial"),
        Integer("repeat", low="1", high="MOST_ITEMS"),
        Computed("ids", "ns_i64s", note="[roots] ids of the roots"),
        Computed("segments", "ns_u32s", note="[roots] number of their first segment"),
    ),
)
LOOP = Structure(
    "ns_loop",
    "Loop",
    "The phases from `first` to `end` - 1, which a program goes through `repeat` times, one after the other.",
    (
        Integer("first", high="len(phases) - 1"),
        Integer("end", low="first + 1", high="len(phases)"),
        Integer("repeat", low="1", high="MOST_ITEMS"),
    ),
)
SEGMENT_TIMES = Structure(
    "ns_segment_times",
    "SegmentTimes",
    "Times of segments by node, where they are known before the run; those of a node without workers are empty.",
    (
        Integer("segments", high="MOST_ITEMS"),
        by_node("total_ps", "segments", "segments", "total"),
        by_node("local_ps", "segments", "segments", "local"),
        Array(
            "traffic",
            I64,
            "segments, nodes",
            high="MOST_BYTES",
            note="bytes of the settled accesses by home, or empty where there are none",
        ),
    ),
    checked=True,
)

# ---- ranges of items (model 3.5) -----------------------------------------------------------------------------------

ITEM_ACCESS = Structure(
    "ns_item_access",
    "ItemAccess",
    "One access of the items of a range, tabulated over the distinct offsets that they give it.",
    (
        Integer("divisor", low="1", high="INT64_MAX"),
        Flag("by_quotient"),
        Flag("by_remainder"),
        Array("traffic", I64, "rows, nodes", high="MOST_BYTES", note="bytes by home"),
        by_node(
            "wait_ps", "rows", "len(traffic) / nodes", "wait", note="memory time, empty for a node without workers"
        ),
    ),
)
AMOUNTS = Structure(
    "ns_amounts",
    "Amounts",
    "A whole number for each item of a range, or a table to draw them from (numasim/workload/amounts.py).",
    (
        Array("amounts", I64, "items", high="LONGEST_PS", member="items", note="empty where drawn"),
        Array("part_start", U64, "parts", member="start", note="the lowest number that finds each"),
        Array("part_low", I64, "parts", size="len(part_start)", high="LONGEST_PS", member="low"),
        Array("part_high", I64, "parts", size="len(part_start)", high="LONGEST_PS", member="high"),
    ),
    checked=True,
)
NODE_ACCESS = Structure(
    "ns_node_access",
    "NodeAccess",
    "Bytes that items move from and to given homes, which no cache serves.",
    (
        Part("amounts", AMOUNTS),
        Array("home", I32, "homes", low="0", high="nodes - 1"),
        of_homes(
            "share_end",
            I64,
            "MOST_SHARES",
            low="1",
            note="where the home's share of an amount ends, in units of which the last one is the whole",
        ),
        Flag("owned", note="what is fetched is fetched for ownership"),
        Flag("written", note="and written back"),
        Integer("misses", low="1", high="MOST_MISSES", note="under way at once, times 1000"),
        Integer("returned_ppm", high="MILLION", note="the part of the bytes' memory that the item gives back"),
        Array("latency_ps", I64, "nodes, homes", size="nodes * len(home)", high="MOST_COST_PS", member="latency"),
        times("local_latency_ps", "nodes", "nodes", "of each node's own memory", "local_latency"),
    ),
)
PAGE_AMOUNTS = Structure(
    "ns_page_amounts",
    "PageAmounts",
    "Bytes of memory that each item touches first, or gives back.",
    (Part("amounts", AMOUNTS),),
)
FAMILY = Structure(
    "ns_family",
    "Family",
    "Like tasks that are never materialised.",
    (
        Integer("count", high="MOST_ITEMS"),
        Integer("kernel", high="255", c_type="uint32_t"),
        Integer("low_ps", high="LONGEST_PS"),
        Integer("high_ps", low="low_ps", high="LONGEST_PS"),
        Part("compute", AMOUNTS, note="empty where times are uniform between the two"),
        times("local_wait_ps", "nodes", "nodes", "memory time if all bytes were local", "local_wait"),
        Listed("accesses", ITEM_ACCESS),
        Listed("node_accesses", NODE_ACCESS),
        Listed("fresh", PAGE_AMOUNTS, note="bytes of memory that items touch first: none, or one"),
        Listed("freed", PAGE_AMOUNTS, note="bytes of memory that items give back: none, or one"),
    ),
    checked=True,
)


# ---- The fields of what new tasks are about (thesis 5.3 to 5.5) ------------------------------------------------------

ITEM_OBJECT = Structure(
    "ns_item_object",
    "ItemObject",
    "One object of every item of a range, at home on `home[row]`; the row is as in ItemAccess.",
    (
        Integer("divisor", low="1", high="INT64_MAX"),
        Flag("by_quotient"),
        Flag("by_remainder"),
        Array("home", I32, "rows", low="NOWHERE", high="nodes - 1"),
        Integer("bytes", high="MOST_BYTES"),
        Integer("mode", low=str(int(Counted.READS)), high=str(int(Counted.BOTH)), c_type="uint32_t"),
    ),
)
ITEM_OBJECTS = Structure(
    "ns_item_objects", "ItemObjects", "The objects of the items of a family.", (Listed("objects", ITEM_OBJECT),)
)


TASK_OBJECTS = Structure(
    "ns_task_objects",
    "TaskObjects",
    "What new tasks are about (engine/reference/memory/page_map.py): row r has ptr[r] .. ptr[r + 1].",
    (
        Array("object_home", I32, "objects", low="OPEN_HOME", high="nodes - 1", member="home"),
        pointer("object_ptr", "rows + 1", "rows + 1", "len(object_home)", member="ptr"),
        of_objects("object_mode", U8, str(int(Counted.BOTH)), low=str(int(Counted.READS)), member="mode"),
        of_objects("object_count", I64, "MOST_OBJECTS", member="count"),
        of_objects("object_bytes", I64, "MOST_OBJECT_BYTES", member="bytes"),
        of_objects(
            "object_access", I64, "INT64_MAX", low="-1", member="access", note="of an object whose home is looked up"
        ),
        Listed("item_objects", ITEM_OBJECTS, count="len(families)", member="families"),
    ),
    checked=True,
)
