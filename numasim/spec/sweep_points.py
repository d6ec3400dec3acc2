"""The points of a sweep's axes, in order: what each cell assigns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, product
from math import prod

from numasim.errors import InputError
from numasim.parts.yaml.nodes import Node
from numasim.spec.sweep_axes import Axes, Point
from numasim.spec.sweep_mistakes import axis_values

MOST_CELLS = 1_000_000


def all_points(axes: Axes, sweep: Node) -> list[Point]:
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


def _kept(points: list[Point], axes: Axes) -> Iterator[Point]:
    used: set[int] = set()
    kept = []
    for point in points:
        values = axis_values(point) if axes.exclude else {}
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
