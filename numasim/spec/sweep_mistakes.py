"""What is wrong with a sweep: all of it, as far as one mistake does not hide another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from numasim.errors import InputError, dotted, together
from numasim.parts.base import canonical_json
from numasim.parts.yaml.nodes import Key, Node, path_parts, shown
from numasim.spec.overrides import Assignment
from numasim.spec.run_spec import FIELDS, Resolver
from numasim.spec.sweep_axes import SPECIAL, Point

MOST_TRIED, ENOUGH = 300, 100  # cells that are looked at, and mistakes after which no more are


def axis_values(point: Point) -> dict[str, Any]:
    """The value of each axis at a point, as plain data."""
    return {dotted(each.path): each.value.plain() for each in point}


def in_cell(error: InputError, index: int, point: Point) -> InputError:
    """Return the same error, naming the cell."""
    values = ", ".join(f"{name} = {_short(value)}" for name, value in axis_values(point).items())
    problem = f"{error.problem} (in cell {index}: {values})" if point else error.problem
    again = InputError(problem, path=error.path, place=error.place, expected=error.expected)
    again.nearest = error.nearest
    return again


def _short(value: Any) -> str:
    return canonical_json(value).replace('"', "") if isinstance(value, dict) else shown(value)


def of_cells(
    resolver: Resolver, document: Node, base: Sequence[Assignment], points: Sequence[Point], failed: int
) -> InputError:
    """What is wrong with the cell number ``failed`` and with others that show a value of an axis for the first time.

    What is wrong with several of them alike is said of the first.
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
                found.setdefault(str(each), each if unknown else in_cell(each, index, points[index]))
    return together(found.values())


def _telling(points: Sequence[Point], failed: int) -> list[int]:
    """The cells that show a value of an axis for the first time, and the cell ``failed``, in order."""
    first: dict[int, int] = {}
    for index, point in enumerate(points):
        for each in point:
            first.setdefault(id(each), index)
    return sorted({failed, *first.values()})


def beside_axes(resolver: Resolver, document: Node, base: Sequence[Assignment]) -> list[InputError]:
    """What is wrong with the fields that no axis changes, where the axes themselves are wrong."""
    missing = {name for name in FIELDS if document.child(name) is None}  # may be what a wrong axis stands for
    return resolver.mistakes(document.without("sweep"), base, {*_varied(document.child("sweep")), *missing})


def _varied(axes: Node | None) -> Iterator[Key]:
    """The fields that axes are, or are inside of."""
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
