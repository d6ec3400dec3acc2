"""The arrays of an npz file become a task graph; each number is checked, and an error names its array and position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from numasim.errors import InputError
from numasim.files.packed_arrays import Array, read_arrays
from numasim.workload.binary_form.array_table import EXECUTED, FIELDS, VERSION, ArrayField, is_list, name_of, with_lists
from numasim.workload.builder import ACCESS_TYPES
from numasim.workload.graph import Workload
from numasim.workload.graph_rules import validate
from numasim.workload.json_form.from_json_form import Columns, to_workload
from numasim.workload.json_form.graph_io import parsed
from numasim.workload.json_form.graph_models import GraphFile

Path = tuple[str | int, ...]


def workload_of(data: bytes, place: str) -> Workload:
    """The checked task graph in ``data``, the contents of the npz file ``place``; an `InputError` names the array."""
    arrays = read_arrays(data, place)
    try:
        return _workload(arrays, place)
    except InputError as problem:
        problem.place = problem.place or place
        raise


def _workload(arrays: Mapping[str, Array], place: str) -> Workload:
    _check_version(arrays)
    lists = {name: array for name, array in arrays.items() if is_list(name)}
    _check_names([name for name in arrays if name not in lists])
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


def _check_version(arrays: Mapping[str, Array]) -> None:
    version = arrays.get("version")
    if version is None:
        names = ", ".join(list(arrays)[:8]) or "none"
        raise InputError(f"there is no array 'version' among {names}", expected="the arrays of a task graph in npz")
    if len(version) != 1 or version[0] != VERSION:
        given = ", ".join(map(str, version[:4].tolist()))
        raise InputError(f"the version is {given}", path=("version",), expected=f"{VERSION}, or a newer numasim")


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if name not in FIELDS:
            raise InputError(
                f"there is no array {name!r} in a task graph",
                expected=f"one of {', '.join(FIELDS)}, or a list of the document such as phases.0.roots",
                value=name,
                known=FIELDS,
            )


def _check_executed(arrays: Mapping[str, Array]) -> None:
    """Refuse wrong numbers of a run, which is no part of the graph."""
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
    """The document, which has no tasks and no segments."""
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
    """The arrays of a file as columns in the types of `Workload`, checked against the table."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self._arrays = arrays

    def pointer(self, name: str, entries: int | None) -> Array:
        """The ascending array from 0 that says where the parts of each of so many ``entries`` (None: any) begin."""
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
        """The array ``name`` of ``count`` elements, none of which is above ``high``; without one, its default."""
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
        """A column of places in a list of the document, the key ``key``."""
        return self.column(name, count, len(names) - 1, f" in {key} of the document").astype(np.int64)


def checked(described: ArrayField, array: Array, high: int | None = None, what: str = "") -> Array:
    """``array`` in the type of `Workload`, its codes as numbers; an `InputError` for the first one out of bounds."""
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
    """The array and the position of what is wrong at a path of the JSON form."""
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
        case (*places, int(number)) if name_of(tuple(places)) in lists:
            path = (name_of(tuple(places)), number)
    return path
