"""The ``sweep:`` mapping of a document: axes, zipped groups, included and excluded cells, and the resulting cells.

An axis is a field of the run with a list of values; a cell is one run of the sweep. A dimension is an axis, or several
under ``zip`` whose values go together; a point is one position on a dimension, or a whole cell. A node is a value of
the document with its place in the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import chain, product
from math import prod
from typing import Annotated, Any

from pydantic import Field, Strict

from numasim.errors import InputError, dotted, for_each
from numasim.frozen import Frozen
from numasim.parts.base import Model, canonical_json
from numasim.parts.validation import validate
from numasim.parts.yaml.nodes import FieldPath, Key, Node, Place, path_parts, shown
from numasim.spec.overrides import Assignment, field_path, put_all
from numasim.spec.run_spec import FIELDS, unknown_field

Number = Annotated[int, Strict()] | Annotated[Decimal, Strict()]
Point = tuple[Assignment, ...]  # the values of axes at a point
SPECIAL = ("zip", "include", "exclude")  # keys of ``sweep:`` that are no axes
NO_AXES = ("sweep", "repeat")  # fields of a run that cannot be axes
TOPS = tuple(name for name in FIELDS if name not in NO_AXES)  # the fields that can be axes, as a whole or inside
MOST_VALUES = 100_000
VALUES = "a list of values, or {from: 2, to: 24, step: 2}"
CELL = "a mapping of axes to values, such as {strategy: randomized, workers: 24}"


class RangeSpec(Model):
    """The values from, from + step, ..., up to and including the value ``to``."""

    start: Number = Field(alias="from", description="The first value.")
    stop: Number = Field(
        alias="to",
        description="The last value, if a whole number of steps leads there; no value is beyond it.",
    )
    step: Annotated[Number, Field(gt=0)] = Field(1, description="The distance from value to value, above 0.")


class Exclusion(Frozen):
    """An entry of ``exclude``, written at ``place``: it excludes the cells in which each axis has one of its values."""

    values: dict[str, list[Any]]
    place: Place

    def matches(self, axes: dict[str, Any]) -> bool:
        """Return whether a cell with the values ``axes`` is excluded."""
        return all(name in axes and axes[name] in allowed for name, allowed in self.values.items())


class Axes(Frozen):
    """The contents of ``sweep:``; cells are the product of the dimensions, of which the last varies fastest."""

    names: tuple[str, ...]  # of all axes, in file order
    dimensions: tuple[tuple[Point, ...], ...]
    include: tuple[Point, ...]  # further cells
    exclude: tuple[Exclusion, ...]


def axis_name(assignment: Assignment) -> str:
    """Return the field that an assignment sets as text, such as ``workload.n``: the name of an axis."""
    return dotted(assignment.path)


def axis_values(point: Point) -> dict[str, Any]:
    """Return the value of each axis at a point, as plain data."""
    return {axis_name(each): each.value.plain() for each in point}


def read_axes(sweep: Node) -> Axes:
    """Return the axes that the value of ``sweep:`` describes. Raises InputError, with its place, for any mistake."""
    content = sweep.mapping(("sweep",), "a mapping of axes to lists of values")
    if not content:
        raise _error("there is no axis", ("sweep",), sweep.place, "at least one axis, such as workers: [2, 4, 8]")
    read = dict(zip(content, for_each(content, lambda key: _positions(sweep, key)), strict=True))
    include = tuple(point for points in read.pop("include", []) for point in points)
    dimensions = tuple(dimension for each in read.values() for dimension in each)
    first = [dimension[0] for dimension in dimensions]
    _refuse_twice(first)
    names = tuple(dict.fromkeys(axis_name(each) for point in (*first, *include) for each in point))
    exclude = for_each(_entries(sweep, "exclude"), lambda entry: _exclusion(entry, names))
    return Axes(names, dimensions, include, tuple(exclude))


def _positions(sweep: Node, key: Key) -> list[tuple[Point, ...]]:
    """Return the dimensions of the entry ``key``; for ``include`` all its cells as one, for ``exclude`` none."""
    if key == "zip":
        groups = sweep.mapping()[key]
        return [_group(entry) for entry in (groups.content if isinstance(groups.content, list) else [groups])]
    if key == "include":
        return [tuple(for_each(_entries(sweep, "include"), _point))]
    return [] if key == "exclude" else [tuple((each,) for each in _axis(sweep, key, ("sweep",)))]


def _group(group: Node) -> tuple[Point, ...]:
    content = group.mapping(("sweep", "zip"), "a mapping of axes to lists of equal length")
    if not content:
        raise _error("there is no axis", ("sweep", "zip"), group.place, "axes with lists of equal length")
    axes = {key: _axis(group, key, ("sweep", "zip")) for key in content}
    first, length = next((key, len(axis)) for key, axis in axes.items())
    for key, axis in axes.items():
        if len(axis) != length:
            problem = f"this axis has {len(axis)} values, but {first!r} beside it has {length}"
            raise _error(problem, ("sweep", "zip", key), group.keys[key], "axes of equal length under zip")
    return tuple(zip(*axes.values(), strict=True))


def _axis(parent: Node, key: Key, above: tuple[Key, ...]) -> list[Assignment]:
    path = _axis_path(key, parent.keys[key])
    node, place = parent.mapping()[key], parent.keys[key]
    values = _values(node, (*above, key))
    if not values:
        raise _error("this axis has no values", (*above, key), node.place, VALUES)
    _refuse_equal(values, (*above, key))
    return [Assignment(path, value, place) for value in values]


def _axis_path(key: Key, place: Place) -> tuple[Key, ...]:
    path = field_path(str(key), place)
    if path[0] in NO_AXES:
        raise _error(f"{path[0]} cannot be an axis", ("sweep",), place, f"one of {', '.join(TOPS)}")
    if path[0] not in TOPS:
        raise unknown_field(path[0], place, (*TOPS, *SPECIAL), ("sweep",))
    return path


def _values(node: Node, path: tuple[Key, ...]) -> list[Node]:
    if isinstance(node.content, list):
        return node.content
    if not isinstance(node.content, dict):
        raise _error(f"got {shown(node.plain())}", path, node.place, VALUES)
    if {"from", "to", "step"} & set(node.content):
        return _range(validate(RangeSpec, node, path), node.place, path)
    expected = f"{VALUES}; nested fields are dotted, such as {dotted((path[-1],))}.n: [1, 2]"
    raise _error(f"got {shown(node.plain())}", path, node.place, expected)


def _range(spec: RangeSpec, place: Place, path: tuple[Key, ...]) -> list[Node]:
    span = Fraction(spec.stop) - Fraction(spec.start)
    count = span // Fraction(spec.step) + 1 if span >= 0 else 0
    if not 0 < count <= MOST_VALUES:
        problem = f"the range from {spec.start} to {spec.stop} in steps of {spec.step} has {count:,} values"
        raise _error(problem, path, place, f"1 to {MOST_VALUES} values")
    return [Node(spec.start + spec.step * index, place) for index in range(count)]


def _refuse_equal(values: Iterable[Node], path: tuple[Key, ...]) -> None:
    seen: set[str] = set()
    for node in values:
        text = canonical_json(node.plain())
        if text in seen:
            raise _error(f"the value {shown(node.plain())} stands here twice", path, node.place, "each value once")
        seen.add(text)


def _refuse_twice(points: Iterable[Point]) -> None:
    seen: set[str] = set()
    for each in chain.from_iterable(points):
        if axis_name(each) in seen:
            raise _error(f"the axis {axis_name(each)!r} is given twice", ("sweep",), each.place, "each axis once")
        seen.add(axis_name(each))


def _entries(sweep: Node, key: str) -> list[Node]:
    node = sweep.child(key)
    if node is None:
        return []
    if not isinstance(node.content, list) or not node.content:
        raise _error(f"got {shown(node.plain())}", ("sweep", key), node.place, f"a list of cells, each {CELL}")
    for entry in node.content:
        if not entry.mapping(("sweep", key), CELL):
            raise _error("got an empty mapping", ("sweep", key), entry.place, CELL)
    return node.content


def _point(entry: Node) -> Point:
    return tuple(
        Assignment(_axis_path(key, entry.keys[key]), value, entry.keys[key]) for key, value in entry.mapping().items()
    )


def _exclusion(entry: Node, names: tuple[str, ...]) -> Exclusion:
    values: dict[str, list[Any]] = {}
    for key, node in entry.mapping().items():
        name = dotted(field_path(str(key), entry.keys[key]))
        if name not in names:
            problem, place = f"there is no axis {name!r} in this sweep", entry.keys[key]
            raise InputError(problem, path=("sweep", "exclude"), place=place, value=name, known=names)
        plain = node.plain()
        values[name] = plain if isinstance(plain, list) else [plain]
    return Exclusion(values, entry.place)


def _error(problem: str, path: tuple[Key, ...], place: Place, expected: str) -> InputError:
    return InputError(problem, path=path, place=place, expected=expected)


# ---- The cells in order: the product of the dimensions, then the included cells, without the excluded ones -----------

MOST_CELLS = 1_000_000


def all_points(axes: Axes, sweep: Node) -> list[Point]:
    """Return the points of all cells, in order. Raises InputError for too many cells, before it makes any, or none."""
    count = prod(map(len, axes.dimensions)) + len(axes.include)
    if count > MOST_CELLS:
        raise _error(f"the sweep has {count:,} cells", ("sweep",), sweep.place, f"at most {MOST_CELLS:,}")
    multiplied = (tuple(chain.from_iterable(each)) for each in product(*axes.dimensions)) if axes.dimensions else ()
    points = _kept([*multiplied, *axes.include], axes.exclude)
    if not points:
        raise _error("the sweep has no cells", ("sweep",), sweep.place, "an exclude that leaves at least one cell")
    return points


def _kept(points: list[Point], exclude: Sequence[Exclusion]) -> list[Point]:
    """Return the points that no exclusion matches. Raises InputError for an exclusion that matches no point."""
    matches = [[exclusion.matches(axis_values(point)) for exclusion in exclude] for point in points]
    for index, exclusion in enumerate(exclude):
        if not any(row[index] for row in matches):
            expected = "values of the axes; or remove the entry"
            raise _error("no cell has these values", ("sweep", "exclude", index), exclusion.place, expected)
    return [point for point, row in zip(points, matches, strict=True) if not any(row)]


# ---- Changes of axes: ``sweep.workers=[2, 4]``, also of axes whose names have dots -----------------------------------
#
# The name of an axis follows ``sweep`` with all its dots: ``sweep.runtime.backoff.first_ns=[1, 2]``. Behind
# ``sweep.zip``, ``sweep.include`` and ``sweep.exclude`` the number of an entry may precede the name, as in
# ``sweep.zip[0].workers=[2, 4]``.


def with_axes(document: Node, assignments: Iterable[Assignment]) -> Node:
    """Return ``document`` with those ``assignments`` carried out whose first key is ``sweep``."""
    for each in assignments:
        if each.path[0] == "sweep":
            document = put_all(document, [replace(each, path=("sweep", *_inside(document, each.path[1:])))])
    return document


def _inside(document: Node, path: FieldPath) -> FieldPath:
    """Return the keys below ``sweep`` for ``path``, in which the names of axes are split at their dots."""
    node = document.child("sweep")
    if not path:
        return ()
    if path[0] not in SPECIAL:
        return _of_axis(node, path)
    entry = path[1:2] if len(path) > 1 and isinstance(path[1], int) else ()
    rest = path[1 + len(entry) :]
    inside = node.follow((path[0], *entry)) if node else None
    return (path[0], *entry, *(_of_axis(inside, rest) if rest else ()))


def _of_axis(axes: Node | None, path: FieldPath) -> FieldPath:
    """Return the key of the axis of ``path``, followed by the rest of ``path``, which leads into the axis's values."""
    for key, values in axes.content.items() if axes is not None and isinstance(axes.content, dict) else ():
        name = path_parts(str(key))
        inner = path[len(name) :]  # leads to an entry of a list, or to a field of a range
        if path[: len(name)] == name and (not inner or isinstance(values.content, dict) or isinstance(inner[0], int)):
            return (key, *inner)
    return (dotted(path),)
