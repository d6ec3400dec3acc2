"""One run of a document: the run that the document describes or, for a sweep, one of the sweep's cells.

A sweep has axes, fields with a list of values; a cell is one combination of these values, a point the assignments that
set them. Changes may give values to axes, and the first cell with these values is run. If several cells have these
values, a cell with the values that the document itself gives is preferred. If a change gives an axis a value that no
cell has, the run is no cell, and the axis has this value. A change of a whole field removes all axes inside the field.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from numasim.frozen import Frozen
from numasim.parts.yaml.nodes import Node
from numasim.spec.overrides import Assignment
from numasim.spec.run_spec import Described, Resolver, RunSpec, all_assignments, document_of
from numasim.spec.sweep_axes import Point, all_points, axis_name, axis_values, read_axes, with_axes


class OneRun(Frozen):
    """A run; for a sweep also its place among the cells."""

    spec: RunSpec
    cells: int = 1  # number of cells
    index: int | None = 0  # number of the run's cell; None: the run is no cell
    axes: dict[str, Any] = field(default_factory=dict)  # {axis: its value in this run}
    other: tuple[str, Any] | None = None  # (an axis, a value of it in other cells)


def load_run(spec: Described, sets: Sequence[str] = (), changes: Mapping[str, Any] | None = None) -> RunSpec:
    """Return the run of a YAML file or of a mapping; for a sweep, one of its cells.

    ``sets`` are ``field=value`` texts as on the command line, ``changes`` dotted fields with plain Python values.
    Raises InputError, with its place, for anything that is wrong.
    """
    return load_one(spec, sets, changes).spec


def load_one(spec: Described, sets: Sequence[str] = (), changes: Mapping[str, Any] | None = None) -> OneRun:
    """Return the run that `load_run` returns, with its cell if the document is a sweep."""
    assignments = all_assignments(sets, changes)
    document = with_axes(document_of(spec), assignments)
    others = [each for each in assignments if each.path[0] != "sweep"]
    sweep = document.child("sweep")
    if sweep is None:
        return OneRun(Resolver().run(document, others))
    axes = read_axes(sweep)
    points = all_points(axes, sweep)
    fitting, given = _fitting(points, others)
    index = _preferred(points, fitting, document)
    wholes = [each.path for each in given]  # an axis at or inside of one of these fields is removed
    left = tuple(each for each in points[index] if not any(each.path[: len(whole)] == whole for whole in wholes))
    values = axis_values(points[index])
    changed = {axis_name(each): each.value.plain() for each in given if axis_name(each) in values}
    inside = {axis_name(each) for each in points[index]} - {axis_name(each) for each in left}
    is_cell = all(values[name] == changed.get(name, values[name]) for name in values) and inside <= changed.keys()
    found = ((name, value) for point in points for name, value in axis_values(point).items())
    here = values | changed
    other = next((each for each in found if isinstance(each[1], str | int) and each[1] != here.get(each[0])), None)
    return OneRun(
        Resolver().run(document, (*given, *left)),
        len(points),
        index if is_cell else None,
        {name: value for name, value in here.items() if name in changed or name not in inside},
        other,
    )


def _fitting(points: Sequence[Point], assignments: Sequence[Assignment]) -> tuple[Sequence[int], list[Assignment]]:
    """Return (the points with the values that ``assignments`` give to axes, the assignments that fit no point)."""
    fitting: Sequence[int] = range(len(points))
    needed = []
    for each in assignments:
        found = [index for index in fitting if _has(points[index], each)]
        fitting = found or fitting
        if not found:
            needed.append(each)
    return fitting, needed


def _preferred(points: Sequence[Point], fitting: Sequence[int], document: Node) -> int:
    """Return the first of the ``fitting`` points, preferably a point with the values of the document itself."""
    for each in points[fitting[0]]:
        own = document.follow(each.path)
        if own is not None:
            wanted = replace(each, value=own)
            fitting = [index for index in fitting if _has(points[index], wanted)] or fitting
    return fitting[0]


def _has(point: Point, wanted: Assignment) -> bool:
    """Return whether the axis of ``wanted`` has the wanted value at ``point``, or a mapping with the wanted name."""
    values, name, plain = axis_values(point), axis_name(wanted), wanted.value.plain()
    if name not in values:
        return False
    value = values[name]
    return bool(value == plain or (isinstance(value, dict) and isinstance(plain, str) and value.get("name") == plain))
