"""From checked entries of a JSON task graph to the arrays of a `Workload`; names become numbers.

A column is an array with a field of all entries. A path is a place in the document, such as ``("segments", 3)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import TypeAdapter, ValidationError

from numasim.errors import InputError
from numasim.files.walked_json import Batch
from numasim.schema.enumerations import MOST_SHARES
from numasim.workload.amounts import Amounts
from numasim.workload.builder import ACCESS_TYPES, accesses_of, frozen, workload_of
from numasim.workload.forest_arrays import offsets
from numasim.workload.graph import (
    I64,
    Deal,
    Kind,
    Loop,
    Mode,
    NodeAccess,
    Op,
    Pattern,
    Phase,
    RangeFamily,
    Region,
    Workload,
    compute_bounds,
    parents_of,
)
from numasim.workload.json_form.graph_models import (
    MOST_PHASES,
    MOST_WEIGHT,
    AmountsEntry,
    GraphFile,
    NodeAccessEntry,
    PhaseEntry,
    RangeEntry,
    SegmentEntry,
    TaskEntry,
    member,
    member_name,
)
from numasim.workload.recording.recorded import Recorded
from numasim.workload.sync_parameters import Role, SyncObject

Array = npt.NDArray[Any]
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Columns:
    """The tasks and segments of a file as arrays; a kernel or region is its place in ``kernels`` or ``regions``."""

    op_ptr: I64
    op_code: npt.NDArray[np.uint8]
    op_arg: npt.NDArray[np.uint32]
    kind: npt.NDArray[np.uint8]
    then_ptr: I64
    successor: npt.NDArray[np.uint32]
    compute_ps: I64
    kernel: I64
    kernels: tuple[str, ...]
    access_ptr: I64
    accesses: dict[str, npt.NDArray[Any]]
    regions: tuple[str, ...]


def to_workload(file: GraphFile, columns: Columns) -> Workload:
    """Return the workload of a file with the tasks and segments ``columns``; raise `InputError` for unknown names."""
    op_ptr, op_code, op_arg, access_ptr = columns.op_ptr, columns.op_code, columns.op_arg, columns.access_ptr
    phases, loops = _phases(file, columns)
    regions, kernels = _numbered(region.name for region in file.regions), _numbered(file.kernels)

    def path_of_access(access: int) -> Path:
        segment = int(np.searchsorted(access_ptr, access, side="right")) - 1
        return ("segments", segment, "accesses", access - int(access_ptr[segment]))

    found = _positions(columns.regions, columns.accesses["region"], regions, "region", path_of_access)
    kernel = _positions(columns.kernels, columns.kernel, kernels, "kernel", lambda at: ("segments", at))
    return workload_of(
        file.name,
        parameters=file.parameters,
        kernels=file.kernels,
        regions=[Region(entry.name, entry.bytes, entry.initialised) for entry in file.regions],
        phases=phases,
        loops=loops,
        ranges=[_range(entry, ("ranges", at), regions, kernels) for at, entry in enumerate(file.ranges)],
        op_ptr=op_ptr,
        op_code=op_code,
        op_arg=op_arg,
        kind=columns.kind,
        parent=parents_of(op_ptr, op_code, op_arg),
        compute_ps=columns.compute_ps,
        kernel=kernel,
        accesses=(access_ptr, {**columns.accesses, "region": found}),
        successors=(columns.then_ptr, columns.successor),
        facts=file.facts,
        recorded=Recorded(**dict(file.recorded)) if file.recorded else None,
        words=tuple(
            SyncObject(w.name, member(Role, w.role), w.owner, w.parties, w.skew_ppm, w.undo_ps, w.same)
            for w in file.words
        ),
    )


def _phases(file: GraphFile, columns: Columns) -> tuple[tuple[Phase, ...], tuple[Loop, ...]]:
    """Return the phases in order and the loops over phases; raise `InputError` for a wrong loop."""
    if file.phases is None:
        parent = parents_of(columns.op_ptr, columns.op_code, columns.op_arg)
        return (Phase(roots=tuple(np.flatnonzero(parent < 0).tolist())),), ()
    phases: list[Phase] = []
    loops: list[Loop] = []
    _flatten(file.phases, ("phases",), phases, loops)
    if len(phases) > MOST_PHASES:
        raise InputError(f"there are {len(phases):,} phases", path=("phases",), expected=f"at most {MOST_PHASES:,}")
    return tuple(phases), tuple(loops)


def _flatten(entries: Sequence[PhaseEntry], path: Path, phases: list[Phase], loops: list[Loop]) -> None:
    for number, entry in enumerate(entries):
        if "loop" not in entry.model_fields_set:
            deal = member(Deal, entry.deal)
            phases.append(Phase(tuple(entry.roots), entry.range, deal, entry.serial, entry.repeat, entry.name))
            continue
        if not entry.loop:
            raise InputError("the loop is empty", path=(*path, number, "loop"), expected="phases, or loops over phases")
        for key in sorted(entry.model_fields_set - {"loop", "repeat"}):
            expected = "loop and repeat, and the rest in phases"
            raise InputError(f"a loop has no {key}", path=(*path, number, key), expected=expected)
        place, first = len(loops), len(phases)
        loops.append(Loop(first, first, entry.repeat))
        _flatten(entry.loop, (*path, number, "loop"), phases, loops)
        loops[place] = Loop(first, len(phases), entry.repeat)


def _range(entry: RangeEntry, path: Path, regions: dict[str, int], kernels: dict[str, int]) -> RangeFamily:
    columns: dict[str, Any] = {name: [getattr(each, name) for each in entry.accesses] for name in ACCESS_TYPES}
    kernel = _position(entry.kernel, kernels, "kernel", path)
    columns["region"] = [
        _position(each.region, regions, "region", (*path, "accesses", place))
        for place, each in enumerate(entry.accesses)
    ]
    columns |= {key: [CODES[key][name] for name in columns[key]] for key in ("mode", "pattern")}
    low_ps, high_ps, compute = _compute_times(entry, path)
    return RangeFamily(
        name=entry.name,
        count=entry.count,
        low_ps=low_ps,
        high_ps=high_ps,
        compute=compute,
        node_accesses=tuple(
            node_access_of(each, entry.count, (*path, "node_accesses", place))
            for place, each in enumerate(entry.node_accesses)
        ),
        fresh=amounts_of(entry.fresh, entry.count, (*path, "fresh")) if entry.fresh else None,
        freed=amounts_of(entry.freed, entry.count, (*path, "freed")) if entry.freed else None,
        kernel=kernel,
        accesses=accesses_of(**columns),
        **{
            rule: frozen(np.array([getattr(access, rule) for access in entry.accesses], np.int64))
            for rule in ("divisor", "step_div", "step_mod")
        },
    )


def _compute_times(entry: RangeEntry, path: Path) -> tuple[int, int, Amounts | None]:
    """Return (lowest, highest, listed or tabled amounts) of a range's compute times in ps; None for uniform times."""
    for key in ("low_ps", "high_ps"):
        if (getattr(entry, key) is None) == (entry.compute_ps is None):
            problem = "the time is missing" if entry.compute_ps is None else "the time is given twice"
            raise InputError(problem, path=(*path, key), expected="low_ps and high_ps, or compute_ps")
    if entry.compute_ps is None:
        assert entry.low_ps is not None
        assert entry.high_ps is not None
        return entry.low_ps, entry.high_ps, None
    return compute_bounds(amounts_of(entry.compute_ps, entry.count, (*path, "compute_ps")))


