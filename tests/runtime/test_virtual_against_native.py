"""Virtual time against the native engine. The C runtime runs the task graph of a plan, op by op, with the counts of the
simulator to the last picosecond and the same trace hashes. In virtual time the native engine decides all times, so
the tests check that tasks make the calls whose ops the engine executes, and that running tasks changes no count.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest
from runtime_sources import STRATEGIES, refusal
from virtual_equality import differences

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))  # plans of the engine's tests are used here

from engine_setup import plan_of, runtime, seeded, shipped_runtime, shipped_strategy, stealing, toy, toy_with  # isort: skip
from random_recipes import plan_from, random_recipe  # isort: skip
from task_graphs import WAIT, Access, Use, body, call, graph, phase, task  # isort: skip
from task_graphs import Run as Segment  # isort: skip
from registry_cells import MACHINES, SMALL, TEAMS, machine, workload  # isort: skip

from numasim.engine.check.deadlock import TOO_LATE, DeadlockError
from numasim.engine.simulate import simulate
from numasim.errors import InputError
from numasim.parts.models.effects_model import ModelSpec
from numasim.plan.effects import Effects, effects_of
from numasim.plan.plan import Plan, Run
from numasim.runtime.controlled_run import run_plan
from numasim.runtime.fields_file import write_plan
from numasim.schema.enumerations import Role
from numasim.workload.graph import Deal, Op, Region
from numasim.workload.registry import PARAMETERS

MACHINE = "xeon-6130-4s"  # has 64 cores
WORKERS = (2, 6, 24, 64)
RANGES = ("independent", "matmul")  # families of ranges: their tasks exist only as indices
FAMILIES = tuple(name for name in SMALL if not workload(name).ranges)
RANDOM_PLANS, SHARDS = 120, 4
PLAIN_MODEL = {"cache": "none", "contention": "none"}
COUPLED = (  # keys of ``model`` by which workers influence each other's times
    ModelSpec(cache="lru", contention="fluid", smt="compute", clock="turbo"),
    ModelSpec(cache="share", contention="snapshot", smt="memory", queueing="md1"),
)


def run_for(family: str, strategy: str, workers: int) -> Run:
    preset = shipped_runtime(PARAMETERS[family].default_runtime)
    plan = plan_of(workload(family), workers, shipped_strategy(strategy), preset, machine(MACHINE))
    return Run(plan, seed=workers)


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_family_under_every_shipped_strategy(strategy: str, coupled: bool, program: Path) -> None:
    """Coupled workers influence each other by caches, bandwidth, hardware threads and clocks, on every machine."""
    first = STRATEGIES.index(strategy)
    for at, family in enumerate(FAMILIES, first):
        run = run_for(family, strategy, WORKERS[at % len(WORKERS)])
        if coupled:
            on, preset = machine(MACHINES[at % len(MACHINES)]), shipped_runtime(PARAMETERS[family].default_runtime)
            workers, effects = (2, 5, min(16, on.threads))[at % len(TEAMS)], effects_of(COUPLED[at % len(COUPLED)])
            plan = plan_of(workload(family), workers, shipped_strategy(strategy), preset, on, effects=effects)
            run = Run(plan, seed=at)
        assert not list(differences(program, run)), (family, run.plan.workers.workers)


TOLD_APART = {  # as in LAWS (model 4.8): each socket works on one slice of the data at a time
    "queues": {"deque": {"per": "worker"}, "pool": {"per": "socket", "own": "fifo"}},
    "labels": "slices",
    "live": {"per": "socket", "most": 1},
    "spawn": {"local": "work-first"},
    "dispatch": [{"to": "label", "queue": "pool", "tier": ["free", "root"]}, {"to": "own"}],
}
LEVELS = (
    {"from": "own-socket", "tries": "all"},
    {"from": "own", "queue": "pool", "gated": "yes", "unless": "never"},
    {"from": "other-sockets", "queue": "pool", "gated": "yes", "own_first": "yes"},
    {"from": "others", "queue": ["deque", "pool"]},
)


@pytest.mark.parametrize(("join", "tiers"), [("continuation", "slices"), ("help", {"depth": 1})])
def test_every_family_where_tasks_are_told_apart(join: str, tiers: Any, program: Path) -> None:
    strategy = stealing(*LEVELS, **TOLD_APART, tiers=tiers)
    for at, family in enumerate(FAMILIES):
        preset = shipped_runtime(PARAMETERS[family].default_runtime).model_copy(update={"join": join})
        plan = plan_of(workload(family), WORKERS[at % len(WORKERS)], strategy, preset, machine(MACHINE))
        assert not list(differences(program, Run(plan, seed=at))), family


@cache
def random_runs() -> tuple[Run, ...]:
    """Return random runs. Some have controllers, some end in a deadlock, and in most runs the workers are coupled."""
    found: list[Run] = []
    for seed in count():
        recipe = random_recipe(Random(seed))
        if seed % 3 == 0:
            recipe |= {"model": PLAIN_MODEL, "machine": {**recipe["machine"], "effects": {}}}
        try:
            plan = plan_from(recipe)
        except InputError:
            continue
        if not plan.workload.ranges:  # the runtime has no code to run for items of ranges
            found.append(Run(plan, recipe["seed"]))
        if len(found) == RANDOM_PLANS:
            return tuple(found)
    raise AssertionError


@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_plans(shard: int, program: Path) -> None:
    for run in random_runs()[shard::SHARDS]:
        try:
            simulate(run.plan, run.seed, "native")
        except DeadlockError:
            with pytest.raises(InputError, match="tasks are left at"):
                run_plan(run, program=program)
            continue
        assert not list(differences(program, run))


@pytest.mark.parametrize("family", RANGES)
def test_ranges_are_refused_with_a_sentence(family: str, program: Path) -> None:
    with pytest.raises(InputError, match="phase 0 deals an implicit range"):
        run_plan(run_for(family, "randomized", 2), program=program)


GROUP, END_GROUP = Use(Op.GROUP), Use(Op.END_GROUP)
GROUPS = task(
    GROUP, 3, task(20, task(50, task(70))), GROUP, *(task(task(40), 9, task(30)) for _ in range(4)), END_GROUP,
    call(task(60), GROUP, task(10, task(80)), END_GROUP, 1), WAIT, task(5, task(90)), END_GROUP, 2,
)  # fmt: skip


@pytest.mark.parametrize("join", ["help", "own", "strict", "leapfrog", "continuation", "block"])
@pytest.mark.parametrize("spawn", ["help-first", "work-first"])
def test_groups_whose_tasks_leave_children_unjoined(join: str, spawn: str, program: Path) -> None:
    strategy = stealing({"from": "thief"}, {"from": "others"}, spawn=spawn)
    how = runtime(join=join, poll_ns=2, costs={"push_ns": 3, "join_ns": 1, "wait_ns": 2, "resume_ns": 5, "wake_ns": 9})
    for workers in (2, 3, 4):
        run = seeded(plan_of(graph(GROUPS), workers, strategy, how, toy(), skip=False))
        assert not list(differences(program, run))


def test_random_plans_have_all_that_virtual_time_executes() -> None:
    plans = [run.plan for run in random_runs()]
    assert sum(plan.coupled for plan in plans) > 60
    assert sum(plan.helpers is not None for plan in plans) > 5
    assert sum(any(word.role is Role.OBJECTS for word in plan.workload.words) for plan in plans) > 10
    assert sum(plan.tuning is not None for plan in plans) > 20


def helped() -> Plan:
    """Return a plan whose strategy has helpers: idle cores that fetch data of tasks into caches (model 4.11)."""
    strategy = stealing(
        {"from": "own", "queue": "all"},
        queues={"all": {"per": "machine", "own": "fifo"}},
        dispatch=[{"to": "own", "queue": "all"}],
        helpers={"lifespan": "1MiB"},
    )
    caches = {"llc": "1MiB", "llc_scope": "socket", "llc_hit_ns": 10, "llc_remote_hit_ns": 20}
    units = [task(Segment(5, (Access(0, 0, 64),))) for _ in range(4)]
    work = graph(*units, phases=(phase(*range(4)),), regions=(Region("data", 4096, True),))
    return plan_of(work, 2, strategy, machine=toy_with({"cores": 4}, caches=caches), effects=Effects(cache="share"))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: plan_of(graph(GROUPS)), "the plan's program waits for groups of tasks, which threads cannot do"),
        (helped, "the strategy has helpers, which threads do not start"),
        (
            lambda: plan_of(graph(task(task(5), WAIT)), 2, how=runtime(inline_above=64)),
            "inline_above is set, but threads do not count unfinished tasks",
        ),
        (
            lambda: run_for("transactions", "randomized", 2).plan,
            "the program has transactions, which threads do not execute",
        ),
    ],
)
def test_threads_refuse_a_plan_with_a_sentence(
    make: Callable[[], Plan], sentence: str, program: Path, tmp_path: Path
) -> None:
    write_plan(make(), 1, tmp_path / "plan")
    assert sentence in refusal(program, "plan", tmp_path / "plan", "--mode", "native")


def test_fibers_of_tasks_that_come_to_the_top_unbegun(program: Path) -> None:
    """A spawn into a full queue executes the child at once; the task that ended last leaves its fiber to
    this child.
    """
    inner = [task(5, *[task(7) for _ in range(6)], WAIT, 3) for _ in range(5)]
    work = graph(task(*inner, WAIT, 2))
    how = runtime(join="continuation", capacity=1, on_full="inline", costs={"push_ns": 3})
    for workers in (1, 2, 4):
        assert not list(differences(program, seeded(plan_of(work, workers, stealing(), how, toy(), skip=False))))


def test_times_that_do_not_fit_63_bits_are_refused(program: Path) -> None:
    """Virtual time refuses too large a sum of three times; the engine refuses too large a time of one worker."""
    bodies = [body(*[Segment(2**60 // 4 * 3)] * 4) for _ in range(3)]
    plan = plan_of(graph(*bodies, phases=(phase(*range(3), deal=Deal.CYCLIC),)), 3)
    with pytest.raises(InputError, match=r"the times of 3 workers add up to more than 2\*\*63 ps"):
        run_plan(Run(plan, 1), program=program)
    with pytest.raises(InputError, match=re.escape(TOO_LATE)):
        run_plan(Run(plan_of(graph(task(*[Segment(2**60)] * 5)), 1), 1), program=program)


def test_bad_input_is_refused_with_a_sentence(program: Path, tmp_path: Path) -> None:
    path, run = tmp_path / "plan", run_for("fib", "randomized", 2)
    write_plan(run.plan, run.seed, path)
    path.write_bytes(path.read_bytes()[:-8])
    assert "plan: expected one file" in refusal(program, "plan")
    assert "cannot be read" in refusal(program, "plan", tmp_path / "nothing")
    assert "the file is damaged" in refusal(program, "plan", path)
