"""The arrays of a task graph in npz: names, types, lengths, bounds, units and meanings of version 1.

Everything else of a graph stands in the array ``document``, which is its JSON form without tasks and segments. The
codes of ops, kinds, modes and patterns belong to the format: a new name is added at the end of its list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from heapq import nlargest
from typing import Any

import numpy as np

from numasim.errors import InputError
from numasim.files.packed_arrays import Array
from numasim.parts.base import Model
from numasim.schema.enumerations import LONGEST_PS, MOST_ACCESS_ROWS, MOST_BYTES, MOST_STRIDE, Kind, Mode, Op
from numasim.workload.graph import Pattern
from numasim.workload.json_form.graph_models import MOST_KERNELS, GraphFile, member

VERSION = 1
MOST_INDEX = 2**32 - 1
MOST_LENGTH = 2**40  # of an array; far more than fit in a file

OP_NAMES = (
    *("run", "spawn", "call", "wait", "lock", "unlock", "atomic", "barrier", "await", "signal", "broadcast"),
    *("begin", "load", "store", "commit", "group", "end_group"),
)
KIND_NAMES = ("task", "call", "implicit")
MODE_NAMES = ("read", "write", "read-write")
PATTERN_NAMES = ("sequential", "strided", "random", "chase")


@dataclass(frozen=True)
class ArrayField:
    """One array. ``kind`` is the type that numasim writes; any type of whole numbers is read.

    ``length`` says how many elements it has, ``low`` and ``high`` bound them. One that is left out is filled with
    ``default``; where that is None it must be there if the first array of its group is. ``codes`` are the names that
    the numbers stand for, from 0.
    """

    name: str
    kind: str
    length: str
    meaning: str
    unit: str = ""
    low: int = 0
    high: int = MOST_INDEX
    default: int | None = None
    codes: tuple[str, ...] = ()
    members: type[IntEnum] | None = None

    @property
    def numbers(self) -> np.ndarray[Any, Any]:
        """[codes] the number in the arrays of `Workload` that each code of the file stands for."""
        return np.array([member(self.members, name) for name in self.codes], np.uint8)


def _coded(
    name: str, length: str, codes: tuple[str, ...], members: type[IntEnum], default: int | None, what: str
) -> Any:
    return ArrayField(name, "|u1", length, what, high=len(codes) - 1, default=default, codes=codes, members=members)


def _pointer(name: str, length: str, what: str, default: int | None = None) -> ArrayField:
    return ArrayField(name, "<i8", length, what, high=MOST_LENGTH, default=default)


TASKS = (
    _pointer("op_ptr", "tasks + 1", "The ops of task t are those from `op_ptr[t]` to `op_ptr[t + 1] - 1`."),
    _coded("op_code", "ops", OP_NAMES, Op, None, "What each op is."),
    ArrayField(
        "op_arg",
        "<u4",
        "ops",
        "What it is about: of run a segment, of spawn and call a task, of wait, group and end_group 0, of the others a "
        "synchronisation object.",
    ),
    _coded("task_kind", "tasks", KIND_NAMES, Kind, 0, "What each task is."),
    _pointer("then_ptr", "tasks + 1", "The tasks that wait for task t are those from `then_ptr[t]` on, as for ops.", 0),
    ArrayField("then", "<u4", "then_ptr[tasks]", "Tasks that wait for the end of another one.", default=0),
)
SEGMENTS = (
    ArrayField(
        "segment_compute_ps",
        "<i8",
        "segments",
        "Compute time of each segment, had all memory been at hand.",
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
        "access_ptr",
        "segments + 1",
        "The accesses of segment s are those from `access_ptr[s]` to `access_ptr[s + 1] - 1`.",
    ),
    ArrayField("access_region", "<u4", "accesses", "Region of each access: a place in `regions` of the document."),
    ArrayField(
        "access_offset",
        "<i8",
        "accesses",
        "Where the access begins in the region.",
        unit="byte",
        high=MOST_BYTES,
        default=0,
    ),
    ArrayField(
        "access_row_bytes", "<i8", "accesses", "Size of each piece of the access.", unit="byte", low=1, high=MOST_BYTES
    ),
    ArrayField("access_rows", "<i8", "accesses", "Number of pieces.", low=1, high=MOST_ACCESS_ROWS, default=1),
    ArrayField(
        "access_stride",
        "<i8",
        "accesses",
        "Distance from the beginning of one piece to that of the next.",
        unit="byte",
        high=MOST_STRIDE,
        default=0,
    ),
    _coded("access_mode", "accesses", MODE_NAMES, Mode, 0, "Whether the bytes are read, written or both."),
    _coded("access_pattern", "accesses", PATTERN_NAMES, Pattern, 0, "The order in which the access walks its bytes."),
    ArrayField("access_passes", "<u4", "accesses", "How often the segment walks over the bytes.", low=1, default=1),
)
AROUND = (
    ArrayField("version", "<i8", "1", f"The version of this format: {VERSION}."),
    ArrayField(
        "document",
        "|u1",
        "any",
        "The bytes of a text in UTF-8: the graph in JSON without `tasks` and `segments`. Left out, all keys of it have "
        "their defaults.",
        high=255,
    ),
)
EXECUTED = (
    ArrayField(
        "executed_task", "<i8", "executions", "The task whose segment was executed, in the order of time.", default=0
    ),
    ArrayField("executed_segment", "<i8", "executions", "That segment.", default=0),
    ArrayField("executed_worker", "<i8", "executions", "The worker that executed it.", default=0),
    ArrayField("executed_begin_ps", "<i8", "executions", "When it began.", unit="ps", high=2**63 - 1, default=0),
    ArrayField("executed_end_ps", "<i8", "executions", "When it ended.", unit="ps", high=2**63 - 1, default=0),
    ArrayField("worker_node", "<i8", "workers", "The NUMA node of each worker.", default=0),
)  # of a run, which reading a graph checks and leaves out
FIELDS: Mapping[str, ArrayField] = {each.name: each for each in (*AROUND, *TASKS, *SEGMENTS, *ACCESSES, *EXECUTED)}


# ---- Long lists of the document of a task graph in npz, each of which is an array of its own -------------------------
#
# The array has the name of the list's place in the document: ``phases.0.roots`` is the list ``phases[0].roots``. Two
# kinds of lists may be given so: the roots of phases, and the items of amounts.

Path = tuple[str | int, ...]
LONG = 64  # numbers that stand in the document rather than in an array
MOST_LISTS = 1_000  # that numasim takes out of the document
_NUMBER = r"(?:0|[1-9][0-9]{0,5})"
ROOTS = re.compile(rf"phases\.{_NUMBER}(?:\.loop\.{_NUMBER})*\.roots")
ITEMS = re.compile(rf"ranges\.{_NUMBER}\.(?:compute_ps|node_accesses\.{_NUMBER}\.bytes)\.items")


def taken_out(document: dict[str, Any]) -> dict[str, Array]:
    """The longest lists of ``document`` as arrays by their names; they are empty in ``document`` afterwards."""
    found = {}
    for path, numbers in nlargest(MOST_LISTS, _lists(document, ()), key=lambda each: len(each[1])):
        if len(numbers) > LONG:
            found[name_of(path)] = np.array(numbers, "<u4" if path[-1] == "roots" else "<i8")
            numbers.clear()
    return found


def name_of(path: Path) -> str:
    """The name of the array of the list at ``path``."""
    return ".".join(map(str, path))


def _lists(value: Any, path: Path) -> Iterator[tuple[Path, list[Any]]]:
    """The lists in ``value`` that may be arrays, each with its path."""
    if isinstance(value, dict):
        for key, each in value.items():
            if key in ("roots", "items"):
                yield (*path, key), each
            elif key in ("phases", "loop", "ranges", "node_accesses", "compute_ps", "bytes"):
                yield from _lists(each, (*path, key))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _lists(each, (*path, number))


def is_list(name: str) -> bool:
    """Whether an array of this name is a list of the document."""
    return bool(ROOTS.fullmatch(name) or ITEMS.fullmatch(name))


def with_lists(file: GraphFile, lists: Mapping[str, Array]) -> GraphFile:
    """``file`` with ``lists`` at their places; an `InputError` for a place that is not there or has numbers already."""
    for name, numbers in lists.items():
        path = tuple(int(part) if part.isdecimal() else part for part in name.split("."))
        _check_bounds(name, numbers, MOST_INDEX if path[-1] == "roots" else LONGEST_PS)
        file = _with(file, path, numbers.tolist(), name)
    return file


def _check_bounds(name: str, numbers: Array, most: int) -> None:
    for place in np.flatnonzero((numbers < 0) | (numbers > most))[:1].tolist():
        raise InputError(f"the number is {numbers[place]}", path=(name, place), expected=f"0 to {most}")


def _with(value: Any, path: Sequence[str | int], numbers: list[int], name: str) -> Any:
    """``value`` with ``numbers`` at ``path`` in it."""
    if not path:
        if value:
            raise InputError("the document has numbers for this list, too", path=(name,), expected="them in one place")
        return numbers
    part, rest = path[0], path[1:]
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        value[part] = _with(value[part], rest, numbers, name)
        return value
    inner = getattr(value, part, None) if isinstance(value, Model) and isinstance(part, str) else None
    if inner is None:
        raise InputError("the document has no such list", path=(name,), expected="the entry that it belongs to")
    return value.model_copy(update={part: _with(inner, rest, numbers, name)})