def _numbered(names: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


def _positions(
    used: Sequence[str], number: I64, places: dict[str, int], key: str, path_of: Callable[[int], Path]
) -> I64:
    """Return [entries] the places of the names ``used[number]``; raise `InputError` for the first unknown name.

    ``path_of`` returns the path of an entry for the error.
    """
    found = np.array([places.get(name, -1) for name in used], np.int64)[number]
    for at in np.flatnonzero(found < 0)[:1].tolist():
        _position(used[number[at]], places, key, path_of(at))
    return found


def _position(name: str, places: dict[str, int], key: str, path: Path) -> int:
    if name not in places:
        expected = f"one of {', '.join(map(repr, places))}" if places else f"a {key} that the file declares"
        raise InputError(f"there is no {key} {name!r}", path=(*path, key), expected=expected, value=name, known=places)
    return places[name]


# ---- Amounts of range items, and accesses that name nodes -----------------------------------------------------------


def amounts_of(entry: AmountsEntry, count: int, path: Path) -> Amounts:
    """Return the amounts of ``count`` items; raise `InputError` if a number or a column of a table is missing."""
    if entry.items and entry.weight:
        raise InputError("both numbers and a table are given", path=(*path, "weight"), expected="one of them")
    if not entry.items and not entry.weight:
        raise InputError("no numbers are given", path=(*path, "items"), expected=f"{count} numbers, or a table")
    parts = len(entry.weight)
    for key, right in (("items", 0 if parts else count), ("low", parts), ("high", parts)):
        given = len(getattr(entry, key))
        if given != right:
            what = "one for each item" if key == "items" else "one for each weight"
            raise InputError(f"there are {given} numbers", path=(*path, key), expected=f"{right}, {what}")
    if sum(entry.weight) > MOST_WEIGHT:
        problem = f"the weights add up to {sum(entry.weight):,}"
        raise InputError(problem, path=(*path, "weight"), expected=f"at most {MOST_WEIGHT:,}")
    for part, (low, high) in enumerate(zip(entry.low, entry.high, strict=True)):
        if low > high:
            raise InputError(f"the part ends at {high}", path=(*path, "high", part), expected=f"{low} or more")
    return Amounts.of_items(entry.items) if entry.items else Amounts.of_table(entry.weight, entry.low, entry.high)


def node_access_of(entry: NodeAccessEntry, count: int, path: Path) -> NodeAccess:
    """Return the access of ``entry``, for a range of ``count`` items."""
    nodes, shares = tuple(entry.nodes), tuple(entry.shares) or (1,) * len(entry.nodes)
    where = (*path, "shares")
    if len(shares) != len(nodes):
        raise InputError(f"there are {len(shares)} shares", path=where, expected=f"{len(nodes)}, one for each node")
    if sum(shares) > MOST_SHARES:
        raise InputError(f"the shares add up to {sum(shares):,}", path=where, expected=f"at most {MOST_SHARES:,}")
    amounts = amounts_of(entry.bytes, count, (*path, "bytes"))
    mode, pattern = int(member(Mode, entry.mode)), int(member(Pattern, entry.pattern))
    return NodeAccess(nodes, shares, mode, pattern, amounts, entry.returned_ppm)


# ---- Columns of tasks and segments: entries are checked and turned into arrays in batches ----------------------------


ENUMERATIONS: dict[str, Iterable[Any]] = {"op": Op, "kind": Kind, "mode": Mode, "pattern": Pattern}
CODES = {key: {member_name(each): int(each) for each in kind} for key, kind in ENUMERATIONS.items()}  # number by name
_ACCESS = attrgetter(*ACCESS_TYPES)


@cache
def many(item: Any) -> TypeAdapter[list[Any]]:
    """Return the validator of lists of items of the type ``item``."""
    return TypeAdapter(list[item])


class EntryColumns:
    """The columns of entries of one kind. ``names`` numbers the named kernels and regions in the order of first use."""

    model: type[TaskEntry] | type[SegmentEntry]

    def __init__(self) -> None:
        self.names: dict[str, dict[str, int]] = {"kernel": {}, "region": {}}
        self._parts = [self.columns([])]

    def take(self, batch: Batch) -> bool:
        """Append the entries of ``batch`` if all are right; return whether all are right."""
        try:
            entries = many(self.model).validate_python(batch.values)
        except ValidationError:
            return False
        accesses = chain.from_iterable(entry.get("accesses", ()) for entry in batch.values)
        if not batch.has_distinct_keys(sum(map(len, chain(batch.values, accesses)))):
            return False
        self.add(entries)
        return True

    def add(self, entries: Sequence[Any]) -> None:
        """Append checked entries."""
        self._parts.append(self.columns(entries))

    def column(self, name: str) -> Array:
        """Return a whole column."""
        return np.concatenate([part[name] for part in self._parts])

    def columns(self, entries: Sequence[Any]) -> dict[str, Array]:
        """Return the columns of checked entries."""
        raise NotImplementedError


class TaskColumns(EntryColumns):
    """Kinds, ops and successors of tasks."""

    model = TaskEntry

    def columns(self, entries: Sequence[TaskEntry]) -> dict[str, Array]:
        """Return the columns of checked tasks."""
        ops = list(chain.from_iterable(entry.ops for entry in entries))
        return {
            "kind": _coded("kind", [entry.kind for entry in entries]),
            "ops": _lengths(entry.ops for entry in entries),
            "op_code": _coded("op", [op[0] for op in ops]),
            "op_arg": np.array([op[1] if len(op) == 2 else 0 for op in ops], np.uint32),
            "then": _lengths(entry.then for entry in entries),
            "successor": np.array(list(chain.from_iterable(entry.then for entry in entries)), np.uint32),
        }


class SegmentColumns(EntryColumns):
    """Compute times, kernels and accesses of segments."""

    model = SegmentEntry

    def columns(self, entries: Sequence[SegmentEntry]) -> dict[str, Array]:
        """Return the columns of checked segments."""
        rows = map(_ACCESS, chain.from_iterable(entry.accesses for entry in entries))
        columns = dict(zip(ACCESS_TYPES, list(zip(*rows, strict=True)) or [()] * len(ACCESS_TYPES), strict=True))
        found = {
            "compute_ps": np.array([entry.compute_ps for entry in entries], np.int64),
            "kernel": self._numbers("kernel", [entry.kernel for entry in entries]),
            "accesses": _lengths(entry.accesses for entry in entries),
            "region": self._numbers("region", columns.pop("region")),
            "mode": _coded("mode", columns.pop("mode")),
            "pattern": _coded("pattern", columns.pop("pattern")),
        }
        return found | {name: np.array(values, ACCESS_TYPES[name]) for name, values in columns.items()}

    def _numbers(self, key: str, names: Sequence[str]) -> Array:
        """Return the numbers of names of kernels or regions, in the order of first use."""
        numbers = self.names[key]
        return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)


def columns_of(tasks: TaskColumns, segments: SegmentColumns) -> Columns:
    """Return the columns of all tasks and segments, in the form that `to_workload` expects."""
    return Columns(
        op_ptr=offsets(tasks.column("ops")),
        op_code=tasks.column("op_code"),
        op_arg=tasks.column("op_arg"),
        kind=tasks.column("kind"),
        then_ptr=offsets(tasks.column("then")),
        successor=tasks.column("successor"),
        compute_ps=segments.column("compute_ps"),
        kernel=segments.column("kernel"),
        kernels=tuple(segments.names["kernel"]),
        access_ptr=offsets(segments.column("accesses")),
        accesses={name: segments.column(name) for name in ACCESS_TYPES},
        regions=tuple(segments.names["region"]),
    )


def _coded(kind: str, names: Sequence[str]) -> Array:
    return np.array(list(map(CODES[kind].__getitem__, names)), np.uint8)


def _lengths(lists: Iterable[Sequence[Any]]) -> Array:
    return np.array(list(map(len, lists)), np.int64)
