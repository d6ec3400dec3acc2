"""Task graphs in npz files, version 1: the table of the arrays; reading, checking and writing.

The array ``document`` has the JSON form of the graph without its tasks and segments (compute times and accesses), which
have arrays of their own. The JSON form also gives the bounds, defaults and meanings of the arrays of accesses. Codes
stand for names of ops, kinds, modes and patterns; a new name gets the next code, so that old files stay readable.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from heapq import nlargest
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from numasim.errors import InputError
from numasim.files.packed_arrays import Array, read_arrays, write_arrays
from numasim.files.writer import writing
from numasim.parts.base import Model
from numasim.schema.enumerations import LONGEST_PS, Kind, Mode, Op
from numasim.workload.builder import ACCESS_TYPES
from numasim.workload.export.part_graph import Executed
from numasim.workload.graph import Pattern, Workload
from numasim.workload.graph_rules import validate
from numasim.workload.json_form.from_json_form import Columns, to_workload
from numasim.workload.json_form.graph_io import parsed
from numasim.workload.json_form.graph_models import MOST_KERNELS, AccessEntry, GraphFile, bounds_of, member_name
from numasim.workload.json_form.to_json_form import around_tasks

VERSION = 1
MOST_INDEX = 2**32 - 1
MOST_LENGTH = 2**40  # largest pointer; far more elements than fit in a file


@dataclass(frozen=True)
class ArrayField:
    """One array of the file. ``kind`` is the type that numasim writes; numasim reads any type of whole numbers.

    ``length`` says the number of elements; ``low`` and ``high`` bound the elements. If a file lacks the array, all
    elements are ``default``, those of a pointer 0; any other array may only be missing if it would be empty. For an
    array of codes, ``members`` is the enumeration of their names: code 0 stands for the first name.
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
        """[codes] the value of the enumeration's member for each code of the file."""
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
    _pointer("access_ptr", "segments + 1", "Segment s has accesses from `access_ptr[s]` to `access_ptr[s + 1] - 1`."),
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
EXECUTED = (  # the segments that a run of the graph executed; `workload_of` checks these arrays and ignores them
    ArrayField(
        "executed_task", "<i8", "executions", "The task of each executed segment, in the order of time.", default=0
    ),
    ArrayField("executed_segment", "<i8", "executions", "The segment that was executed.", default=0),
    ArrayField("executed_worker", "<i8", "executions", "The worker that executed the segment.", default=0),
    ArrayField("executed_begin_ps", "<i8", "executions", "Begin of the segment.", "ps", high=2**63 - 1, default=0),
    ArrayField("executed_end_ps", "<i8", "executions", "End of the segment.", "ps", high=2**63 - 1, default=0),
    ArrayField("worker_node", "<i8", "workers", "The NUMA node of each worker.", default=0),
)
FIELDS: Mapping[str, ArrayField] = {each.name: each for each in (*AROUND, *TASKS, *SEGMENTS, *ACCESSES, *EXECUTED)}

Path = tuple[str | int, ...]


def workload_of(data: bytes, place: str) -> Workload:
    """Return the checked task graph in ``data``, the contents of the npz file ``place``; `InputError` for mistakes."""
    arrays = read_arrays(data, place)
    try:
        return _workload(arrays, place)
    except InputError as problem:
        problem.place = problem.place or place
        raise


def _workload(arrays: Mapping[str, Array], place: str) -> Workload:
    lists = {name: array for name, array in arrays.items() if ROOTS.fullmatch(name) or ITEMS.fullmatch(name)}
    _check_heads(arrays, lists)
    _check_executed(arrays)
    file = with_lists(_document(arrays, place), lists)
    columns = _columns(arrays, file)
    try:
        workload = to_workload(file, columns)
        validate(workload)
    except InputError as problem:
        problem.path = _array_path(problem, columns, lists)
        raise
    return workload


