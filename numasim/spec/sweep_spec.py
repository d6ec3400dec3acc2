"""A sweep: one run document and axes, expanded to cells in a fixed order.

An axis is a field with a list of values; a cell is one run of the sweep. The plain axes are multiplied, the last axis
varying fastest; each group under ``zip`` counts as one more axis whose fields advance together; ``include`` adds single
cells; ``exclude`` removes cells last. An assignment sets one field of the document.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from numasim.errors import InputError, together
from numasim.files.reader import YAML, read_text
from numasim.parts import catalog
from numasim.parts.base import REMARKS
from numasim.parts.yaml.document import flow_text
from numasim.parts.yaml.nodes import Key, Node, path_parts, shown
from numasim.spec.overrides import Assignment, put_all, put_whole
from numasim.spec.part_reader import CATALOG, is_shipped_file
from numasim.spec.run_spec import (
    FIELDS,
    Described,
    Resolver,
    RunSpec,
    all_assignments,
    document_of,
    workload_json,
    workload_mapping,
)
from numasim.spec.sweep_axes import (
    NO_AXES,
    SPECIAL,
    Axes,
    Point,
    all_points,
    axis_name,
    axis_values,
    read_axes,
    with_axes,
)
from numasim.spec.written_sweep import written
from numasim.workload.parameters import WorkloadFile

MOST_RUNS = 10_000_000  # all runs are planned in memory before the first run starts


@dataclass(frozen=True)
class Cell:
    """One run of a sweep, with its number and the values of the axes as plain data."""

    index: int
    axes: dict[str, Any]
    spec: RunSpec


@dataclass(frozen=True)
class SweepSpec:
    """The cells of a sweep in order."""

    axes: tuple[str, ...]
    cells: tuple[Cell, ...]
    seed: int
    repeat: int
    contents: dict[str, Any]  # the fields that all cells share, without axes, repeats and names
    text: str  # YAML that describes the sweep
    files: dict[str, bytes] = field(default_factory=dict)  # {path beside the text: contents} of files that it names

    @property
    def runs(self) -> int:
        """Return the number of runs: cells times repeats."""
        return len(self.cells) * self.repeat


def load_sweep(spec: Described, sets: Sequence[str] = (), changes: Mapping[str, Any] | None = None) -> SweepSpec:
    """Return the sweep in a YAML file, of a shipped name or of a mapping; a run without ``sweep`` is one cell.

    ``sets`` and ``changes`` are changes of the document, as for `load_run`. The text of a YAML file is kept unchanged
    if it alone describes the sweep; else the sweep is written out (`numasim.spec.written_sweep`). Raises InputError for
    any mistake; the error of a cell has the cell's axis values.
    """
    assignments = all_assignments(sets, changes)
    document = with_axes(document_of(spec), assignments)
    others = [each for each in assignments if each.path[0] != "sweep"]
    resolver = Resolver()
    made = _expanded(document, others, resolver)
    if isinstance(spec, str | Path) and not assignments and not _refers_to_files(made, resolver):
        return replace(made, text=read_text(catalog.find_spec(str(spec)), YAML))
    text, files = written(document, others, resolver)
    return replace(made, text=text, files=files)


def _refers_to_files(made: SweepSpec, resolver: Resolver) -> bool:
    """Return whether the sweep refers to other files of the user: parts, task graphs or controllers."""
    specs = {id(cell.spec.strategy): cell.spec for cell in made.cells}.values()
    calls = any(spec.strategy.tune is not None and spec.strategy.tune.function for spec in specs)
    parts = not all(is_shipped_file(file) for file in resolver.reader.files)
    return calls or parts or any(isinstance(cell.spec.workload, WorkloadFile) for cell in made.cells)


def _expanded(document: Node, assignments: Sequence[Assignment], resolver: Resolver) -> SweepSpec:
    """Return the sweep that ``document`` describes after ``assignments``, with an empty text."""
    sweep = document.child("sweep")
    try:
        axes = read_axes(sweep) if sweep else Axes((), ((),), ((),), ())
        _refuse_set_axes(axes, assignments)
        points = all_points(axes, sweep or document)
    except InputError as error:
        missing = {name for name in FIELDS if document.child(name) is None}  # a wrong axis may mean a missing field
        hidden = {*_varied(document.child("sweep")), *missing}
        mistakes = resolver.resolved(document.without("sweep"), assignments, hidden)[1]
        raise together([error, *mistakes]) from None
    cells = tuple(_cells(resolver, document, assignments, points))
    first = cells[0].spec
    contents = _shared_contents(resolver, document, assignments)
    return SweepSpec(axes.names, cells, first.seed, first.repeat, contents, text="")


def _refuse_set_axes(axes: Axes, assignments: Sequence[Assignment]) -> None:
    for each in assignments:
        if (name := axis_name(each)) in axes.names:
            expected = f"another field, or sweep.{name}=[...] to change the axis"
            raise InputError(f"{name} is an axis of this sweep", place=each.place, expected=expected)


def _check_runs(cells: int, repeat: int, document: Node) -> None:
    """Raise InputError for more runs than can be planned, before the cells are expanded."""
    if cells * repeat > MOST_RUNS:
        problem = f"{repeat:,} repeats of {cells:,} cells are {cells * repeat:,} runs"
        place = (document.child("repeat") or document).place
        raise InputError(problem, path=("repeat",), place=place, expected=f"at most {MOST_RUNS // cells:,} repeats")


def _cells(resolver: Resolver, document: Node, base: Sequence[Assignment], points: Sequence[Point]) -> Iterator[Cell]:
    """Yield the cells in order. Raises InputError with the mistakes of all cells."""
    for index, point in enumerate(points):
        try:
            spec = resolver.run(document, (*base, *point))
        except InputError:
            raise _of_cells(resolver, document, base, points, index) from None
        if index == 0:
            _check_runs(len(points), spec.repeat, document)
        yield Cell(index, axis_values(point), spec)


# ---- The mistakes of a sweep: as many as can be found, since one mistake may hide others ----------------------------

MOST_TRIED, ENOUGH = 300, 100  # the most cells that are tried, and the number of mistakes after which the search ends


def _in_cell(error: InputError, index: int, point: Point) -> InputError:
    values = ", ".join(
        f"{name} = {flow_text(value) if isinstance(value, dict) else shown(value)}"
        for name, value in axis_values(point).items()
    )
    problem = f"{error.problem} (in cell {index}: {values})" if point else error.problem
    return error.with_(problem=problem)


def _of_cells(
    resolver: Resolver, document: Node, base: Sequence[Assignment], points: Sequence[Point], failed: int
) -> InputError:
    """Return the mistakes of the cell ``failed`` and of all cells in which a value of an axis occurs first.

    A mistake of several cells is reported for the first of these cells.
    """
    found: dict[str, InputError] = {}
    for tried, index in enumerate(_telling(points, failed)):
        if tried == MOST_TRIED or len(found) >= ENOUGH:
            break
        try:
            resolver.run(document, (*base, *points[index]))
        except InputError as error:
            for each in error.each:
                unknown = not each.path and (each.place or "") in map(str, document.keys.values())
                found.setdefault(str(each), each if unknown else _in_cell(each, index, points[index]))
    return together(found.values())


def _telling(points: Sequence[Point], failed: int) -> list[int]:
    """Return, in order, the cell ``failed`` and the cells in which a value of an axis occurs first."""
    first: dict[int, int] = {}
    for index, point in enumerate(points):
        for each in point:
            first.setdefault(id(each), index)
    return sorted({failed, *first.values()})


def _varied(axes: Node | None) -> Iterator[Key]:
    """Yield the fields of a run that axes change, as a whole or inside."""
    if axes is None or not isinstance(axes.content, dict | list):
        return
    if isinstance(axes.content, list):
        for entry in axes.content:
            yield from _varied(entry)
        return
    for key, inner in axes.content.items():
        if key in SPECIAL:
            yield from _varied(inner)
        else:
            yield path_parts(str(key))[0]


# ---- The contents that all cells share, from which the hash of a sweep is made ---------------------------------------
#
# A machine has the same contents whether the document names it, writes it out (with or without defaults) or holds it as
# an object. A field that is incomplete without the axes enters as it is written.


def _shared_contents(resolver: Resolver, document: Node, assignments: Sequence[Assignment]) -> dict[str, Any]:
    """Return ``document`` after ``assignments`` as plain data, without axes, repeats and names."""
    changed, inner = put_whole(document, assignments)
    whole = changed.without(*NO_AXES)
    contents: dict[str, Any] = {}
    for key in dict.fromkeys([*whole.mapping(), *(each.path[0] for each in inner)]):
        below = tuple(each for each in inner if each.path[0] == key)
        node = whole.child(key)
        if node:
            contents[str(key)] = _field_contents(resolver, str(key), node, below)
        else:
            contents[str(key)] = put_all(Node({}, whole.place), below, 1).plain()
    return contents


def _field_contents(resolver: Resolver, key: str, node: Node, inner: tuple[Assignment, ...]) -> Any:
    if key in CATALOG:
        try:
            return json.loads(resolver.part(key, node, inner).contents_json)
        except InputError:
            return put_all(resolver.reader.expand(key, node), inner, 1).without(*REMARKS).plain()
    if key == "workload":
        try:
            return json.loads(workload_json(resolver.workload(node, inner)))
        except InputError:
            return put_all(workload_mapping(node), inner, 1).plain()
    changed = put_all(node, inner, 1)
    return changed.without("skip").plain() if key == "model" else changed.plain()
