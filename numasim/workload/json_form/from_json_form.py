"""A task graph in JSON becomes arrays, and names become numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError
from numasim.workload.amounts import Amounts
from numasim.workload.builder import ACCESS_TYPES, accesses_of, frozen
from numasim.workload.graph import (
    I64,
    Deal,
    Loop,
    Mode,
    Op,
    Pattern,
    Phase,
    RangeFamily,
    Region,
    Workload,
    compute_bounds,
)
from numasim.workload.graph_rules import parents
from numasim.workload.json_form.amount_models import AmountsEntry, amounts_of, node_access_of
from numasim.workload.json_form.graph_models import MOST_PHASES, GraphFile, PhaseEntry, RangeEntry, member
from numasim.workload.phases import places
from numasim.workload.recording.recorded import Recorded
from numasim.workload.sync_parameters import Role, SyncObject


@dataclass(frozen=True)
class Columns:
    """The tasks and segments of a file; kernels and regions are numbers of names, in the order of their first use."""

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

    def path_of_access(self, access: int) -> tuple[str | int, ...]:
        """Where an access stands in the file."""
        segment = int(np.searchsorted(self.access_ptr, access, side="right")) - 1
        return ("segments", segment, "accesses", access - int(self.access_ptr[segment]))


def to_workload(file: GraphFile, columns: Columns) -> Workload:
    """The arrays of a file whose tasks and segments are ``columns``; an `InputError` for unknown names and for tasks
    that are not started exactly once.
    """
    op_ptr, op_code, op_arg = columns.op_ptr, columns.op_code, columns.op_arg
    phases, loops = _phases(file, columns)
    _check_roots(phases, loops, len(columns.kind))
    regions = [region.name for region in file.regions]
    return Workload(
        name=file.name,
        parameters=file.parameters,
        kernels=tuple(file.kernels),
        regions=tuple(Region(entry.name, entry.bytes, entry.initialised) for entry in file.regions),
        phases=phases,
        loops=loops,
        ranges=_ranges(file, regions),
        op_ptr=frozen(op_ptr),
        op_code=frozen(op_code),
        op_arg=frozen(op_arg),
        kind=frozen(columns.kind),
        parent=frozen(parents(op_ptr, op_code, op_arg, _trees(phases))),
        segment_compute_ps=frozen(columns.compute_ps),
        segment_kernel=frozen(_segment_kernels(file, columns)),
        segment_accesses=frozen(columns.access_ptr),
        accesses=accesses_of(**{**columns.accesses, "region": _regions_of_accesses(regions, columns)}),
        successor_ptr=frozen(columns.then_ptr),
        successor=frozen(columns.successor),
        facts=file.facts,
        recorded=Recorded(**dict(file.recorded)) if file.recorded else None,
        words=tuple(
            SyncObject(w.name, member(Role, w.role), w.owner, w.parties, w.skew_ppm, w.undo_ps, w.same)
            for w in file.words
        ),
    )


def _phases(file: GraphFile, columns: Columns) -> tuple[tuple[Phase, ...], tuple[Loop, ...]]:
    if file.phases is None:
        tasks = len(columns.kind)
        spawned = columns.op_arg[(columns.op_code == Op.SPAWN) | (columns.op_code == Op.CALL)]
        root = np.ones(tasks, np.bool_)
        root[spawned[spawned < tasks]] = False
        return (Phase(roots=tuple(np.flatnonzero(root).tolist())),), ()
    return flat_phases(file.phases)


def flat_phases(entries: Sequence[PhaseEntry]) -> tuple[tuple[Phase, ...], tuple[Loop, ...]]:
    """The phases of these entries in their order, and the loops over them; an `InputError` for loops without phases
    and with keys that only phases have.
    """
    phases: list[Phase] = []
    loops: list[Loop] = []
    _flatten(entries, ("phases",), phases, loops)
    if len(phases) > MOST_PHASES:
        raise InputError(f"there are {len(phases):,} phases", path=("phases",), expected=f"at most {MOST_PHASES:,}")
    return tuple(phases), tuple(loops)


def _flatten(
    entries: Sequence[PhaseEntry], path: tuple[str | int, ...], phases: list[Phase], loops: list[Loop]
) -> None:
    for number, entry in enumerate(entries):
        if "loop" not in entry.model_fields_set:
            phases.append(_phase(entry))
            continue
        _check_loop(entry, (*path, number))
        place, first = len(loops), len(phases)
        loops.append(Loop(first, first, entry.repeat))
        _flatten(entry.loop, (*path, number, "loop"), phases, loops)
        loops[place] = Loop(first, len(phases), entry.repeat)


def _check_loop(entry: PhaseEntry, path: tuple[str | int, ...]) -> None:
    if not entry.loop:
        raise InputError("the loop is empty", path=(*path, "loop"), expected="phases, or loops over phases")
    for key in sorted(entry.model_fields_set - {"loop", "repeat"}):
        raise InputError(f"a loop has no {key}", path=(*path, key), expected="loop and repeat, and the rest in phases")


def _phase(entry: PhaseEntry) -> Phase:
    return Phase(
        roots=tuple(entry.roots),
        range_family=entry.range,
        deal=member(Deal, entry.deal),
        serial=entry.serial,
        repeat=entry.repeat,
        name=entry.name,
    )


def _trees(phases: Iterable[Phase]) -> Sequence[int]:
    """The roots of all phases, each once."""
    return list(dict.fromkeys(root for phase in phases for root in phase.roots))


def _check_roots(phases: Sequence[Phase], loops: Sequence[Loop], tasks: int) -> None:
    for number, phase in enumerate(phases):
        for place, root in enumerate(phase.roots):
            if root >= tasks:
                path = (*places(len(phases), loops)[number], "roots", place)
                raise InputError(f"task {root} does not exist", path=path, expected=f"a task below {tasks}")


def _ranges(file: GraphFile, regions: Sequence[str]) -> tuple[RangeFamily, ...]:
    places = {name: number for number, name in enumerate(regions)}
    return tuple(_range(file, number, regions, places) for number in range(len(file.ranges)))


def _range(file: GraphFile, number: int, regions: Sequence[str], places: dict[str, int]) -> RangeFamily:
    entry = file.ranges[number]
    path: tuple[str | int, ...] = ("ranges", number)
    columns: dict[str, list[int]] = {name: [getattr(each, name) for each in entry.accesses] for name in ACCESS_TYPES}
    kernel = _position(entry.kernel, file.kernels, "kernel", path)
    columns["region"] = [
        places[each.region]
        if each.region in places
        else _position(each.region, regions, "region", (*path, "accesses", place))
        for place, each in enumerate(entry.accesses)
    ]
    columns["mode"] = [member(Mode, each.mode) for each in entry.accesses]
    columns["pattern"] = [member(Pattern, each.pattern) for each in entry.accesses]
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
        fresh=_page_amounts(entry.fresh, entry.count, (*path, "fresh")),
        freed=_page_amounts(entry.freed, entry.count, (*path, "freed")),
        kernel=kernel,
        accesses=accesses_of(**columns),
        divisor=frozen(np.array([access.divisor for access in entry.accesses], np.int64)),
        step_div=frozen(np.array([access.step_div for access in entry.accesses], np.int64)),
        step_mod=frozen(np.array([access.step_mod for access in entry.accesses], np.int64)),
    )


def _page_amounts(entry: AmountsEntry | None, count: int, path: tuple[str | int, ...]) -> Amounts | None:
    return None if entry is None else amounts_of(entry, count, path)


def _compute_times(entry: RangeEntry, path: tuple[str | int, ...]) -> tuple[int, int, Amounts | None]:
    """(lowest, highest, times that are not uniform between the two) of a range."""
    for key in ("low_ps", "high_ps"):
        if (getattr(entry, key) is None) == (entry.compute_ps is None):
            problem = "the time is missing" if entry.compute_ps is None else "the time is given twice"
            raise InputError(problem, path=(*path, key), expected="low_ps and high_ps, or compute_ps")
    if entry.compute_ps is None:
        assert entry.low_ps is not None
        assert entry.high_ps is not None
        return entry.low_ps, entry.high_ps, None
    return compute_bounds(amounts_of(entry.compute_ps, entry.count, (*path, "compute_ps")))


def _segment_kernels(file: GraphFile, columns: Columns) -> npt.NDArray[np.uint8]:
    found, unknown = _positions(columns.kernels, columns.kernel, file.kernels)
    for segment in unknown:
        _position(columns.kernels[columns.kernel[segment]], file.kernels, "kernel", ("segments", segment))
    return found.astype(np.uint8)


def _regions_of_accesses(regions: Sequence[str], columns: Columns) -> I64:
    used = columns.accesses["region"]
    found, unknown = _positions(columns.regions, used, regions)
    for access in unknown:
        _position(columns.regions[used[access]], regions, "region", columns.path_of_access(access))
    return found


def _positions(used: Sequence[str], number: I64, names: Sequence[str]) -> tuple[I64, list[int]]:
    """Where the names ``used[number]`` stand in ``names``, and the first entry whose name does not."""
    places = {name: place for place, name in enumerate(names)}
    table = np.array([places.get(name, -1) for name in used], np.int64)
    found = table[number]
    return found, np.flatnonzero(found < 0)[:1].tolist()


def _position(name: str, names: Sequence[str], key: str, path: tuple[str | int, ...]) -> int:
    if name not in names:
        expected = f"one of {', '.join(map(repr, names))}" if names else f"a {key} that the file declares"
        raise InputError(f"there is no {key} {name!r}", path=(*path, key), expected=expected, value=name, known=names)
    return names.index(name)