def _check_heads(arrays: Mapping[str, Array], lists: Mapping[str, Array]) -> None:
    """Raise `InputError` unless the version is right and every array is in `FIELDS` or in ``lists``."""
    version = arrays.get("version")
    if version is None:
        names = ", ".join(list(arrays)[:8]) or "none"
        raise InputError(f"there is no array 'version' among {names}", expected="the arrays of a task graph in npz")
    if len(version) != 1 or version[0] != VERSION:
        given = ", ".join(map(str, version[:4].tolist()))
        raise InputError(f"the version is {given}", path=("version",), expected=f"{VERSION}, or a newer numasim")
    for name in arrays:
        if name not in FIELDS and name not in lists:
            problem = f"there is no array {name!r} in a task graph"
            expected = f"one of {', '.join(FIELDS)}, or a list of the document such as phases.0.roots"
            raise InputError(problem, expected=expected, value=name, known=FIELDS)


def _check_executed(arrays: Mapping[str, Array]) -> None:
    """Raise `InputError` for numbers out of bounds, or unequal lengths, in the arrays `EXECUTED`."""
    count = len(arrays.get(EXECUTED[0].name, ()))
    for described in EXECUTED:
        array = arrays.get(described.name)
        if array is None:
            continue
        if described.length == EXECUTED[0].length and len(array) != count:
            problem = f"the array has {len(array):,} elements"
            raise InputError(problem, path=(described.name,), expected=f"{count:,}, as {EXECUTED[0].name} has")
        checked(described, array)


def _document(arrays: Mapping[str, Array], place: str) -> GraphFile:
    """Return the array ``document`` as a checked model; raise `InputError` if it has tasks or segments."""
    if "document" not in arrays:
        return GraphFile()
    content = checked(FIELDS["document"], arrays["document"]).tobytes()
    here = f"{place}: document"
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        problem = f"byte {content[error.start]} is no text in UTF-8"
        raise InputError(problem, path=("document", error.start), expected="a text in JSON") from None
    file, columns = parsed(text, here)
    for key, count in (("tasks", len(columns.kind)), ("segments", len(columns.compute_ps))):
        if count:
            raise InputError(f"{key} stand in the document", path=("document", key), expected="them in arrays alone")
    return file


def _columns(arrays: Mapping[str, Array], file: GraphFile) -> Columns:
    given = _Given(arrays)
    op_ptr = given.pointer("op_ptr", None)
    tasks, ops = len(op_ptr) - 1, int(op_ptr[-1])
    then_ptr = given.pointer("then_ptr", tasks)
    segments = len(arrays.get("segment_compute_ps", ()))
    access_ptr = given.pointer("access_ptr", segments)
    accesses = {name: given.column(f"access_{name}", int(access_ptr[-1])) for name in ACCESS_TYPES if name != "region"}
    regions = tuple(region.name for region in file.regions)
    return Columns(
        op_ptr=op_ptr,
        op_code=given.column("op_code", ops),
        op_arg=given.column("op_arg", ops),
        kind=given.column("task_kind", tasks),
        then_ptr=then_ptr,
        successor=given.column("then", int(then_ptr[-1])),
        compute_ps=given.column("segment_compute_ps", segments),
        kernel=given.place("segment_kernel", segments, file.kernels, "kernels"),
        kernels=tuple(file.kernels),
        access_ptr=access_ptr,
        accesses={"region": given.place("access_region", int(access_ptr[-1]), regions, "regions"), **accesses},
        regions=regions,
    )


