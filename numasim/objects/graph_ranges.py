"""Ranges of a graph while it is made: what the user says of their items, checked, as families of items (model 3.5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from numasim.errors import InputError
from numasim.objects.distributions import Distribution
from numasim.objects.graph_arrays import costs_ps
from numasim.parts.base import ppm
from numasim.parts.unit_factors import PS_PER_NS
from numasim.schema.enumerations import LONGEST_PS, MOST_ITEMS, MOST_MOVED, MOST_NODES, Mode
from numasim.workload.amounts import Amounts
from numasim.workload.builder import ragged_family
from numasim.workload.graph import NodeAccess, Pattern, RangeFamily
from numasim.workload.graph_rules import check_amounts

OnNodes = Mapping[Any, Any]  # node, or several, to bytes: of all items, of each, or a distribution


def range_family(
    name: str,
    count: Any,
    compute_ns: Any,
    on_nodes: Mapping[Mode, OnNodes],
    returned: Any,
    pages: Mapping[str, Any],
    pattern: str,
    kernel: int,
) -> RangeFamily:
    """A family of ``count`` items; an InputError for what no item can have."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 1 <= count <= MOST_ITEMS:
        raise InputError(f"the range has {count!r} items", expected=f"1 to {MOST_ITEMS:,}")
    items = int(count)
    returned_ppm = _part_ppm(returned)
    accesses = [
        replace(_access(nodes, given, items, mode, _pattern(pattern)), returned_ppm=returned_ppm)
        for mode, by_nodes in on_nodes.items()
        for nodes, given in by_nodes.items()
    ]
    changes = {key: _bytes(given, items, f"the {key} bytes") for key, given in pages.items() if given is not None}
    return ragged_family(name, items, _times(compute_ns, items), accesses, kernel, **changes)


def _times(given: Any, items: int) -> Amounts:
    if isinstance(given, Distribution):
        times = given.amounts(PS_PER_NS)
    else:
        times = Amounts.of_items(costs_ps(given, items if np.ndim(given) else 1))
    return _checked(times, items, LONGEST_PS, "the compute times")


def _access(nodes: Any, given: Any, items: int, mode: Mode, pattern: Pattern) -> NodeAccess:
    named = nodes if isinstance(nodes, tuple) else (nodes,)
    for node in named:
        if isinstance(node, bool) or not isinstance(node, int | np.integer) or not 0 <= node < MOST_NODES:
            raise InputError(
                f"got {node!r} as a node", expected="the number of a node, or a tuple of some, such as (0, 1)"
            )
    shares = Counter(int(node) for node in named)
    if not shares:
        raise InputError("got no node", expected="the number of a node, or a tuple of some, such as (0, 1)")
    amounts = _bytes(given, items, f"the bytes on {nodes}")
    return NodeAccess(tuple(shares), tuple(shares.values()), int(mode), int(pattern), amounts)


def _part_ppm(part: Any) -> int:
    if isinstance(part, bool) or not isinstance(part, int | float | Decimal) or not 0 <= part <= 1:
        raise InputError(f"{part!r} of the bytes' memory are given back", expected="a part from 0 to 1")
    return ppm(Decimal(str(part)))


def _bytes(given: Any, items: int, what: str) -> Amounts:
    found = given.amounts() if isinstance(given, Distribution) else Amounts.of_items(_whole(given, items, what))
    return _checked(found, items, MOST_MOVED, what)


def _whole(given: Any, items: int, what: str) -> Any:
    numbers = np.asarray(given)
    if numbers.dtype.kind not in "iu" or numbers.shape not in ((), (items,)):
        problem = f"{what} have the shape {numbers.shape} and the type {numbers.dtype}"
        raise InputError(problem, expected=f"a whole number, {items} of them, one for each item, or a distribution")
    return np.atleast_1d(numbers)


def _checked(amounts: Amounts, items: int, most: int, what: str) -> Amounts:
    try:
        check_amounts(amounts, items, most, ())
    except InputError as error:
        raise InputError(f"{what}: {error.problem}", expected=error.expected) from None
    return amounts


def _pattern(name: str) -> Pattern:
    known = {each.name.lower(): each for each in Pattern}
    if name not in known:
        raise InputError(
            f"there is no pattern {name!r}", expected=f"one of {', '.join(known)}", value=name, known=list(known)
        )
    return known[name]
