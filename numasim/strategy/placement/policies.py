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

from numasim import draws
from numasim.draws import DrawClass
from numasim.machine.topology import Machine, WorkerMap
from numasim.parts.models.placement_model import PolicySpec, TouchPolicyName
from numasim.strategy.placement.homes import CyclicHomes, HashedHomes, Homes, SteppedHomes, TabulatedHomes
from numasim.workload.graph import I64, Region


@dataclass(frozen=True)
class Ground:
    """The inputs of a policy: the machine, the positions of its workers, the seed of the run, and a region of memory
    with its number.
    """

    machine: Machine
    workers: WorkerMap
    seed: int
    number: int
    region: Region

    @property
    def home_of_worker(self) -> I64:
        """Return [workers] the home of memory that each worker is the first to touch."""
        return self.machine.home_of_node[self.workers.node]

    @property
    def pages(self) -> int:
        """Return the number of pages of the region, at least 1; the last page may be used in part."""
        return max(1, -(-self.region.bytes // self.machine.page_bytes))

    def nodes(self, spec: PolicySpec) -> I64:
        """Return the nodes to which the policy deals pages."""
        if spec.nodes == "workers":
            return np.unique(self.home_of_worker)
        return np.flatnonzero(self.machine.memory_bytes) if spec.nodes is None else np.array(spec.nodes, np.int64)

    def on_one(self, node: np.integer | int | None) -> Homes:
        """Return homes with every page on ``node``."""
        return CyclicHomes(np.array([node], np.int64), self.machine.page_bytes)

    def in_blocks(self, page_node: I64) -> Homes:
        """Return homes with page p of n on ``page_node[floor(p * L / n)]``, L blocks; equal neighbours are merged."""
        blocks = len(page_node)
        first = -(-np.arange(blocks, dtype=np.int64) * self.pages // blocks)
        filled = np.append(first[1:], self.pages) > first
        first, node = first[filled], page_node[filled]
        changes = np.append(True, node[1:] != node[:-1])
        return SteppedHomes(first[changes], node[changes], self.machine.page_bytes)


def by_master(_spec: PolicySpec, ground: Ground) -> Homes:
    """Return the homes of a region that worker 0 initialises."""
    return ground.on_one(ground.home_of_worker[0])


def _by_tasks(spec: PolicySpec, ground: Ground) -> Homes:
    assert spec.tasks is not None  # the model of the specification requires this field
    nodes = ground.home_of_worker
    return ground.in_blocks(nodes[np.arange(spec.tasks) % len(nodes)])


def _interleave(spec: PolicySpec, ground: Ground) -> Homes:
    page_bytes = ground.machine.page_bytes
    return CyclicHomes(np.repeat(ground.nodes(spec), max(1, (spec.grain or 0) // page_bytes)), page_bytes)


def _by_region(spec: PolicySpec, ground: Ground) -> Homes:
    nodes = ground.nodes(spec)
    return ground.on_one(nodes[ground.number % len(nodes)])


def _random(spec: PolicySpec, ground: Ground) -> Homes:
    nodes = ground.nodes(spec)
    drawn = draws.stream_array(draws.base(ground.seed, DrawClass.PLACEMENT, ground.number), ground.pages)
    home = nodes[draws.below_array(drawn, len(nodes)).astype(np.int64)]
    return TabulatedHomes(home.astype(np.int16), ground.machine.page_bytes, ground.machine.nodes)


def _hash_home(spec: PolicySpec, ground: Ground) -> Homes:
    return HashedHomes(np.unique(ground.nodes(spec)), spec.grain or ground.machine.line_bytes)


@dataclass(frozen=True)
class Policy:
    """A page placement policy.

    ``homes`` (spec, ground) returns the homes of memory that is placed before the run. ``by_touch``: the workers that
    touch fresh memory place its pages; ``draws``: each run draws homes.
    """

    homes: Callable[[PolicySpec, Ground], Homes]
    by_touch: bool = False
    draws: bool = False


POLICIES: dict[str, Policy] = {
    **{name: Policy(by_master, by_touch=True) for name in get_args(TouchPolicyName)},
    "first-touch-master": Policy(by_master),
    "first-touch-init": Policy(_by_tasks, by_touch=True),
    "parallel-first-touch": Policy(lambda _, ground: ground.in_blocks(ground.home_of_worker), by_touch=True),
    "interleave": Policy(_interleave),
    "bind": Policy(lambda spec, ground: ground.on_one(spec.node)),
    "block": Policy(lambda _, ground: ground.in_blocks(np.flatnonzero(ground.machine.memory_bytes))),
    "by-region": Policy(_by_region),
    "random": Policy(_random, draws=True),
    "hash-home": Policy(_hash_home),
}
