"""Strategies on threads that treat tasks differently, by the plan's task graph (tiers, labels, gates, iterations,
controllers), or that have leapfrogging joins, adaptive spawn orders or copies of tasks (model 3.2, 3.3, 4.12 to 4.14).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from runtime_sources import MACHINE, STRATEGIES, THREADED, strategy_file, told

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from engine_setup import plan_of, shipped_strategy, stealing, toy
from registry_cells import machine, workload
from task_graphs import WAIT, graph, phase, task

from numasim.errors import InputError
from numasim.plan.build_plan import revised
from numasim.plan.plan import Plan, Run
from numasim.runtime.controlled_run import run_plan
from numasim.runtime.fields_file import compile_plan, write_plan
from numasim.runtime.runtime_program import Order, run_kernel
from numasim.strategy.control.controller import Controls, Measures, Program
from numasim.workload.graph import Deal

APART = [name for name in STRATEGIES if shipped_strategy(name).needs_every_task or shipped_strategy(name).numbers_tasks]


# ---- the plan's own graph ------------------------------------------------------------------------------------------


FAMILIES = ("heat-ir", "sparselu-single", "random-layered")


@pytest.mark.parametrize("strategy", THREADED)
def test_every_task_runs_as_often_as_its_phases(strategy: str, program: Path) -> None:
    """Threads run a plan under each shipped strategy. Strategies in `APART` also run on an emulated machine."""
    families = FAMILIES if strategy in APART else FAMILIES[:1]
    for mode, family in [*product(["native"], families), *product(["emulated"], FAMILIES[: strategy in APART])]:
        plan = plan_of(workload(family), 4, shipped_strategy(strategy), machine=machine(MACHINE))
        run = run_plan(Run(plan, 3), mode, program)  # fails if a task has not run
        assert run.columns["tasks"] == tasks_of(plan), (mode, family)


def tasks_of(plan: Plan) -> int:
    """Return the number of tasks that the phases and loops of a plan run."""
    work = plan.workload
    times = [1] * len(work.phases)
    for loop in work.loops:
        for number in range(loop.first, loop.end):
            times[number] *= loop.repeat
    roots = [(root, each.repeat * often) for each, often in zip(work.phases, times, strict=True) for root in each.roots]
    return sum(often * int((work.kind[root : work.subtree_end()[root]] == 0).sum()) for root, often in roots)


def test_no_task_begins_before_those_that_it_waits_for(watched: Path, tmp_path: Path) -> None:
    chains = [task((row + 1) * 1000, name=f"t{row}", after=(f"t{row - 7}",) if row >= 7 else ()) for row in range(140)]
    work = graph(*chains, phases=(phase(*range(140)),))
    write_plan(plan_of(work, 4, stealing(), machine=toy()), 3, tmp_path / "plan")
    for _ in range(3):
        assert told(watched / "plan_order", tmp_path / "plan") == "140 0\n"


@pytest.mark.parametrize("deal", Deal)
def test_a_static_schedule_divides_each_turn_of_a_phase_among_threads(
    deal: Deal, program: Path, tmp_path: Path
) -> None:
    """Two phases of 8 tasks, repeated 2 and 3 times, on 4 workers without steals: each worker gets 2 tasks of each
    repetition, 10 in all. With tasks numbered over the whole program, two workers would get all tasks of a phase.
    """
    work = graph(
        *[task(1000)] * 16, phases=(phase(*range(8), deal=deal, repeat=2), phase(*range(8, 16), deal=deal, repeat=3))
    )
    plan = plan_of(work, 4, "static-block", machine=toy())
    assert [*run_plan(Run(plan, 3), "native", program).worker["tasks"]] == [10] * 4


# ---- recorded programs ---------------------------------------------------------------------------------------------


def plan_of_recorded(folder: Path, program: Path, kernel: str, strategy: str, **parameters: int) -> Path:
    record, path = folder / f"{kernel}.json", folder / "plan"
    run_kernel(Order(kernel, parameters, mode="serial", record=record), program)
    write_plan(compile_plan(strategy, MACHINE, 4, "ompi", record), 1, path)
    return path


@pytest.mark.parametrize("strategy", ["laws-nc", "cab", "slaw", "tbb-numa", "static-block"])
@pytest.mark.parametrize(("kernel", "parameters"), [("nqueens", {"n": 7}), ("strassen", {"n": 64, "cutoff": 16})])
def test_a_program_follows_the_graph_that_was_recorded_of_it(
    kernel: str, parameters: dict[str, int], strategy: str, program: Path, tmp_path: Path
) -> None:
    plan = plan_of_recorded(tmp_path, program, kernel, strategy, **parameters)
    (serial,) = run_kernel(Order(kernel, parameters, mode="serial"), program)
    (run,) = run_kernel(Order(kernel, parameters, plan=plan), program)
    assert run.columns["tasks"] == serial.columns["tasks"]


@pytest.mark.parametrize("strategy", ["laws-nc", "cab", "static-block"])
def test_another_program_than_the_recorded_one_is_refused(strategy: str, program: Path, tmp_path: Path) -> None:
    plan = plan_of_recorded(tmp_path, program, "fib", strategy, n=5)
    with pytest.raises(InputError, match=r"a task spawns more than the plan's graph has.*\(--graph\)"):
        run_kernel(Order("fib", {"n": 9}, plan=plan), program)


# ---- gates, leapfrogs, copies --------------------------------------------------------------------------------------


GATED = """
name: gated
queues: {{deque: {{per: worker}}, pool: {{per: socket, own: fifo, full: grow}}}}
tiers: {{depth: 1}}
live: {{per: socket, most: {most}}}
dispatch: [{{to: own, queue: pool, tier: [free, root]}}, {{to: own}}]
steal:
  - {{from: own-socket}}
  - {{from: own, queue: pool, gated: yes}}
  - {{from: other-sockets, queue: pool, gated: yes}}
