"""Random plans that can skip ahead, and the comparison of skipping runs with runs of every event."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
from engine_setup import (
    FIRST,
    NS,
    SEED,
    event_by_event,
    found,
    plan_of,
    runtime,
    shipped_strategy,
    stealing,
    toy,
    toy_with,
)
from task_graphs import WAIT, Access, Run, Task, body, graph, items, phase, task

from numasim.engine.result import Result
from numasim.engine.simulate import simulate
from numasim.machine.topology import Machine
from numasim.parts.models.placement_model import PlacementSpec
from numasim.parts.unit_factors import MILLION
from numasim.plan.build_plan import revised
from numasim.plan.coupling import may_be_scarce, most_asked
from numasim.plan.effects import NO_BACKGROUND, NO_EFFECTS, Background, Effects
from numasim.plan.plan import Plan
from numasim.plan.resources import ResourceKind, resources_of
from numasim.workload.graph import Deal, Mode, Pattern, Region, Workload

MOST_TASKS = 60
GRAINS_PS = (1, 100, NS, 30 * NS)  # of segments; probes take a nanosecond and more, so either may be the longer
REGIONS = (Region("a", 300_000, initialised=True), Region("b", 5_000, initialised=True))
PLACEMENTS = ("first-touch-master", "interleave", "block")
SHIPPED = ("randomized", "randomized-self", "ring", "ring-after-last", "last-victim", "nearest-first")
NODE_BY_NODE = stealing({"from": "own-node"}, {"from": "other-nodes", "by": "node", "tries": 2})
STRATEGIES = (FIRST, NODE_BY_NODE, *map(shipped_strategy, SHIPPED))
DEALS = tuple(Deal)
ITEM_STEPS = (
    (1, 0, 0),
    (1, 12, 0),
    (7, 2, 3),
    (10, 0, 50),
    (16, 40, 0),
)  # divisor, step_div, step_mod: within 5,000 bytes


def assert_skipping_changes_nothing(plan: Plan, seed: int = SEED) -> Result:
    """Return the result of the skipping run; assert that an eager run and the reference engine agree."""
    assert plan.skipping
    skipped, eager = simulate(plan, seed), simulate(event_by_event(plan), seed)
    reference = simulate(plan, seed, "reference")
    assert skipped.counters["mode"] == reference.counters["mode"] == "skipping"
    assert skipped.counters["event_hash"] is None
    assert found(skipped) == found(eager) == found(reference)
    return skipped


# ---- random plans ----------------------------------------------------------------------------------------------------


class Draft:
    """Fully strict programs, drawn from a generator of random numbers; times are at least ``shortest`` grains, and
    equal or vanishing times are frequent.
    """

    def __init__(self, chance: Random, shortest: int) -> None:
        self.chance = chance
        self.times = [grains for grains in (0, 0, 1, 1, 2, 3, 5, 9) if grains >= shortest]
        self.grain_ps = chance.choice(GRAINS_PS)
        self.moves_bytes = chance.random() < 0.5
        self.left = chance.randint(1, MOST_TASKS)

    def time_ps(self) -> int:
        return self.chance.choice(self.times) * self.grain_ps

    def run(self) -> Run:
        return Run(self.time_ps(), tuple(self.access() for _ in range(self.chance.randint(0, 2) * self.moves_bytes)))

    def access(self) -> Access:
        region = self.chance.randrange(len(REGIONS))
        size = self.chance.choice((64, 4_000))
        offset = self.chance.randrange(REGIONS[region].bytes - size)
        return Access(
            region, offset, size, mode=self.chance.choice(tuple(Mode)), pattern=self.chance.choice(tuple(Pattern))
        )

    def steps(self, depth: int) -> list[Any]:
        """Draw groups of segments and children, each closed by a WAIT if it spawns."""
        steps: list[Any] = []
        for _ in range(self.chance.randint(0, 2)):
            steps += self.group(depth)
        return steps + [self.run() for _ in range(self.chance.randint(0, 1))]

    def group(self, depth: int) -> list[Any]:
        ops: list[Any] = []
        for _ in range(self.chance.randint(0, 5)):
            if self.left > 0 and depth < 8 and self.chance.random() < 0.6:
                self.left -= 1
                ops.append(task(*self.steps(depth + 1)))
            else:
                ops.append(self.run())
        return [*ops, WAIT] if any(isinstance(op, Task) for op in ops) else ops

    def roots(self, workers: int) -> Workload:
        deal = self.chance.choice(DEALS)
        count = 1 if deal == Deal.MASTER else self.chance.randint(1, workers)
        kind = self.chance.choice((task, body))
        start = phase(0, deal=deal, repeat=self.chance.randint(1, 2))
        drawn = graph(*(kind(*self.steps(0)) for _ in range(count)), phases=(start,), regions=REGIONS)
        roots = tuple(row for row in range(drawn.rows) if drawn.parent[row] < 0)
        return replace(drawn, phases=(replace(start, roots=roots),))

    def items(self) -> Workload:
        low, high = sorted((self.time_ps(), self.time_ps()))
        count = self.chance.choice((1, 5, 40, 150))
        accesses = tuple(self.access() for _ in range(self.chance.randint(0, 2) * self.moves_bytes))
        moved = tuple(access._replace(offset=0, row_bytes=64) for access in accesses)  # the items move them on
        steps = tuple(self.chance.choice(ITEM_STEPS) for _ in moved)
        deal, repeat = self.chance.choice(DEALS), self.chance.randint(1, 2)
        return items(count, low, high, deal, moved, steps, REGIONS, repeat)


PACES_PPM = (MILLION, MILLION, 999_999, 650_000, 333_333, 50_000)  # of a thread beside another


def skippable_plan(chance: Random) -> Plan:
    """Draw a plan that mostly may skip ahead: its workers are coupled by steals alone, share cores and clocks, or have
    items that demand as much bandwidth as there is, a little more, or half of it.
    """
    kind = chance.choice(("steals", "speeds", "speeds", "bandwidth"))
    if kind == "steals":
        shape = {"sockets": chance.choice((1, 1, 2)), "cores": chance.choice((1, 3)), "threads": chance.choice((1, 2))}
        return plan_on(toy(**shape, nodes=chance.choice((1, 2))), NO_EFFECTS, chance)
    machine = machine_of(chance)
    effects = Effects(
        smt=chance.choice(("none", "compute", "memory")),
        clock=chance.choice(("turbo", "fixed")),
        overlap_ppm=chance.choice((MILLION, MILLION, 0, 333_333)),
        mlp_ppm=chance.choice((MILLION, 2_500_000)),
    )
    drawn = {"task_noise_ppm": chance.choice((0, 200_000)), "worker_spread_ppm": chance.choice((0, 200_000))}
    if kind == "speeds" and chance.random() < 0.8:
        return plan_on(machine, effects, chance)
    effects = replace(effects, cache=chance.choice(("none", "share", "lru")), **drawn)
    if kind == "speeds":
        return plan_on(machine, effects, chance, ranges=1)
    contended = replace(
        effects,
        contention=chance.choice(("fluid", "fluid", "snapshot")),
        queueing=chance.choice(("none", "none", "none", "md1")),
        local_share_ppm=chance.choice((0, 0, 0, 300_000)),
    )
    plan = plan_on(machine, contended, chance, ranges=1)
    percent, margin = chance.choice(((100, 0), (100, 0), (100, 1), (100, -1), (50, 0), (200, 0)))
    return with_bandwidth(plan, percent, margin, chance.choice((0, 0, 12_345)))


def machine_of(chance: Random) -> Machine:
    """Draw a machine with shared cores, clocks and caches."""
    shape = {
        "sockets": chance.choice((1, 1, 2, 3)),
        "cores": chance.choice((1, 3)),
        "threads": chance.choice((1, 2, 4)),
    }
    caches: dict[str, Any] = {"l2": chance.choice((0, 600))}
    if chance.random() < 0.6:
        caches |= {"llc": chance.choice((1000, 20_000, 1 << 20)), "llc_hit_ns": 15, "llc_remote_hit_ns": 60}
        caches |= {"llc_scope": chance.choice(("socket", "core"))}
        caches |= {"llc_bandwidth_gbs": chance.choice((1, 10))} if chance.random() < 0.3 else {}
    paces = {"busy_ppm": chance.choice(PACES_PPM), "poll_ppm": chance.choice(PACES_PPM)}
    turbo = [{"active": most, "ghz": ghz} for most, ghz in ((1, 3.1), (2, 2.3))[: shape["cores"]]]
    return toy_with(shape, caches=caches, smt=paces, clock={"base_ghz": 2, "turbo": turbo})


def with_bandwidth(plan: Plan, percent: int, margin: int, load: int) -> Plan:
    """Return the plan on a machine whose controllers and links have ``percent`` of the largest demand, and ``margin``,
    beside ``load``. These numbers determine whether any resource can be scarce.
    """
    asked, nodes = most_asked(plan), plan.machine.nodes
    enough = [max(1, asked[at] * percent // 100 + margin) for at in range(len(resources_of(plan).listed))]
    links = [at for at, each in enumerate(resources_of(plan).listed) if each.kind == ResourceKind.LINK]
    machine = replace(
        plan.machine,
        imc_bytes_per_s=np.array(enough[:nodes]) + load,
        links=replace(plan.machine.links, bytes_per_s=np.array(enough, np.int64)[links]),
    )
    background = Background(nodes=tuple((node, load) for node in range(nodes))) if load else NO_BACKGROUND
    made = revised(plan, machine=machine, effects=replace(plan.effects, background=background))
    kept = plan.effects.local_share_ppm or machine.caches.llc_bytes_per_s
    if any(most_asked(plan)[node] > 1 for node in range(nodes)) and (percent < 100 or margin < 0):
        assert may_be_scarce(made)
    elif not kept and percent >= 100 and margin >= 0:
        assert not may_be_scarce(made)
    return made


def plan_on(machine: Machine, effects: Effects, chance: Random, ranges: float = 0.3) -> Plan:
    workers = chance.randint(1, machine.threads)
    draft = Draft(chance, shortest=0 if effects == NO_EFFECTS else 1)
    if effects.task_noise_ppm:
        draft.grain_ps = max(10, draft.grain_ps)  # of which a tenth is left at least
    work = draft.items() if chance.random() < ranges else draft.roots(workers)
    brief = draft.grain_ps <= NS and not draft.moves_bytes  # else the shortest probes are made a million times
    costs = {
        "probe_ns": chance.choice((1, 1, 20, 100) if brief else (70, 100)),
        "probe_remote_ns": chance.choice((2, 300) if brief else (200, 300)),
        "take_ns": chance.choice((0, 3)),
    }
    if work.ranges:
        costs["pop_ns"] = chance.choice((0, 1, 40))
    backoff = {"first_ns": chance.choice((0, 0, 50)), "after": chance.choice(("round", "probe"))}
    how = runtime(
        poll_ns=chance.choice((0, 7, 270)), costs=costs, backoff=backoff, capacity="none", join="continuation"
    )
    placement = PlacementSpec(policy=chance.choice(PLACEMENTS))
    strategy = chance.choice(STRATEGIES).model_copy(update={"placement": placement})
    return plan_of(work, workers, strategy, how, machine, effects=effects)
