"""Page placement compiled: the homes known before a run, and the rules that place pages during the run (model 2.2).

A region is a contiguous range of a program's memory, fresh unless the program has initialised it before its parallel
part. The home of a page is the node whose memory holds the page. A phase is a part of the program between two points at
which all workers meet. A range is many similar tasks, its items. A plan has `PlacementRules`. A run has the `Placement`
that follows from the rules and the run's seed, since the policy `random` draws homes.

The homes of a static region are known before the run; the pages of a dynamic region are placed or moved during the run.
Dynamic regions are

- fresh regions under a policy that places by touch;
- fresh regions under any policy but first-touch-master if the placement changes at a phase: pages that no task has
  touched before the change follow the new policy;
- fresh regions that are placed by touch because tasks add tasks (`PlacementSpec.adding`);
- all regions under a policy that may migrate pages.

The regions that items access are static: a fresh one is placed before the run, by the formula of the policy or, without
a formula, by worker 0. Static memory has no page faults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import get_args

import numpy as np
import numpy.typing as npt

from numasim import draws
from numasim.draws import DrawClass
from numasim.errors import InputError
from numasim.frozen import Frozen
from numasim.machine.topology import Machine, WorkerMap
from numasim.parts.models.placement_model import (
    ChangeSpec,
    PageRule,
    PlacementSpec,
    PolicySpec,
    TouchPolicyName,
    TunedPlacementSpec,
)
from numasim.strategy.placement.homes import (
    NO_HOME,
    CyclicHomes,
    HashedHomes,
    Homes,
    Spans,
    SteppedHomes,
    TabulatedHomes,
    require_tabulated,
)
from numasim.workload.graph import I64, Op, Phase, Region, Workload

I16 = npt.NDArray[np.int16]

# ---- The policies by name: the homes that each policy gives the pages of a region ------------------------------------
#
# A policy with a formula places all memory by the formula. With a policy by touch, the workers that touch fresh memory
# first place it; the homes here are those of memory that the program has initialised before its parallel part:
#
# - first-touch, and the policies that differ from first-touch in their `PageRule` alone: worker 0 initialises all
#   pages;
# - parallel-first-touch: page p of n is initialised by worker floor(p * P / n), of P workers;
# - first-touch-init: page p of n is initialised by task t = floor(p * T / n) of T tasks, run by worker t mod P.
#
# A page that is wanted on a node without memory lives on the nearest node with memory. Formulas deal pages to nodes
# with memory only.


class Ground(Frozen):
    """The inputs of a policy: the machine, its workers, the seed of the run, and a region with its number."""

    machine: Machine
    workers: WorkerMap
    seed: int
    number: int
    region: Region

    @property
    def home_of_worker(self) -> I64:
        """Return [workers] the node of a page that each worker is the first to touch: its own, if this has memory."""
        return self.machine.home_of_node[self.workers.node]

    @property
    def pages(self) -> int:
        """Return the number of pages of the region, at least 1; the last page may be used in part."""
        return max(1, -(-self.region.bytes // self.machine.page_bytes))

    def nodes(self, spec: PolicySpec) -> I64:
        """Return the nodes to which the policy ``spec`` deals pages: those that it names, else all with memory."""
        if spec.nodes == "workers":
            return np.unique(self.home_of_worker)
        return np.flatnonzero(self.machine.memory_bytes) if spec.nodes is None else np.array(spec.nodes, np.int64)

    def on_one(self, node: np.integer | int | None) -> Homes:
        """Return homes with every page on ``node``."""
        return CyclicHomes(np.array([node], np.int64), self.machine.page_bytes)

    def in_blocks(self, page_node: I64) -> Homes:
        """Return homes with page p of n on ``page_node[floor(p * L / n)]``, for ``page_node`` [L]."""
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


class Policy(Frozen):
    """A page placement policy."""

    homes: Callable[[PolicySpec, Ground], Homes]  # returns the homes of memory that is placed before the run
    by_touch: bool = False  # whether the workers that touch fresh memory place its pages
    draws: bool = False  # whether each run draws homes


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
    "hash-home": Policy(
        lambda spec, ground: HashedHomes(np.unique(ground.nodes(spec)), spec.grain or ground.machine.line_bytes)
    ),
}

# ---- Memory capacity: a page whose node has no room goes to the next node by distance (model 2.2) --------------------
#
# Regions and their pages take memory in ascending order. If no node has room, a page stays on the node that the policy
# gives.


class Capacity:
    """The free memory of each node.

    ``free`` [nodes] is in pages, negative for an overfull node; ``order`` [nodes, nodes] has all nodes by distance from
    each node, nearest first.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.free: I64 = np.asarray(machine.memory_bytes, np.int64) // machine.page_bytes
        self.order = nodes_by_distance(machine)

    def settle(self, homes: Homes, region: Region) -> Homes:
        """Take memory for the pages of ``region``, which ``homes`` place; return the homes that the pages get."""
        pages = -(-region.bytes // self._machine.page_bytes)
        wanted = homes.pages_by_home(pages, self._machine.nodes)
        if not pages or (wanted <= self.free).all():
            self.free = self.free - wanted
            return homes
        require_tabulated(region.name, pages, self._machine.nodes)
        return TabulatedHomes(self._spill(homes.of_pages(pages)), self._machine.page_bytes, self._machine.nodes)

    def _spill(self, wanted: I16) -> I16:
        """Return [pages] the homes of pages that the policy wants on ``wanted``; pages of full nodes are reassigned."""
        homes = wanted.copy()
        free = self.free.copy()
        at = 0
        while at < len(wanted) and (free > 0).any():
            target = np.array([next(other for other in row if free[other] > 0) for row in self.order], np.int16)
            now = target[wanted[at:]]
            end = min(_first_too_many(now, node, room) for node, room in enumerate(free.tolist()))
            homes[at : at + end] = now[:end]
            free -= np.bincount(now[:end], minlength=len(free))
            at += end
        self.free = self.free - np.bincount(homes, minlength=len(free))
        return homes


def _first_too_many(homes: I16, node: int, room: int) -> int:
    """Return the first page for which ``node`` has no room, if the node has room for ``room`` pages."""
    mine = np.flatnonzero(homes == node)
    return int(mine[max(0, room)]) if room < len(mine) else len(homes)


def nodes_by_distance(machine: Machine) -> I64:
    """Return [nodes, nodes] for each node all nodes: the node itself, then the others by latency and number."""
    latency = machine.latency_ps.astype(np.int64).copy()
    np.fill_diagonal(latency, -1)
    return np.argsort(latency, axis=1, kind="stable")


# ---- Placements: the homes that are known before a run, phase by phase -----------------------------------------------

NO_PHASE = 1 << 30  # the phase number of stages that only a controller puts into force
CHUNK = 1 << 16  # accesses counted at a time, so that temporary arrays stay small


class Stage(Frozen):
    """The treatment of dynamic regions from ``phase`` on, or, from `NO_PHASE` on, once the strategy's controller, which
    decides between two iterations of the program, chooses the stage.

    A page that is placed gets its home from ``wish[region]``; if ``wish[region]`` is None, the home is the node of the
    worker that touches the page. ``rule`` says how else pages are treated, such as migration.
    """

    phase: int
    wish: tuple[Homes | None, ...]
    rule: PageRule


class Placement(Frozen, eq=False):
    """The homes of every region in one run."""

    homes: tuple[Homes | None, ...]  # before the run; None: unplaced
    dynamic: npt.NDArray[np.bool_]  # [regions] whether ``stages`` place or move pages of the region
    nodes: int
    pages: I64  # [regions]
    stages: tuple[Stage, ...]
    granule: int  # number of pages that are placed or moved together
    capacity: Capacity | None  # the free memory, if memory is limited
    home_of_node: I64  # [nodes] `Machine.home_of_node`

    def page_homes(self, region: int) -> I16:
        """Return [pages] the node of every page of ``region`` before the run, -1 for an unplaced page."""
        homes, pages = self.homes[region], int(self.pages[region])
        return np.full(pages, NO_HOME, np.int16) if homes is None else homes.of_pages(pages)

    def is_alike(self, region: int) -> bool:
        """Return whether accesses of equal rows and strides to ``region`` have the same bytes by node at any offset."""
        homes = self.homes[region]
        return homes is not None and homes.alike

    def unit_pages(self, region: int) -> int:
        """Return how many pages of ``region`` are placed and moved together: a granule, or 1 if nodes share it."""
        known = [self.homes[region], *(stage.wish[region] for stage in self.stages)]
        return self.granule if all(homes is None or homes.single is not None for homes in known) else 1

    @cached_property
    def settled_pages(self) -> I64:
        """Return [nodes] the number of pages of the static regions."""
        total = np.zeros(self.nodes, np.int64)
        for homes, dynamic, pages in zip(self.homes, self.dynamic, self.pages.tolist(), strict=True):
            if homes is not None and not dynamic:
                total += homes.pages_by_home(pages, self.nodes)
        return total

    def bytes_by_home(
        self,
        region: npt.NDArray[np.integer],
        offset: npt.NDArray[np.integer],
        row_bytes: npt.NDArray[np.integer],
        rows: npt.NDArray[np.integer],
        stride: npt.NDArray[np.integer],
    ) -> I64:
        """Return [accesses, nodes] the exact bytes of each access by home; zeros for an access to a dynamic region.

        An access is ``rows`` pieces of ``row_bytes`` bytes, ``stride`` bytes apart, from ``offset`` on.
        """
        total = np.zeros((len(region), self.nodes), np.int64)
        shape = [np.asarray(part, np.int64) for part in (offset, row_bytes, rows, stride)]
        touches = (np.asarray(row_bytes) > 0) & (np.asarray(rows) > 0)
        for number, homes in enumerate(self.homes):
            if homes is None or self.dynamic[number]:
                continue
            chosen = np.flatnonzero(touches & (np.asarray(region) == number))
            for at in range(0, len(chosen), CHUNK):
                some = chosen[at : at + CHUNK]
                total[some] = _count(homes, Spans(*(part[some] for part in shape)), self.nodes)
        return total


def _count(homes: Homes, spans: Spans, nodes: int) -> I64:
    if homes.single is None:
        return homes.bytes_by_home(spans, nodes)
    total = np.zeros((len(spans.offset), nodes), np.int64)
    total[:, homes.single] = spans.row_bytes * spans.rows
    return total


class PlacementRules(Frozen, eq=False):
    """The facts about the homes of a workload's regions that need no seed."""

    spec: PlacementSpec
    machine: Machine
    workers: WorkerMap
    workload: Workload
    ranged: Mapping[int, str]  # the regions that items of ranges access, each with the name of a family of items
    pages: I64  # [regions] the number of pages of each region, whose last page may be used in part
    unplaced: npt.NDArray[np.bool_]  # [regions] whether workers place the region during the run
    dynamic: npt.NDArray[np.bool_]  # [regions] whether pages are placed or moved during the run
    changes: Mapping[int, PolicySpec]  # the policies that come into force after the begin, by number of phase
    settled: Placement | None = None  # the placement of every run, None if homes are drawn

    def drawn(self, seed: int) -> Placement:
        """Return the placement of a run with ``seed``: the same object for all seeds, unless homes are drawn."""
        return self.settled or self.placed(seed)

    def placed(self, seed: int) -> Placement:
        """Return a new placement of a run with ``seed``. Raises InputError if too many pages need a table."""
        spec, machine = self.spec, self.machine
        grounds = [Ground(machine, self.workers, seed, *each) for each in enumerate(self.workload.regions)]
        before = [None if self.unplaced[ground.number] else self._before_run(ground) for ground in grounds]
        capacity = Capacity(machine) if spec.overflow == "next" else None
        if capacity is not None:
            pairs = zip(before, self.workload.regions, strict=True)
            before = [None if homes is None else capacity.settle(homes, region) for homes, region in pairs]
        return Placement(
            homes=tuple(before),
            dynamic=self.dynamic,
            nodes=machine.nodes,
            pages=self.pages,
            stages=tuple(self._stage(grounds, *each) for each in ((0, spec), *sorted(self.changes.items()))),
            granule=spec.granule_pages(machine.page_bytes),
            capacity=capacity,
            home_of_node=machine.home_of_node,
        )

    def _before_run(self, ground: Ground) -> Homes:
        """Return the homes before the run; worker 0 places fresh memory of ranges if the policy is by touch."""
        policy = POLICIES[self.spec.policy]
        by_worker_0 = ground.number in self.ranged and policy.by_touch and not ground.region.initialised
        return (by_master if by_worker_0 else policy.homes)(self.spec, ground)

    def _stage(self, grounds: Sequence[Ground], phase: int, policy: PolicySpec) -> Stage:
        rule, added = POLICIES[policy.policy], _by_touch_as_added(self.spec, self.workload)
        wishes = [
            None
            if not self.dynamic[ground.number] or rule.by_touch or (added and not ground.region.initialised)
            else rule.homes(policy, ground)
            for ground in grounds
        ]
        reads_place = self.spec.touch_on_read and policy.rule.reads_place
        return Stage(phase, tuple(wishes), replace(policy.rule, reads_place=reads_place))


def placement_rules(spec: PlacementSpec, machine: Machine, workers: WorkerMap, work: Workload) -> PlacementRules:
    """Return the rules by which ``spec`` places the regions of ``work``.

    Raises InputError for a phase that the program does not have, pages that would have to migrate between the items of
    a range, and more pages than homes can be drawn for. The nodes that ``spec`` names have to exist and have memory.
    """
    ranged = {int(r): family.name for family in work.ranges for r in family.accesses.region.tolist()}
    moving = [each.policy for each in spec.policies if each.rule.migrates]  # policies that may migrate placed pages
    if moving:
        _refuse_ranges(ranged, work, moving[0])
    by_touch = _by_touch_as_added(spec, work) or POLICIES[spec.policy].by_touch
    waits = by_touch or (len(spec.policies) > 1 and spec.policy != "first-touch-master")
    unplaced = np.array(
        [waits and not each.initialised and r not in ranged for r, each in enumerate(work.regions)], bool
    )
    dynamic = np.array([new or (bool(moving) and r not in ranged) for r, new in enumerate(unplaced.tolist())], bool)
    pages = np.array([-(-region.bytes // machine.page_bytes) for region in work.regions], np.int64)
    rules = PlacementRules(spec, machine, workers, work, ranged, pages, unplaced, dynamic, _changes(spec, work))
    everywhere, later = range(len(work.regions)), np.flatnonzero(dynamic).tolist()
    for policy, regions in [(spec, everywhere), *((policy, later) for policy in rules.changes.values())]:
        for r in regions if POLICIES[policy.policy].draws else ():
            require_tabulated(work.regions[r].name, int(pages[r]), machine.nodes)
    draws = any(POLICIES[policy.policy].draws for policy in spec.policies)
    return rules if draws else replace(rules, settled=rules.placed(0))


def place(spec: PlacementSpec, machine: Machine, workers: WorkerMap, work: Workload, seed: int = 0) -> Placement:
    """Return the placement of the regions of ``work`` by ``spec``. Raises InputError as `placement_rules` does."""
    return placement_rules(spec, machine, workers, work).drawn(seed)


def _by_touch_as_added(spec: PlacementSpec, work: Workload) -> bool:
    """Return whether fresh memory is placed by its first toucher because tasks add tasks."""
    return spec.adding is not None and bool((work.op_code == Op.SPAWN).any())


def _refuse_ranges(ranged: Mapping[int, str], work: Workload, policy: str) -> None:
    for region, family in ranged.items():
        raise InputError(
            f"the items {family!r} of an implicit range access region {work.regions[region].name!r}, "
            f"whose pages would migrate under {policy}",
            path=("strategy", "placement"),
            expected="another policy, or a workload without implicit ranges",
        )


def _changes(spec: PlacementSpec, work: Workload) -> dict[int, PolicySpec]:
    """Return the policies that come into force after the begin, by the number of their phase."""
    changes: dict[int, PolicySpec] = {}
    if isinstance(spec, TunedPlacementSpec):
        return {NO_PHASE + number: policy for number, policy in enumerate(spec.tuned)}
    for change in spec.changes:
        phase = _phase_number(change, work.phases)
        if phase in changes:
            raise _wrong_phase(change, work.phases, "changes the policy twice")
        changes[phase] = change
    return changes


def _phase_number(change: ChangeSpec, phases: Sequence[Phase]) -> int:
    if isinstance(change.phase, int):
        if change.phase >= len(phases):
            raise _wrong_phase(change, phases, "does not exist")
        return change.phase
    named = [number for number, phase in enumerate(phases) if phase.name == change.phase]
    if len(named) != 1:
        raise _wrong_phase(change, phases, "is the name of several" if named else "does not exist")
    return named[0]


def _wrong_phase(change: ChangeSpec, phases: Sequence[Phase], problem: str) -> InputError:
    names = list(dict.fromkeys(phase.name for phase in phases if phase.name))
    numbers = f"a phase from 0 to {len(phases) - 1}" if len(phases) > 1 else "phase 0"
    expected = numbers + (f", or one of {', '.join(names)}" if names else "")
    sentence, path = f"phase {change.phase!r} {problem}", ("strategy", "placement", "changes")
    return InputError(sentence, path=path, expected=expected, value=str(change.phase), known=names)
