"""The page placement policies by name: the homes that each policy gives the pages of a region (model 2.2).

A policy with a formula places all memory by the formula. A policy by touch places only memory that the program has
initialised before its parallel part; fresh memory is placed by the workers that touch it first:

- first-touch, and the policies that differ from first-touch in their `PageRule` alone: worker 0 initialises all pages;
- parallel-first-touch: page p of n is initialised by worker floor(p * P / n), of P workers;
- first-touch-init: page p of n is initialised by task t = floor(p * T / n) of T tasks, run by worker t mod P.

A page that is wanted on a node without memory lives on the nearest node with memory. Formulas deal pages to nodes with
memory only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

import numpy as np
import numpy.typing as npt

from numasim import draws
from numasim.draws import DrawClass
from numasim.machine.topology import Machine, WorkerMap
from numasim.parts.models.placement_model import PolicySpec, TouchPolicyName
from numasim.strategy.placement.homes import (
    CyclicHomes,
    HashedHomes,
    Homes,
    TabulatedHomes,
    in_blocks,
    on_one,
)
from numasim.workload.graph import Region

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Ground:
    """The inputs of a policy: the machine, the positions of its workers, the seed of the run."""

    machine: Machine
    workers: WorkerMap
    seed: int

    @property
    def page_bytes(self) -> int:
        """Return the bytes of a page."""
        return self.machine.page_bytes

    @property
    def home_of_worker(self) -> I64:
        """Return [workers] the home of memory that each worker is the first to touch."""
        return self.machine.home_of_node[self.workers.node]

    def pages(self, region: Region) -> int:
        """Return the number of pages of the region; the last page may be used in part."""
        return -(-region.bytes // self.page_bytes)


def _by_master(_spec: PolicySpec, ground: Ground, _number: int, _region: Region) -> Homes:
    return on_one(int(ground.home_of_worker[0]), ground.page_bytes)


def _by_workers(_spec: PolicySpec, ground: Ground, _number: int, region: Region) -> Homes:
    return in_blocks(ground.home_of_worker, max(1, ground.pages(region)), ground.page_bytes)


def _by_tasks(spec: PolicySpec, ground: Ground, _number: int, region: Region) -> Homes:
    assert spec.tasks is not None  # the model of the specification requires this field
    nodes = ground.home_of_worker
    executed_on = nodes[np.arange(spec.tasks) % len(nodes)]
    return in_blocks(executed_on, max(1, ground.pages(region)), ground.page_bytes)


def _interleave(spec: PolicySpec, ground: Ground, _number: int, _region: Region) -> Homes:
    together = max(1, (spec.grain or 0) // ground.page_bytes)
    return CyclicHomes(np.repeat(_home_set(spec, ground), together), ground.page_bytes)


def _bind(spec: PolicySpec, ground: Ground, _number: int, _region: Region) -> Homes:
    assert spec.node is not None  # the model of the specification requires this field
    return on_one(spec.node, ground.page_bytes)


def _block(_spec: PolicySpec, ground: Ground, _number: int, region: Region) -> Homes:
    return in_blocks(_nodes_with_memory(ground), max(1, ground.pages(region)), ground.page_bytes)


def _by_region(spec: PolicySpec, ground: Ground, number: int, _region: Region) -> Homes:
    nodes = _home_set(spec, ground)
    return on_one(int(nodes[number % len(nodes)]), ground.page_bytes)


def _random(spec: PolicySpec, ground: Ground, number: int, region: Region) -> Homes:
    nodes, pages = _home_set(spec, ground), max(1, ground.pages(region))
    drawn = draws.stream_array(draws.base(ground.seed, DrawClass.PLACEMENT, number), pages)
    home = nodes[draws.below_array(drawn, len(nodes)).astype(np.int64)]
    return TabulatedHomes(home.astype(np.int16), ground.page_bytes, ground.machine.nodes)


def _hash_home(spec: PolicySpec, ground: Ground, _number: int, _region: Region) -> Homes:
    return HashedHomes(np.unique(_home_set(spec, ground)), spec.grain or ground.machine.line_bytes)


def _home_set(spec: PolicySpec, ground: Ground) -> I64:
    if spec.nodes == "workers":
        return np.unique(ground.home_of_worker)
    return _nodes_with_memory(ground) if spec.nodes is None else np.array(spec.nodes, np.int64)


def _nodes_with_memory(ground: Ground) -> I64:
    return np.flatnonzero(ground.machine.memory_bytes)


@dataclass(frozen=True)
class Policy:
    """A page placement policy.

    ``homes`` (spec, ground, number of the region, region) returns the homes of memory that is placed before the run.
    ``by_touch``: the workers that touch fresh memory place its pages; ``draws``: each run draws homes.
    """

    homes: Callable[[PolicySpec, Ground, int, Region], Homes]
    by_touch: bool = False
    draws: bool = False


POLICIES: dict[str, Policy] = {
    **{name: Policy(_by_master, by_touch=True) for name in get_args(TouchPolicyName)},
    "first-touch-master": Policy(_by_master),
    "first-touch-init": Policy(_by_tasks, by_touch=True),
    "parallel-first-touch": Policy(_by_workers, by_touch=True),
    "interleave": Policy(_interleave),
    "bind": Policy(_bind),
    "block": Policy(_block),
    "by-region": Policy(_by_region),
    "random": Policy(_random, draws=True),
    "hash-home": Policy(_hash_home),
}