class _Given:
    """The arrays of a file, checked against the table `FIELDS` and converted to the types of `Workload`."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self._arrays = arrays

    def pointer(self, name: str, entries: int | None) -> Array:
        """Return the CSR pointer ``name`` (ascending from 0) of ``entries`` lists, None: any; zeros if missing."""
        array = self._arrays.get(name)
        if array is None:
            return np.zeros((entries or 0) + 1, np.int64)
        described = FIELDS[name]
        if not len(array) or (entries is not None and len(array) != entries + 1):
            right = f"{described.length}, at least 1" if entries is None else f"{entries + 1:,}, {described.length}"
            raise InputError(f"the array has {len(array):,} elements", path=(name,), expected=right)
        found = checked(described, array)
        if found[0] != 0:
            raise InputError(f"the first element is {found[0]}", path=(name, 0), expected="0")
        for place in np.flatnonzero(found[1:] < found[:-1])[:1].tolist():
            problem = f"{found[place + 1]} comes after {found[place]}"
            raise InputError(problem, path=(name, place + 1), expected="an ascending array")
        return found

    def column(self, name: str, count: int, high: int | None = None, what: str = "") -> Array:
        """Return the array ``name`` of ``count`` elements of at most ``high``; the default if the array is missing."""
        array, described = self._arrays.get(name), FIELDS[name]
        if array is None:
            if count and described.default is None:
                raise InputError(f"there is no array {name!r}", expected=f"one of {count:,} elements")
            return np.full(count, described.numbers[0] if described.codes else described.default or 0, described.kind)
        if len(array) != count:
            expected = f"{count:,}, as many as there are {described.length}"
            raise InputError(f"the array has {len(array):,} elements", path=(name,), expected=expected)
        return checked(described, array, high, what)

    def place(self, name: str, count: int, names: Sequence[str], key: str) -> Array:
        """Return the array ``name`` of places in the list ``names``, which the document has under ``key``."""
        return self.column(name, count, len(names) - 1, f" in {key} of the document").astype(np.int64)


def checked(described: ArrayField, array: Array, high: int | None = None, what: str = "") -> Array:
    """Return ``array`` in its written type, or as members' values if it has codes; InputError if out of bounds."""
    low, high = described.low, described.high if high is None else min(high, described.high)
    if len(array) and not low <= int(array.min()) <= int(array.max()) <= high:
        place = int(np.flatnonzero((array < low) | (array > high))[0])
        right = f"{low} to {high}{what}" if high >= low else f"none: there is nothing{what}"
        if described.codes:
            right += ": " + ", ".join(f"{code} {name}" for code, name in enumerate(described.codes))
        raise InputError(f"the number is {array[place]}", path=(described.name, place), expected=right)
    if described.codes:
        return described.numbers[array]
    return array.astype(described.kind, copy=False)


def _array_path(problem: InputError, columns: Columns, lists: Mapping[str, Array]) -> Path:
    """Return (array, position) of ``problem``, whose path is a path in the JSON form of the graph."""
    path: Path = ("document", *problem.path)
    match problem.path:
        case ("tasks", int(task), "ops", int(op)):
            name = "op_arg" if problem.problem.endswith("does not exist") else "op_code"
            path = (name, int(columns.op_ptr[task]) + op)
        case ("tasks", int(task), "then", int(number)):
            path = ("then", int(columns.then_ptr[task]) + number)
        case ("tasks", int(task), "kind"):
            path = ("task_kind", task)
        case ("tasks", int(task), *rest):
            path = ("then_ptr" if "then" in rest else "op_ptr", task)
        case ("segments", int(segment), "accesses", int(access), str(key)):
            path = (f"access_{key}", int(columns.access_ptr[segment]) + access)
        case ("segments", int(segment), str(key)):
            path = (f"segment_{key}", segment)
        case (*places, int(number)) if (name := ".".join(map(str, places))) in lists:
            path = (name, number)
    return path


# ---- Writing ---------------------------------------------------------------------------------------------------------


def write(workload: Workload, path: FilePath, executed: Executed | None = None) -> None:
    """Write ``workload`` to ``path``, with the schedule ``executed`` of a run if given; InputError if writing fails.

    Equal arguments give equal files.
    """
    arrays = to_arrays(workload)
    for each in EXECUTED if executed else ():
        name = each.name.removeprefix("executed_").removeprefix("worker_")
        arrays[each.name] = np.asarray(getattr(executed, name), each.kind)
    with writing(path) as file:
        write_arrays(file, arrays)


