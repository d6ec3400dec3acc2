"""What a coupled run tells to be in use of controllers and links is what it moves, and never more than there is.

The integral of a load over time is the amount that was moved, up to rounding:

- What a flow asks for and what it gets of that are rounded down, each by less than a unit per second: at most two units
  per second of work are missing.
- Each time that a flow's share or speed changes, what it has done is rounded down and what is left of it up, and its
  end comes at a whole picosecond: it goes on for at most three picoseconds more than it has to, at what it asks for.
  What it asks for is what it moves in its whole nominal time.

Overhead that is owed in front of a segment is in the load as well; the runtime `bare` has none.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from engine_setup import NS, SEED, Rows, plan_of, run_watched, runtime
from hypothesis import event, given, settings
from ragged_plans import each, ragged
from random_plans import coupled_plans, loaded, seeds
from task_graphs import Access, Run, graph, items, task

from numasim.engine.collect_result import link_bytes
from numasim.engine.observe.over_time import OverTime
from numasim.engine.observe.watch import Watched
from numasim.engine.result import Result
from numasim.engine.simulate import ENGINES, simulate
from numasim.machine.build_machine import build
from numasim.parts.unit_factors import PS_PER_S
from numasim.plan.build_plan import revised
from numasim.plan.effects import Effects
from numasim.plan.plan import Plan
from numasim.plan.resources import ResourceKind, resources_of
from numasim.spec.single_part import read_machine
from numasim.workload.graph import Deal, Mode, Region

LEAST_PS = 2_000 * NS  # of what a segment computes; at its fastest it takes half of that
PS_PER_CHANGE = 3
BYTES = 1 << 16
FLUID = Effects(contention="fluid")
some = settings(max_examples=30)


def plans() -> dict[str, Plan]:
    """Segments and like items that read, write and update memory of every node, alone and against each other."""
    accesses = [Access(n % 2, n * BYTES, BYTES, mode=list(Mode)[n % 3]) for n in range(24)]
    regions = (Region("read by worker 0 before", 24 * BYTES, True), Region("fresh", 24 * BYTES, False))
    tree = graph(task(*[task(Run(LEAST_PS + n * 90 * NS, (a,))) for n, a in enumerate(accesses)]), regions=regions)
    like = items(
        40,
        LEAST_PS,
        deal=Deal.CYCLIC,
        accesses=(Access(0, 0, BYTES, mode=Mode.READ_WRITE),),
        steps=((1, 0, 0),),
        regions=regions,
    )
    narrow, square = loaded(3, 2, 2, "socket", 8), build(read_machine("opteron-8380-4s"))
    everything = Effects(
        cache="lru", contention="fluid", local_share_ppm=300_000, smt="memory", clock="turbo", overlap_ppm=0
    )
    return {
        "segments": plan_of(tree, 6, machine=narrow, effects=FLUID),
        "segments under everything": plan_of(tree, 12, machine=narrow, effects=everything),
        "shares that are kept": plan_of(tree, 12, machine=narrow, effects=replace(FLUID, contention="snapshot")),
        "several links on a route": plan_of(tree, 16, "randomized", machine=square, effects=FLUID),
        "like items": plan_of(like, 6, machine=narrow, effects=FLUID),
    }


PLANS = plans()
each_run = pytest.mark.parametrize(("engine", "name"), [(engine, name) for engine in ENGINES for name in PLANS])


def steps(rows: Rows, makespan_ps: int) -> dict[int, list[tuple[int, int, int]]]:
    """(begin, end, units per second) of each resource that is told of."""
    told: dict[int, list[tuple[int, int]]] = {}
    for _, resource, time_ps, _, used, *_ in rows[rows[:, 0] == Watched.LOAD].tolist():
        told.setdefault(resource, []).append((time_ps, used))
    return {r: [(a, b, used) for (a, used), (b, _) in pairwise([*of, (makespan_ps, 0)])] for r, of in told.items()}


def integrals(plan: Plan, rows: Rows, makespan_ps: int) -> list[int]:
    """[resources] units per second times picoseconds."""
    told = steps(rows, makespan_ps)
    return [sum((b - a) * used for a, b, used in told.get(r, [])) for r in range(len(resources_of(plan).listed))]


def moved(plan: Plan, result: Result) -> dict[ResourceKind, list[int]]:
    """What the result counts for the resources of these kinds."""
    served = result.node_bytes.sum(axis=0)
    return {
        ResourceKind.CONTROLLER: served.tolist(),
        ResourceKind.REMOTE: (served - np.diag(result.node_bytes)).tolist(),
        ResourceKind.LINK: link_bytes(plan.machine, result).tolist(),
    }


@each_run
def test_the_integral_of_a_load_is_what_was_moved(engine: str, name: str) -> None:
    plan = PLANS[name]
    result, rows = run_watched(plan, engine)
    found = integrals(plan, rows, result.counters["makespan_ps"])
    work_ps = int(sum(row[3] - row[2] for row in rows[rows[:, 0] == Watched.WORK].tolist()))
    changes = len(np.unique(rows[np.isin(rows[:, 0], (Watched.LOAD, Watched.WORK))][:, 2]))
    amounts = moved(plan, result)
    assert sum(amounts[ResourceKind.LINK]) > 0
    seen: Counter[ResourceKind] = Counter()
    for resource, integral in zip(resources_of(plan).listed, found, strict=True):
        if resource.kind not in amounts:
            continue
        amount = amounts[resource.kind][seen[resource.kind]] * PS_PER_S
        seen[resource.kind] += 1
        more = PS_PER_CHANGE * changes * amount // (LEAST_PS // 2)
        assert -2 * work_ps <= integral - amount <= more, resource.name


@pytest.mark.parametrize("engine", ENGINES)
@some
@given(plan=coupled_plans(pages=True, contention="fluid"), seed=seeds)
def test_no_load_is_above_capacity(engine: str, plan: Plan, seed: int) -> None:
    """What each flow gets is rounded down, so that not even rounding leads beyond it."""
    result, rows = run_watched(plan, engine, seed)
    listed = resources_of(plan).listed
    busiest = 0
    for resource, told in steps(rows, result.counters["makespan_ps"]).items():
        most = max(used for _, _, used in told)
        assert 0 < most <= listed[resource].capacity
        busiest = max(busiest, 100 * most // listed[resource].capacity)
    event("a resource is full" if busiest >= 99 else "room is left")


@pytest.mark.parametrize("engine", ENGINES)
@some
@given(plan=coupled_plans(), seed=seeds)
def test_a_load_is_told_where_it_differs_from_the_one_before(engine: str, plan: Plan, seed: int) -> None:
    result, rows = run_watched(plan, engine, seed)
    for told in steps(rows, result.counters["makespan_ps"]).values():
        used = [0, *(value for _, _, value in told)]
        assert all(before != after for before, after in pairwise(used))


@each_run
def test_tables_name_what_is_used(engine: str, name: str) -> None:
    plan = PLANS[name]
    tables, batches = OverTime(plan), []

    def tell(rows: Rows) -> None:
        tables(rows)
        batches.append(rows)

    makespan_ps = int(simulate(plan, SEED, engine, watch=tell).counters["makespan_ps"])
    tables.close(makespan_ps)
    frame = tables.resource_load_frame()
    area = ((frame["end_ps"] - frame["begin_ps"]) * frame["used"]).groupby(frame["resource"]).sum()
    assert area.tolist() == pytest.approx(integrals(plan, np.concatenate(batches), makespan_ps), rel=1e-9)
    listed = resources_of(plan).listed
    assert list(frame[["name", "unit", "capacity"]].drop_duplicates().itertuples(index=False, name=None)) == [
        (resource.name, "bytes/s", resource.capacity) for resource in listed
    ]
    assert (frame["share"] * frame["capacity"]).tolist() == pytest.approx(frame["used"].tolist())


def test_a_run_that_is_not_coupled_tells_of_no_loads() -> None:
    plan = plan_of(graph(task(task(50 * NS))))
    tables = OverTime(plan)
    result = simulate(plan, SEED, watch=tables)
    tables.close(int(result.counters["makespan_ps"]))
    assert not plan.coupled
    assert len(tables.resource_load_frame()) == 0


def test_resources_have_names_and_units() -> None:
    machine: Any = loaded(2, 2, 1, "socket", 8)
    plan = plan_of(graph(task(50 * NS)), machine=machine, effects=replace(FLUID, local_share_ppm=250_000))
    limited = revised(plan, costs=replace(plan.costs, faults_per_s=10_000))
    rate = 8 * 10**9
    assert [(r.name, r.capacity, r.kind.unit) for r in resources_of(limited).listed] == [
        ("controller 0", rate, "bytes/s"),
        ("controller 1", rate, "bytes/s"),
        ("controller 0, remote flows", rate * 3 // 4, "bytes/s"),
        ("controller 1, remote flows", rate * 3 // 4, "bytes/s"),
        ("link 0 to 1", rate, "bytes/s"),
        ("link 1 to 0", rate, "bytes/s"),
        ("cache 0", rate, "bytes/s"),
        ("cache 1", rate, "bytes/s"),
        ("address space", 10_000, "faults/s"),
    ]
    giving_back = revised(limited, workload=ragged(1, 0, freed=each(1)), costs=replace(limited.costs, unmap_ps=1))
    last = resources_of(giving_back).listed[-1]
    assert (last.name, last.capacity, last.kind.unit) == ("address space", 10**12, "ps/s")


def test_the_lock_of_the_address_space_is_loaded_while_memory_is_given_back() -> None:
    work = ragged(2, 100 * NS, freed=each(3 * 4096, 3 * 4096), deal=Deal.CYCLIC)
    plan = plan_of(work, 2, how=runtime(costs={"unmap_ns": 100}), effects=FLUID)
    tables = OverTime(plan)
    tables.close(int(simulate(plan, SEED, watch=tables).counters["makespan_ps"]))
    frame = tables.resource_load_frame()
    lock = frame[frame["name"] == "address space"]
    assert lock["share"].tolist() == pytest.approx([1.0] * len(lock))  # both ask for three quarters of it
