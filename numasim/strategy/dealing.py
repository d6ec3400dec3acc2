"""The distributions by name, which deal each item of a range to a unit, such as a node (Souris 2020, section 4.2.3).

A range is many similar tasks, its items, that one rule (a family) describes; the unit that an item is dealt to is its
label. The cost of an item is the same for all units of a node. Units are therefore ordered by the cost of their nodes,
and units of equal cost by number. A distribution examines each pair (item, unit) once to find the item's bytes on each
node, and once more to order the units by cost (A-73).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from numasim.draws import DrawClass, base, below_array, stream_array
from numasim.errors import InputError
from numasim.frozen import Frozen
from numasim.machine.topology import Machine, WorkerMap
from numasim.parts.base import ppm, ps
from numasim.parts.models.placement_model import DistributionSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.unit_factors import MILLION
from numasim.strategy.control.controller import I32
from numasim.strategy.control.task_control import NO_LABELS, label_unit
from numasim.workload.builder import frozen
from numasim.workload.graph import I64, Kind, Loop, Mode, Op, Phase, RangeFamily, Workload

# ---- The items of a range as a distribution knows them: their bytes by node, and their cost for each unit ------------

MOST = 2**62


class KnownItems(Frozen, eq=False):
    """The items of a range and the units to which the items are dealt.

    The cost of an item for the units of a node is the sum, over all nodes, of the item's bytes there times the latency.
    """

    bytes: I64  # [items, nodes] the bytes that each item reads on each node
    node: I64  # [units] the node of each unit
    groups: I64  # the nodes with units, ascending
    cost: I64  # [items, groups] the cost of each item for the units of each node in ``groups``

    @property
    def items(self) -> int:
        """Return the number of items."""
        return len(self.bytes)

    @property
    def units(self) -> int:
        """Return the number of units."""
        return len(self.node)


def known_items(family: RangeFamily, machine: Machine, node: I64) -> KnownItems:
    """Return the items of ``family`` on ``machine``, for units on ``node`` [units].

    Raises InputError if each run draws the bytes of the items, and if bytes times latency exceed integers.
    """
    read = np.zeros((family.count, machine.nodes), np.int64)
    everyone = np.arange(family.count)
    for access in family.node_accesses:
        if access.amounts.drawn:
            problem = f"items of {family.name!r} are dealt by their bytes, which each run draws"
            expected = "a range whose bytes are given item by item, or labels that do not look at them"
            raise InputError(problem, path=("strategy", "labels"), expected=expected)
        if access.mode != Mode.WRITE:
            ends = np.cumsum([0, *access.shares])
            upto = access.amounts.of(everyone, 0, 0)[:, None] * ends // ends[-1]
            read[:, list(access.nodes)] += np.diff(upto, axis=1)
    groups = np.unique(node)
    return KnownItems(read, node, groups, _cost(read, machine.latency_ps[groups]))


def _cost(read: I64, latency_ps: I64) -> I64:
    """Return [items, groups] the exact cost, in units of the greatest common divisor of the latencies."""
    latency = latency_ps // max(int(np.gcd.reduce(latency_ps.ravel())), 1)
    most = int(read.sum(axis=1).max(initial=0)) * int(latency.max(initial=0))
    if most >= MOST:
        problem = "the items of a range have too many bytes to be dealt by what they cost"
        raise InputError(problem, path=("strategy", "labels"), expected=f"bytes times latency below {MOST:,}")
    return read @ latency.T


NOBODY = -1  # in place of a unit


class Dealt(NamedTuple):
    """``units`` [items] is the unit of each item; ``pairs`` is the number of examined pairs (item, unit)."""

    units: I64
    pairs: int


def deal(known: KnownItems, spec: DistributionSpec) -> Dealt:
    """Return the units to which the distribution ``spec.deal`` deals the items."""
    looks, rule = BY_NAME[spec.deal]
    return Dealt(rule(known, spec), looks * known.items * known.units)


def _random(known: KnownItems, spec: DistributionSpec) -> I64:
    draws = stream_array(base(spec.seed, DrawClass.DISPATCH, 0), known.items)
    return below_array(draws, known.units).astype(np.int64)


def _in_turn(known: KnownItems, spec: DistributionSpec) -> I64:
    return np.arange(known.items) % known.units


def _exclusive_else_in_turn(known: KnownItems, spec: DistributionSpec) -> I64:
    own = _exclusive(known, spec)
    return np.where(own == NOBODY, _in_turn(known, spec), own)


# {distribution: (how often it looks at each pair (item, unit), the function that returns [items] the units)};
# `numasim.parts.models.placement_model.DISTRIBUTIONS` says what each distribution does.
BY_NAME: dict[str, tuple[int, Callable[[KnownItems, DistributionSpec], I64]]] = {
    "random": (0, _random),
    "interleave": (0, _in_turn),
    "locality": (2, lambda known, spec: _cheapest(known)),
    "balanced": (2, lambda known, spec: _balanced(known, spec, np.full(known.items, NOBODY))),
    "mixed-locality-balanced": (2, lambda known, spec: _balanced(known, spec, _exclusive(known, spec))),
    "mixed-locality-interleave": (1, _exclusive_else_in_turn),
}


def _cheapest(known: KnownItems) -> I64:
    """Return [items] the unit for which each item is cheapest, of several the one with the lowest number."""
    first = np.array([np.flatnonzero(known.node == node)[0] for node in known.groups])
    in_order = np.argsort(first)  # of nodes with equal cost, the node with the lowest unit wins
    return np.asarray(first[in_order][np.argmin(known.cost[:, in_order], axis=1)], np.int64)


def _exclusive(known: KnownItems, spec: DistributionSpec) -> I64:
    """Return [items] the cheapest unit if its node has the share ``exclusivity`` of an item's bytes, else NOBODY."""
    cheapest = _cheapest(known)
    there = known.bytes[np.arange(known.items), known.node[cheapest]]
    share = ppm(spec.exclusivity)
    return np.where(there * (MILLION // 100) >= known.bytes.sum(axis=1) * share // 100, cheapest, NOBODY)


def _balanced(known: KnownItems, spec: DistributionSpec, given: I64) -> I64:
    """Return [items] the unit of each item: the unit in ``given``, or a unit by load and cost, the largest items first.

    The load of a unit is the bytes of its items. A unit has room up to the mean load and the share ``overload`` more.
    An item goes to the cheapest unit with room; if no unit has room, to the cheapest of those with the least load.
    """
    size = known.bytes.sum(axis=1)
    limit = int(size.sum()) * (MILLION + ppm(spec.overload))  # most load times units times a million
    most = min(limit // (known.units * MILLION), np.iinfo(np.int64).max)
    found, load, sizes, cost = given.tolist(), [0] * known.units, size.tolist(), known.cost.tolist()
    groups = [np.flatnonzero(known.node == node).tolist() for node in known.groups]
    full, room = [0] * len(groups), -1  # so many of the first units of each group have no ``room``
    for item in np.argsort(-size, kind="stable").tolist():
        if found[item] == NOBODY:
            if most - sizes[item] != room:
                full, room = [0] * len(groups), most - sizes[item]
            first = []  # (cost, unit) of the first unit with room in each group
            for group, units in enumerate(groups):
                while full[group] < len(units) and load[units[full[group]]] > room:
                    full[group] += 1
                if full[group] < len(units):
                    first.append((cost[item][group], units[full[group]]))
            if not first:
                least = min(load)
                first = [
                    (cost[item][group], unit)
                    for group, units in enumerate(groups)
                    for unit in units
                    if load[unit] == least
                ]
            found[item] = min(first)[1]
        load[found[item]] += sizes[item]
    return np.array(found, np.int64)


# ---- The labels of a program's items under a strategy's distribution, and the program with the cost of dealing -------

PHASE = "distribution"  # the name of the serial phase in which worker 0 deals


class DealtItems(NamedTuple):
    """The dealt items of a workload; ``labels`` and ``nodes`` are empty if the strategy deals none."""

    labels: I32  # [items of all families] the unit of each item
    nodes: I32  # [items of all families] the node of this unit
    workload: Workload  # the workload with a serial phase before each phase whose items are dealt at a cost
    segments: int = 0  # so many segments, the last of the workload, are this cost


def deal_items(spec: StrategySpec, workload: Workload, machine: Machine, workers: WorkerMap) -> DealtItems:
    """Return the items of ``workload``, which must have a row for every task, as the distribution of ``spec`` deals
    them. Raises InputError as `known_items` does.
    """
    distribution = spec.distribution
    if distribution is None or not workload.ranges:
        return DealtItems(NO_LABELS, NO_LABELS, workload)
    _, first = np.unique(workers.unit(label_unit(spec)), return_index=True)  # the first worker of each unit
    node = np.asarray(workers.node[first], np.int64)
    pair_ps = ps(distribution.pair_ns)
    dealt = [deal(known_items(family, machine, node), distribution) for family in workload.ranges]
    before_ps = {
        number: dealt[phase.range_family].pairs * pair_ps
        for number, phase in enumerate(workload.phases)
        if phase.range_family is not None and dealt[phase.range_family].pairs * pair_ps
    }
    labels = frozen(np.concatenate([each.units for each in dealt]).astype(np.int32))
    nodes = frozen(node[labels].astype(np.int32))
    return DealtItems(labels, nodes, with_serial_parts(workload, before_ps, PHASE), len(before_ps))


@lru_cache(maxsize=2)
def undealt(work: Workload, segments: int) -> Workload:
    """Return ``work`` with a time of zero for its last ``segments`` segments, worker 0's dealing of items."""
    if not segments:
        return work
    compute_ps = work.segment_compute_ps.copy()
    compute_ps[-segments:] = 0
    return replace(work, segment_compute_ps=frozen(compute_ps))


# ---- The work of worker 0 alone before phases of a program, as serial phases (model 3.6) -----------------------------


def with_serial_parts(work: Workload, before_ps: Mapping[int, int], name: str) -> Workload:
    """Return ``work``, which has a row for every task, with a serial phase ``name`` of ``before_ps[n]`` before each
    phase n. A repeated phase becomes a loop over both. The rows of new tasks come last, so that tasks keep their ids.
    """
    if not before_ps:
        return work
    phases: list[Phase] = []
    begins: list[int] = []  # [phases] the new position of each phase, or of its serial phase
    own_loops: list[Loop] = []
    bodies: list[int] = []
    for number, phase in enumerate(work.phases):
        begins.append(len(phases))
        if number not in before_ps:
            phases.append(phase)
            continue
        phases += [Phase(roots=(work.rows + len(bodies),), serial=True, name=name), replace(phase, repeat=1)]
        bodies.append(before_ps[number])
        if phase.repeat > 1:
            own_loops.append(Loop(begins[-1], len(phases), phase.repeat))
    begins.append(len(phases))
    loops = [Loop(begins[loop.first], begins[loop.end], loop.repeat) for loop in work.loops]
    return replace(
        _with_bodies(work, bodies, len(work.kernels)),
        kernels=(*work.kernels, name),
        phases=tuple(phases),
        loops=tuple(sorted([*loops, *own_loops], key=lambda loop: (loop.first, -loop.end))),
    )


def _with_bodies(work: Workload, times_ps: list[int], kernel: int) -> Workload:
    """Return ``work`` with a task for one worker (an implicit body) for each of ``times_ps``, its compute time."""
    more = len(times_ps)
    ones, new = np.ones(more, np.int64), np.arange(more)
    return replace(
        work,
        op_ptr=frozen(np.concatenate([work.op_ptr, work.op_ptr[-1] + np.cumsum(ones)])),
        op_code=frozen(np.concatenate([work.op_code, np.full(more, Op.RUN, np.uint8)])),
        op_arg=frozen(np.concatenate([work.op_arg, (work.segments + new).astype(np.uint32)])),
        kind=frozen(np.concatenate([work.kind, np.full(more, Kind.IMPLICIT, np.uint8)])),
        parent=frozen(np.concatenate([work.parent, -ones])),
        segment_compute_ps=frozen(np.concatenate([work.segment_compute_ps, np.array(times_ps, np.int64)])),
        segment_kernel=frozen(np.concatenate([work.segment_kernel, np.full(more, kernel, np.uint8)])),
        segment_accesses=frozen(np.concatenate([work.segment_accesses, work.segment_accesses[-1] + 0 * ones])),
        successor_ptr=frozen(np.concatenate([work.successor_ptr, work.successor_ptr[-1] + 0 * ones])),
    )
