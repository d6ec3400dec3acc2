"""The fields of what new tasks are about (thesis 5.3 to 5.5)."""

from __future__ import annotations

from numasim.schema.enumerations import Counted
from numasim.schema.field_kinds import I32, I64, U8, Array, Flag, Integer, Listed, Structure

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