def to_arrays(workload: Workload) -> dict[str, Array]:
    """Return the arrays of ``workload`` by their names, in the order of the table."""
    document = around_tasks(workload)
    del document["tasks"], document["segments"]
    lists = taken_out(document)
    text = json.dumps(document, separators=(",", ":")).encode()
    columns: dict[str, Any] = {
        "version": [VERSION],
        "document": np.frombuffer(text, np.uint8),
        "op_ptr": workload.op_ptr,
        "op_code": workload.op_code,
        "op_arg": workload.op_arg,
        "task_kind": workload.kind,
        "then_ptr": workload.successor_ptr,
        "then": workload.successor,
        "segment_compute_ps": workload.segment_compute_ps,
        "segment_kernel": workload.segment_kernel,
        "access_ptr": workload.segment_accesses,
    }
    for each in ACCESSES[1:]:
        columns[each.name] = getattr(workload.accesses, each.name.removeprefix("access_"))
    return {name: _written(each, columns[name]) for name, each in FIELDS.items() if name in columns} | lists


def _written(described: ArrayField, values: Any) -> Array:
    """Return ``values`` in the type of the file, with codes in place of members' values."""
    if not described.codes:
        return np.asarray(values, described.kind)
    codes = np.zeros(256, np.uint8)
    codes[described.numbers] = np.arange(len(described.codes))
    found: Array = codes[values]
    return found


# ---- Long lists of the document, each as an array of its own -----------------------------------------------------
#
# The array is named after the list's place in the document: ``phases.0.roots`` is the list ``phases[0].roots``. Two
# kinds of lists may be arrays: the root tasks of phases, and the compute times or bytes of all items of a range.

LONG = 64  # numbers; only longer lists become arrays
MOST_LISTS = 1_000  # most lists that become arrays, the longest first
_NUMBER = r"(?:0|[1-9][0-9]{0,5})"
ROOTS = re.compile(rf"phases\.{_NUMBER}(?:\.loop\.{_NUMBER})*\.roots")
ITEMS = re.compile(rf"ranges\.{_NUMBER}\.(?:compute_ps|node_accesses\.{_NUMBER}\.bytes)\.items")


def taken_out(document: dict[str, Any]) -> dict[str, Array]:
    """Empty the longest lists in ``document``, and return their numbers as arrays by name."""
    found = {}
    for path, numbers in nlargest(MOST_LISTS, _lists(document, ()), key=lambda each: len(each[1])):
        if len(numbers) > LONG:
            found[".".join(map(str, path))] = np.array(numbers, "<u4" if path[-1] == "roots" else "<i8")
            numbers.clear()
    return found


def _lists(value: Any, path: Path) -> Iterator[tuple[Path, list[Any]]]:
    """Yield (path, list) of the lists in ``value`` that may be arrays."""
    if isinstance(value, dict):
        for key, each in value.items():
            if key in ("roots", "items"):
                yield (*path, key), each
            elif key in ("phases", "loop", "ranges", "node_accesses", "compute_ps", "bytes"):
                yield from _lists(each, (*path, key))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _lists(each, (*path, number))


def with_lists(file: GraphFile, lists: Mapping[str, Array]) -> GraphFile:
    """Return ``file`` with ``lists`` at their paths.

    Raise InputError for a path that is missing or already has numbers, and for a number out of bounds.
    """
    for name, numbers in lists.items():
        path = tuple(int(part) if part.isdecimal() else part for part in name.split("."))
        most = MOST_INDEX if path[-1] == "roots" else LONGEST_PS
        for place in np.flatnonzero((numbers < 0) | (numbers > most))[:1].tolist():
            raise InputError(f"the number is {numbers[place]}", path=(name, place), expected=f"0 to {most}")
        file = _with(file, path, numbers.tolist(), name)
    return file


def _with(value: Any, path: Sequence[str | int], numbers: list[int], name: str) -> Any:
    """Return ``value`` with ``numbers`` at ``path`` inside it; ``name`` is the array, for errors."""
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