"""


@pytest.mark.parametrize("most", [1, 2])
def test_no_more_subtrees_of_a_unit_are_live_than_may_be(watched: Path, tmp_path: Path, most: int) -> None:
    strategy, record, plan = (tmp_path / name for name in ("gated.yaml", "graph.json", "plan"))
    strategy.write_text(GATED.format(most=most))
    told(watched / "live_units", "record", record)
    write_plan(compile_plan(str(strategy), MACHINE, 6, "ompi", record), 1, plan)
    for _ in range(4):
        subtrees, live = map(int, told(watched / "live_units", 0, plan).split())
        assert subtrees == 24
        assert 1 <= live <= most


def test_who_leapfrogs_steals_from_its_thief_alone(watched: Path, tmp_path: Path) -> None:
    write_plan(compile_plan("leapfrog", MACHINE, 4, "ompi"), 1, tmp_path / "plan")
    for _ in range(3):
        tasks, _stolen, wrong = map(int, told(watched / "leapfrogs", 0, tmp_path / "plan").split())
        assert (tasks, wrong) == (2**13 - 1, 0)


RULES = "dispatch: [{to: any, pick: random, copy: yes}, {to: any, pick: round-robin}]"
COPIES = "queues: {deque: {per: worker, own: %s}}\n" + RULES
EVERY_SPAWN = "spawn: {adaptive: {every: 1, stack: 3, first: work-first}}"


def may_bury(join: str, keys: str) -> bool:
    """Return whether workers may wait for tasks that no worker can resume: workers sleep, or joins take only some
    tasks, or a task waits on a stack below the continuation of another task that waits for it.
    """
    return join in ("block", "leapfrog") or (join == "help" and "work-first" in keys)


@pytest.mark.parametrize("join", ["help", "continuation", "block", "leapfrog"])
@pytest.mark.parametrize("keys", [COPIES % "lifo", COPIES % "fifo", EVERY_SPAWN, f"{EVERY_SPAWN}\n{COPIES % 'lifo'}"])
def test_random_graphs_lose_and_repeat_no_task(keys: str, join: str, program: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan"
    mine = strategy_file(tmp_path, "mine", f"join: {join}\nsteal: [{{from: thief}}, {{from: others}}]\n{keys}")
    write_plan(compile_plan(mine, MACHINE, 4, "bare"), 1, plan)
    small = {"depth": 4, "width": 4, "low_ns": 0, "high_ns": 1000, "graphs": 100}
    try:
        (run,) = run_kernel(Order("graph", small, plan=plan), program)
    except InputError as error:
        assert may_bury(join, keys)
        assert re.search("all workers wait|no worker can ever run", str(error))  # noqa: PT017
    else:
        (serial,) = run_kernel(Order("graph", small, mode="serial"), program)
        assert run.columns["tasks"] == serial.columns["tasks"]


def test_copies_under_strict_joins_are_refused(program: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan"
    mine = strategy_file(tmp_path, "mine", f"join: strict\n{COPIES % 'lifo'}")
    write_plan(compile_plan(mine, MACHINE, 4, "bare"), 1, plan)
    with pytest.raises(InputError, match="put copies of tasks into queues, and its joins are strict"):
        run_kernel(Order("fib", {"n": 9}, plan=plan), program)


# ---- controllers ---------------------------------------------------------------------------------------------------

SWITCHED = {"from": "others", "when": "far"}


def controlled(choose: Callable[..., Any]) -> Run:
    """Return a run of five iterations of a tree of tasks. Other workers steal only while the switch `far` is on."""
    leaves = [task(200_000) for _ in range(30)]
    work = graph(task(1000, *leaves, WAIT))
    work = replace(work, phases=(replace(work.phases[0], repeat=5),))
    tune = {"what": "fastest", "of": [[], ["far"]]}
    plan = plan_of(work, 3, stealing(SWITCHED, tune=tune), machine=toy())
    assert plan.tuning is not None
    return Run(revised(plan, tuning=replace(plan.tuning, load=lambda: choose, name="mine:choose")), 1)


def test_a_controller_is_told_what_threads_have_measured(program: Path) -> None:
    seen: list[Measures] = []

    def choose(program: Program, state: int | None, measures: Measures | None) -> tuple[int, Controls]:
        if measures is not None:
            seen.append(measures)
        return (state or 0) + 1, Controls(switches=frozenset({"far"}))

    run = controlled(choose)
    run_plan(run, "native", program)
    assert [each.iteration for each in seen] == [0, 1, 2, 3]
    for each in seen:
        assert (each.task_ps > 0).all()
        assert each.task_ps.sum() == each.worker_busy_ps.sum()
        assert 0 < each.worker_busy_ps.max() <= each.time_ps
        assert not each.bytes.any()  # threads do not count bytes


@pytest.mark.parametrize("mode", ["native", "virtual"])
def test_what_a_controller_switches_off_nobody_does(mode: str, program: Path, tmp_path: Path) -> None:
    def stay(program: Program, state: None, measures: Measures | None) -> tuple[None, Controls]:
        return None, Controls(switches=frozenset())

    def go(program: Program, state: None, measures: Measures | None) -> tuple[None, Controls]:
        return None, Controls(switches=frozenset({"far"}))

    kept = tmp_path / "controls"
    attempts = [run_plan(controlled(each), mode, program, kept).columns["steal_attempts"] for each in (stay, go)]
    assert attempts[0] == 0 < attempts[1]
    again = run_plan(controlled(stay), mode, program, replay=kept)
    assert again.columns["steal_attempts"] > 0


def test_a_page_policy_is_none_of_a_controllers_on_threads(program: Path) -> None:
    def choose(program: Program, state: None, measures: Measures | None) -> tuple[None, Controls]:
        return None, Controls(placement="spread")

    strategy = stealing(
        {"from": "others"}, tune={"what": "fastest", "of": [[]], "placements": {"spread": "interleave"}}
    )
    plan = plan_of(graph(task(1000)), 3, strategy, machine=toy())
    assert plan.tuning is not None
    chosen = revised(plan, tuning=replace(plan.tuning, load=lambda: choose, name="mine:choose"))
    with pytest.raises(InputError, match="has chosen a page policy, which is left to the operating system on threads"):
        run_plan(Run(chosen, 1), "native", program)
