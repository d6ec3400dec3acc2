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
    Arrays,
    Computed,
    Flag,
    Integer,
    Listed,
    Part,
    Structure,
    Value,
    times,
)

GRAPH = Structure(
    "ns_graph",
    "Graph",
    "Programs of tasks in CSR form (numasim/workload/graph.py). A folded graph has one row for all equal subtrees.",
    (
        Integer(name="rows", high="MOST_ROWS"),
        Flag(name="folded"),
        Array(name="op_code", type=U8, shape="ops", high=str(int(max(Op))), note="Op"),
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
        Integer(name="repeat", low="1", high="MOST_ITEMS"),
        Computed(name="ids", c_type="ns_i64s", note="[roots] ids of the roots"),
        Computed(name="segments", c_type="ns_u32s", note="[roots] number of their first segment"),
    ),
)
LOOP = Structure(
    "ns_loop",
    "Loop",
    "The phases from `first` to `end` - 1, which a program goes through `repeat` times, one after the other.",
    (
        Integer(name="first", high="len(phases) - 1"),
        Integer(name="end", low="first + 1", high="len(phases)"),
        Integer(name="repeat", low="1", high="MOST_ITEMS"),
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
AMOUNTS = Structure(
    "ns_amounts",
    "Amounts",
    "A whole number for each item of a range, or a table to draw them from (numasim/workload/amounts.py).",
    (
        Array(name="amounts", type=I64, shape="items", high="LONGEST_PS", member="items", note="empty where drawn"),
        Array(name="part_start", type=U64, shape="parts", member="start", note="the lowest number that finds each"),
        Array(name="part_low", type=I64, shape="parts", size="len(part_start)", high="LONGEST_PS", member="low"),
        Array(name="part_high", type=I64, shape="parts", size="len(part_start)", high="LONGEST_PS", member="high"),
    ),
    checked=True,
)
NODE_ACCESS = Structure(
    "ns_node_access",
    "NodeAccess",
    "Bytes that items move from and to given homes, which no cache serves.",
    (
        Part(name="amounts", of=AMOUNTS),
        Array(name="home", type=I32, shape="homes", low="0", high="nodes - 1"),
        Array(
            name="share_end",
            type=I64,
            shape="homes",
            size="len(home)",
            low="1",
            high="MOST_SHARES",
            note="where the home's share of an amount ends, in units of which the last one is the whole",
        ),
        Flag(name="owned", note="what is fetched is fetched for ownership"),
        Flag(name="written", note="and written back"),
        Integer(name="misses", low="1", high="MOST_MISSES", note="under way at once, times 1000"),
        Integer(name="returned_ppm", high="MILLION", note="the part of the bytes' memory that the item gives back"),
        Array(
            name="latency_ps", type=I64, shape="nodes, homes", size="nodes * len(home)", high="MOST_COST_PS",
            member="latency",
        ),
        times("local_latency_ps", "nodes", "nodes", "of each node's own memory", "local_latency"),
    ),
)  # fmt: skip
PAGE_AMOUNTS = Structure(
    "ns_page_amounts",
    "PageAmounts",
    "Bytes of memory that each item touches first, or gives back.",
    (Part(name="amounts", of=AMOUNTS),),
)
FAMILY = Structure(
    "ns_family",
    "Family",
    "Like tasks that are never materialised.",
    (
        Integer(name="count", high="MOST_ITEMS"),
        Integer(name="kernel", high="255", c_type="uint32_t"),
        Integer(name="low_ps", high="LONGEST_PS"),
        Integer(name="high_ps", low="low_ps", high="LONGEST_PS"),
        Part(name="compute", of=AMOUNTS, note="empty where times are uniform between the two"),
        times("local_wait_ps", "nodes", "nodes", "memory time if all bytes were local", "local_wait"),
        Listed(name="accesses", of=ITEM_ACCESS),
        Listed(name="node_accesses", of=NODE_ACCESS),
        Listed(name="fresh", of=PAGE_AMOUNTS, note="bytes of memory that items touch first: none, or one"),
        Listed(name="freed", of=PAGE_AMOUNTS, note="bytes of memory that items give back: none, or one"),
    ),
    checked=True,
)


# ---- The fields of what new tasks are about (thesis 5.3 to 5.5) ------------------------------------------------------

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
