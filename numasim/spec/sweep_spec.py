"""A sweep: one run document and axes, expanded to cells in a fixed order.

The plain axes are multiplied, the last varying fastest; each group under ``zip`` counts as one more axis whose fields
advance together; ``include`` adds single cells; ``exclude`` takes cells away last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from numasim.errors import InputError, Mistakes, together
from numasim.files.reader import YAML, read_text
from numasim.parts import catalog
from numasim.parts.yaml.nodes import Node
from numasim.spec.changed_axes import with_axes
from numasim.spec.overrides import Assignment
from numasim.spec.run_spec import Described, Resolver, RunSpec, all_assignments, document_of
from numasim.spec.shared_contents import shared_contents
from numasim.spec.sweep_axes import Axes, Point, axis_name, read_axes
from numasim.spec.sweep_mistakes import axis_values, beside_axes, of_cells
from numasim.spec.sweep_points import all_points
from numasim.spec.written_sweep import written
from numasim.workload.parameters import WorkloadFile

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

    ``sets`` and ``changes`` are as for `load_run`. The text of a YAML file is kept as it is where nothing but the text
    describes the sweep; else all is written out (`numasim.spec.written_sweep`). InputError for anything that is wrong;
    a cell that cannot be run is named by its axis values.
    """
    assignments = all_assignments(sets, changes)
    document = with_axes(document_of(spec), assignments)
    others = [each for each in assignments if each.path[0] != "sweep"]
    resolver = Resolver()
    made = expand(document, others, "", resolver)
    if isinstance(spec, str | Path) and not assignments and not _refers_to_files(made, resolver):
        return replace(made, text=read_text(catalog.find_spec(str(spec)), YAML))
    out = written(document, others, resolver)
    return replace(made, text=out.text, files=out.files)


def _refers_to_files(made: SweepSpec, resolver: Resolver) -> bool:
    """Whether anything of the sweep is in a file of the user's beside its own."""
    specs = {id(cell.spec.strategy): cell.spec for cell in made.cells}.values()
    calls = any(spec.strategy.tune is not None and spec.strategy.tune.function for spec in specs)
    return calls or resolver.reads_files or any(isinstance(cell.spec.workload, WorkloadFile) for cell in made.cells)


def expand(document: Node, assignments: Sequence[Assignment], text: str, resolver: Resolver | None = None) -> SweepSpec:
    """Return the sweep that ``document`` describes after ``assignments`` to its fields."""
    sweep, resolver, mistakes = document.child("sweep"), resolver or Resolver(), Mistakes()
    with mistakes.apart():
        axes = read_axes(sweep) if sweep else Axes((), ((),), ((),), ())
        _refuse_set_axes(axes, assignments)
        points = all_points(axes, sweep or document)
    if mistakes.found:
        raise together([*mistakes.found, *beside_axes(resolver, document, assignments)]) from None
    cells = tuple(_cells(resolver, document, assignments, points))
    return SweepSpec(
        axes.names,
        cells,
        cells[0].spec.seed,
        cells[0].spec.repeat,
        shared_contents(resolver, document, assignments),
        text,
    )


def _refuse_set_axes(axes: Axes, assignments: Sequence[Assignment]) -> None:
    for each in assignments:
        if axis_name(each) in axes.names:
            name = axis_name(each)
            raise InputError(
                f"{name} is an axis of this sweep",
                place=str(each.place) or None,
                expected=f"another field, or sweep.{name}=[...] to change the axis",
            )


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


def _cells(resolver: Resolver, document: Node, base: Sequence[Assignment], points: Sequence[Point]) -> Iterator[Cell]:
    """The cells in order; InputError with all that is wrong with any of them."""
    for index, point in enumerate(points):
        try:
            spec = resolver.run(document, (*base, *point))
        except InputError:
            raise of_cells(resolver, document, base, points, index) from None
        if index == 0:
            _check_runs(len(points), spec.repeat, document)
        yield Cell(index, axis_values(point), spec)
