"""A sweep: one run document and axes, expanded to cells in a fixed order.

The plain axes are multiplied, the last varying fastest; each group under ``zip`` counts as one more axis whose fields
advance together; ``include`` adds single cells; ``exclude`` takes cells away last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, product
from math import prod
from pathlib import Path
from typing import Any

from numasim.errors import InputError
from numasim.files.bounded_text import read_text
from numasim.files.file_kinds import YAML
from numasim.parts import catalog
from numasim.parts.base import canonical_json
from numasim.parts.yaml.nodes import Node, shown
from numasim.spec.overrides import Assignment, put_all
from numasim.spec.run_spec import Described, Resolver, RunSpec, all_assignments, document_of
from numasim.spec.shared_contents import shared_contents
from numasim.spec.sweep_axes import Axes, Point, axis_name, read_axes
from numasim.spec.written_sweep import written

MOST_CELLS = 1_000_000
MOST_RUNS = 10_000_000  # every one is planned in memory before the first is started


@dataclass(frozen=True)
class Cell:
    """One combination of axis values, as plain data, and its run."""

    index: int
    axes: dict[str, Any]
    spec: RunSpec


@dataclass(frozen=True)
class SweepSpec:
    """The cells of a sweep in order.

    ``contents`` is what all cells share, without axes, repeats and names; ``text`` is the YAML that describes the
    sweep, ``files`` what it refers to, by paths beside it.
    """

    axes: tuple[str, ...]
    cells: tuple[Cell, ...]
    seed: int
    repeat: int
    contents: dict[str, Any]
    text: str
    files: dict[str, bytes] = field(default_factory=dict)

    @property
    def runs(self) -> int:
        """Number of runs: cells times repeats."""
        return len(self.cells) * self.repeat


def load_sweep(spec: Described, sets: Sequence[str] = (), changes: Mapping[str, Any] | None = None) -> SweepSpec:
    """Return the sweep in a YAML file, of a shipped name or of a mapping; without ``sweep`` it is one cell.

    ``sets`` and ``changes`` are as for `load_run`. What was described in Python is written out as YAML. InputError for
    anything that is wrong; a cell that cannot be run is named by its axis values.
    """
    assignments = all_assignments(sets, changes)
    document = put_all(document_of(spec), [each for each in assignments if each.path[0] == "sweep"])
    others = [each for each in assignments if each.path[0] != "sweep"]
    if isinstance(spec, str | Path) and not changes:
        return expand(document, others, read_text(catalog.find_spec(str(spec)), YAML) + _notes(sets))
    resolver = Resolver()
    made = expand(document, others, "", resolver)
    out = written(document, others, resolver)
    return replace(made, text=out.text, files=out.files)


def expand(document: Node, assignments: Sequence[Assignment], text: str, resolver: Resolver | None = None) -> SweepSpec:
    """Return the sweep that ``document`` describes after ``assignments`` to its fields."""
    sweep = document.child("sweep")
    axes = read_axes(sweep) if sweep else Axes((), ((),), ((),), ())
    _refuse_set_axes(axes, assignments)
    points = _points(axes, sweep or document)
    resolver = resolver or Resolver()
    first = _cell(resolver, document, assignments, 0, points[0]).spec
    _check_runs(len(points), first.repeat, document)
    cells = tuple(_cell(resolver, document, assignments, index, point) for index, point in enumerate(points))
    return SweepSpec(
        axes.names, cells, first.seed, first.repeat, shared_contents(resolver, document, assignments), text
    )


def _notes(sets: Sequence[str]) -> str:
    """Return the overrides as comments, so that the kept text describes the whole sweep."""
    return "".join(f"\n# --set {text}" for text in sets)


def _refuse_set_axes(axes: Axes, assignments: Sequence[Assignment]) -> None:
    for each in assignments:
        if axis_name(each) in axes.names:
            name = axis_name(each)
            raise InputError(
                f"{name} is an axis of this sweep",
                place=str(each.place) or None,
                expected=f"another field, or sweep.{name}=[...] to change the axis",
            )


def _points(axes: Axes, sweep: Node) -> list[Point]:
    """Return the cells' assignments; checks their number before it creates them."""
    count = prod(map(len, axes.dimensions)) + len(axes.include)
    if count > MOST_CELLS:
        expected = f"at most {MOST_CELLS:,}"
        raise InputError(f"the sweep has {count:,} cells", path=("sweep",), place=str(sweep.place), expected=expected)
    multiplied = (tuple(chain.from_iterable(each)) for each in product(*axes.dimensions)) if axes.dimensions else ()
    points = list(_kept([*multiplied, *axes.include], axes))
    if not points:
        expected = "an exclude that leaves at least one cell"
        raise InputError("the sweep has no cells", path=("sweep",), place=str(sweep.place), expected=expected)
    return points


def _check_runs(cells: int, repeat: int, document: Node) -> None:
    """InputError for more runs than can be planned, before the cells are expanded."""
    if cells * repeat > MOST_RUNS:
        node = document.child("repeat") or document
        raise InputError(
            f"{repeat:,} repeats of {cells:,} cells are {cells * repeat:,} runs",
            path=("repeat",),
            place=str(node.place) or None,
            expected=f"at most {MOST_RUNS // cells:,} repeats",
        )


def _kept(points: list[Point], axes: Axes) -> Iterator[Point]:
    used: set[int] = set()
    kept = []
    for point in points:
        values = _values(point) if axes.exclude else {}
        matching = {index for index, exclusion in enumerate(axes.exclude) if exclusion.matches(values)}
        used |= matching
        if not matching:
            kept.append(point)
    for index, exclusion in enumerate(axes.exclude):
        if index not in used:
            raise InputError(
                "no cell has these values",
                path=("sweep", "exclude", index),
                place=str(exclusion.place),
                expected="values of the axes; or remove the entry",
            )
    return iter(kept)


def _values(point: Point) -> dict[str, Any]:
    return {axis_name(each): each.value.plain() for each in point}


def _cell(resolver: Resolver, document: Node, base: Sequence[Assignment], index: int, point: Point) -> Cell:
    try:
        spec = resolver.run(document, (*base, *point))
    except InputError as error:
        raise _in_cell(error, index, point) from None
    return Cell(index, _values(point), spec)


def _in_cell(error: InputError, index: int, point: Point) -> InputError:
    """Return the same error, naming the cell."""
    values = ", ".join(f"{name} = {_short(value)}" for name, value in _values(point).items())
    problem = f"{error.problem} (in cell {index}: {values})" if point else error.problem
    again = InputError(problem, path=error.path, place=error.place, expected=error.expected)
    again.nearest = error.nearest
    return again


def _short(value: Any) -> str:
    return canonical_json(value).replace('"', "") if isinstance(value, dict) else shown(value)
