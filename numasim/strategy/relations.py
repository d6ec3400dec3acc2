"""Which queues stand in a named relation to a worker: its own, others, those inside or outside its unit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

from numasim.parts.models.strategy_terms import Vicinity
from numasim.strategy.queue_families import Pool
from numasim.strategy.vicinity import vicinities
from numasim.strategy.worker_units import NOWHERE, Units

Mask = npt.NDArray[np.bool_]
Relation = Callable[[Units, Pool, int], Mask]  # (units, pool, position) -> [queues of the pool], own queues included


def _own(_units: Units, pool: Pool, position: int) -> Mask:
    return pool.is_mine(position)


def _any(_units: Units, pool: Pool, _position: int) -> Mask:
    return np.ones(len(pool.queue), bool)


def _inside(units: Units, pool: Pool, position: int, *, kind: str) -> Mask:
    unit = units.of[kind]
    return np.asarray((unit[pool.first] == unit[position]) & (unit[position] != NOWHERE))


def _outside(units: Units, pool: Pool, position: int, *, kind: str) -> Mask:
    return ~_inside(units, pool, position, kind=kind)


RELATIONS: dict[str, Relation] = {
    "own": _own,
    "others": _any,
    "any": _any,
    **{f"own-{kind}": partial(_inside, kind=kind) for kind in ("core", "llc", "node", "socket")},
    **{f"other-{kind}s": partial(_outside, kind=kind) for kind in ("core", "llc", "node", "socket")},
}


def relation(name: str | Vicinity, units: Units) -> Relation:
    """Return the relation of that name, or the vicinity of that size."""
    if isinstance(name, str):
        return RELATIONS[name]
    block = vicinities(units, name.vicinity)
    return lambda _units, pool, position: np.asarray(block[pool.first] == block[position])
