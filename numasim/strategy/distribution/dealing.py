"""The distributions by name: the unit of each item, and at how many pairs of an item and a unit it looks.

Souris 2020, section 4.2.3. The cost of an item is the same for all units of a node, so that the order in which units
come is that of their nodes by cost, and by number among equals. To know what an item has on each node takes a look at
its cell of every unit; to order the units by what it costs them takes another at each (A-73).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from numasim.draws import DrawClass, base, below_array, stream_array
from numasim.parts.base import ppm
from numasim.parts.models.distribution_model import DistributionSpec
from numasim.parts.unit_factors import MILLION
from numasim.strategy.distribution.known_items import KnownItems
from numasim.workload.graph import I64

NOBODY = -1


class Dealt(NamedTuple):
    """``units`` [items] is the unit of each item; ``pairs`` how many pairs of an item and a unit were looked at."""

    units: I64
    pairs: int


def random(known: KnownItems, spec: DistributionSpec) -> Dealt:
    """Any unit."""
    draws = stream_array(base(spec.seed, DrawClass.DISPATCH, 0), known.items)
    return Dealt(below_array(draws, known.units).astype(np.int64), 0)


def interleave(known: KnownItems, spec: DistributionSpec) -> Dealt:
    """In turn."""
    return Dealt(np.arange(known.items) % known.units, 0)


def locality(known: KnownItems, spec: DistributionSpec) -> Dealt:
    """The first of the cheapest units."""
    return Dealt(_cheapest(known), 2 * known.items * known.units)


def balanced(known: KnownItems, spec: DistributionSpec) -> Dealt:
    """The first unit, in the order of cost, that is not overloaded by the item."""
    return Dealt(_balanced(known, spec, np.full(known.items, NOBODY)), 2 * known.items * known.units)


def mixed_locality_balanced(known: KnownItems, spec: DistributionSpec) -> Dealt:
    """The cheapest unit for those that it has for itself, overloaded or not; the others as `balanced`."""
    return Dealt(_balanced(known, spec, _exclusive(known, spec)), 2 * known.items * known.units)


def mixed_locality_interleave(known: KnownItems, spec: DistributionSpec) -> Dealt:
    """The cheapest unit for those that it has for itself; the others in turn."""
    own, turn = _exclusive(known, spec), interleave(known, spec).units
    return Dealt(np.where(own == NOBODY, turn, own), known.items * known.units)


Distribution = Callable[[KnownItems, DistributionSpec], Dealt]
BY_NAME: dict[str, Distribution] = {
    "random": random,
    "interleave": interleave,
    "locality": locality,
    "balanced": balanced,
    "mixed-locality-balanced": mixed_locality_balanced,
    "mixed-locality-interleave": mixed_locality_interleave,
}


def _cheapest(known: KnownItems) -> I64:
    """[items] the first of the units to which each item is cheapest."""
    first = np.array([np.flatnonzero(known.node == node)[0] for node in known.groups])
    in_order = np.argsort(first)  # the first unit wins among nodes that cost the same
    return np.asarray(first[in_order][np.argmin(known.cost[:, in_order], axis=1)], np.int64)


def _exclusive(known: KnownItems, spec: DistributionSpec) -> I64:
    """[items] the cheapest unit of each item whose bytes lie on its node to a large part; NOBODY for the others."""
    cheapest = _cheapest(known)
    there = known.bytes[np.arange(known.items), known.node[cheapest]]
    share = ppm(spec.exclusivity)
    return np.where(there * (MILLION // 100) >= known.bytes.sum(axis=1) * share // 100, cheapest, NOBODY)


def _balanced(known: KnownItems, spec: DistributionSpec, given: I64) -> I64:
    """[items] units by decreasing bytes of the items, where none is ``given``; what is given counts as load in its
    turn. Where every unit would be overloaded, the one with the least load, of several the first in the order of cost.
    """
    size = known.bytes.sum(axis=1)
    limit = int(size.sum()) * (MILLION + ppm(spec.overload))  # of a unit's load times units times a million
    most = limit // (known.units * MILLION)
    found, load, least = given.copy(), [0] * known.units, int(size.min(initial=0))
    members = [np.flatnonzero(known.node == node).tolist() for node in known.groups]
    open_from = [0] * len(members)
    ranks = _ties(known.cost) if len(members) > 1 else None
    for item in np.argsort(-size, kind="stable").tolist():
        amount = int(size[item])
        unit = int(given[item])
        if unit == NOBODY:
            tiers = ranks[item] if ranks else ((0,),)
            unit = _first_with_room(tiers, members, open_from, load, amount, least, most)
            if unit == NOBODY:
                unit = _least_loaded(tiers, members, load)
            found[item] = unit
        load[unit] += amount
    return found


def _ties(cost: I64) -> list[tuple[tuple[int, ...], ...]]:
    """[items] the groups in the order of their cost, those of equal cost together; ``cost`` is [items, groups]."""
    order = np.argsort(cost, axis=1, kind="stable")
    ordered = np.take_along_axis(cost, order, axis=1)
    dearer = ordered[:, 1:] != ordered[:, :-1]  # than the group before
    orders, which = np.unique(np.hstack([order, dearer]), axis=0, return_inverse=True)
    groups = cost.shape[1]
    tiers = [_tiers(row[:groups], np.flatnonzero(row[groups:]) + 1) for row in orders]
    return [tiers[number] for number in which.ravel().tolist()]


def _tiers(order: I64, starts: I64) -> tuple[tuple[int, ...], ...]:
    """The groups in ``order``, cut before each of ``starts``."""
    return tuple(tuple(tier.tolist()) for tier in np.split(order, starts))


def _first_with_room(
    tiers: tuple[tuple[int, ...], ...],
    members: list[list[int]],
    open_from: list[int],
    load: list[int],
    amount: int,
    least: int,
    most: int,
) -> int:
    """The first unit, in the order of cost, whose load stays within ``most``; NOBODY if there is none.

    ``open_from`` leaves out the first units of each group that have no room for the ``least`` item.
    """
    for tier in tiers:
        best = NOBODY
        for group in tier:
            units, at = members[group], open_from[group]
            while at < len(units) and load[units[at]] + least > most:
                at += 1
            open_from[group] = at
            room = next((unit for unit in units[at:] if load[unit] + amount <= most), NOBODY)
            if room != NOBODY and (best == NOBODY or room < best):
                best = room
        if best != NOBODY:
            return best
    return NOBODY


def _least_loaded(tiers: tuple[tuple[int, ...], ...], members: list[list[int]], load: list[int]) -> int:
    return min((load[unit], place, unit) for place, tier in enumerate(tiers) for g in tier for unit in members[g])[2]
