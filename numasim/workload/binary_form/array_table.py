"""The arrays of a task graph in npz: names, types, lengths, bounds, units and meanings of version 1.

The array ``document`` holds everything else of a graph: the graph's JSON form without tasks and segments. Bounds,
defaults and meanings of the columns of accesses come from the JSON form. The codes of ops, kinds, modes and patterns
belong to the format: a new name is added at the end of its list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from numasim.schema.enumerations import LONGEST_PS, Kind, Mode, Op
from numasim.workload.builder import ACCESS_TYPES
from numasim.workload.graph import Pattern
from numasim.workload.json_form.graph_models import MOST_KERNELS, AccessEntry, bounds_of, member_name

VERSION = 1
MOST_INDEX = 2**32 - 1
MOST_LENGTH = 2**40  # largest pointer; far more elements than fit in a file


@dataclass(frozen=True)
class ArrayField:
    """One array. ``kind`` is the type that numasim writes; numasim reads any type of whole numbers.

    ``length`` says how many elements the array has; ``low`` and ``high`` bound the elements. An array that is left out
    is filled with ``default``; an array without ``default`` must be there if the first array of its group is there.
    ``members`` is the enumeration whose names the numbers stand for: code 0 is the first name.
    """

    name: str
    kind: str
    length: str
    meaning: str
    unit: str = ""
    low: int = 0
    high: int = MOST_INDEX
    default: int | None = None
    members: type[IntEnum] | None = None

    @property
    def codes(self) -> tuple[str, ...]:
        """The name of each code; empty for plain numbers."""
        return tuple(map(member_name, self.members or ()))

    @property
    def numbers(self) -> np.ndarray[Any, Any]:
        """[codes] the number in the arrays of `Workload` that each code of the file stands for."""
        return np.array([*(self.members or ())], np.uint8)


def _coded(name: str, length: str, members: type[IntEnum], default: int | None, what: str) -> ArrayField:
    return ArrayField(name, "|u1", length, what, high=len(members) - 1, default=default, members=members)


def _pointer(name: str, length: str, what: str, default: int | None = None) -> ArrayField:
    return ArrayField(name, "<i8", length, what, high=MOST_LENGTH, default=default)


def _access_column(key: str) -> ArrayField:
    """Return the array of a field of `AccessEntry`."""
    name, field = f"access_{key}", AccessEntry.model_fields[key]
    if key == "region":
        meaning = "Region of each access: a place in `regions` of the document."
        return ArrayField(name, "<u4", "accesses", meaning)
    meaning, members = field.description or "", {"mode": Mode, "pattern": Pattern}.get(key)
    if members is not None:
        return _coded(name, "accesses", members, 0, meaning)
    low, high = bounds_of(field)
    default = None if field.is_required() else field.default
    unit = "byte" if key in ("offset", "row_bytes", "stride") else ""
    return ArrayField(name, np.dtype(ACCESS_TYPES[key]).str, "accesses", meaning, unit, low, high, default)


TASKS = (
    _pointer("op_ptr", "tasks + 1", "Task t has the ops from `op_ptr[t]` to `op_ptr[t + 1] - 1`."),
    _coded("op_code", "ops", Op, None, "The kind of each op."),
    ArrayField(
        "op_arg",
        "<u4",
        "ops",
        "The op's argument: a segment for run, a task for spawn and call, 0 for wait, group and end_group, a "
        "synchronisation object for other ops.",
    ),
    _coded("task_kind", "tasks", Kind, 0, "The kind of each task."),
    _pointer("then_ptr", "tasks + 1", "The tasks that wait for task t begin at `then_ptr[t]` in `then`.", 0),
    ArrayField("then", "<u4", "then_ptr[tasks]", "Tasks that wait for the end of another task.", default=0),
)
SEGMENTS = (
    ArrayField(
        "segment_compute_ps",
        "<i8",
        "segments",
        "Compute time of each segment without waits for memory.",
        unit="ps",
        high=LONGEST_PS,
    ),
    ArrayField(
        "segment_kernel",
        "|u1",
        "segments",
        "Kernel of each segment: a place in `kernels` of the document.",
        high=MOST_KERNELS - 1,
        default=0,
    ),
)
ACCESSES = (
    _pointer(
        "access_ptr", "segments + 1", "Segment s has the accesses from `access_ptr[s]` to `access_ptr[s + 1] - 1`."
    ),
    *map(_access_column, ACCESS_TYPES),
)
AROUND = (
    ArrayField("version", "<i8", "1", f"The version of this format: {VERSION}."),
    ArrayField(
        "document",
        "|u1",
        "any",
        "The bytes of a text in UTF-8: the graph in JSON without `tasks` and `segments`. If the array is left out, all "
        "keys have their defaults.",
        high=255,
    ),
)
EXECUTED = (  # a run of the graph; reading a graph checks these arrays and leaves them out
    ArrayField(
        "executed_task", "<i8", "executions", "The task whose segment was executed, in the order of time.", default=0
    ),
    ArrayField("executed_segment", "<i8", "executions", "The segment that was executed.", default=0),
    ArrayField("executed_worker", "<i8", "executions", "The worker that executed the segment.", default=0),
    ArrayField("executed_begin_ps", "<i8", "executions", "Begin of the segment.", "ps", high=2**63 - 1, default=0),
    ArrayField("executed_end_ps", "<i8", "executions", "End of the segment.", "ps", high=2**63 - 1, default=0),
    ArrayField("worker_node", "<i8", "workers", "The NUMA node of each worker.", default=0),
)
FIELDS: Mapping[str, ArrayField] = {each.name: each for each in (*AROUND, *TASKS, *SEGMENTS, *ACCESSES, *EXECUTED)}
