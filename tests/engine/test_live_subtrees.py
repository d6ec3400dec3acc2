"""Levels that wait until subtrees have ended: how many are live in a unit, worked out by hand (model 4.14)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engine_setup import NS, Seen, plan_of, run, runtime, stealing, toy
from task_graphs import WAIT, call, graph, task

from numasim.engine.simulate import ENGINES
from numasim.parts.models.strategy_model import StrategySpec
from numasim.plan.plan import Plan
from numasim.workload.graph import Phase, Workload

engines = pytest.mark.parametrize("engine", ENGINES)
QUEUES = {"deque": {"per": "worker"}, "pool": {"per": "machine", "own": "fifo"}}


def gated(most: int = 1, per: str = "socket", *levels: dict[str, Any], **keys: Any) -> StrategySpec:
    """Tasks of depth 1 are the roots of subtrees; they go to one pool, from which workers take them through gates."""
    given: dict[str, Any] = {
        "queues": QUEUES,
        "tiers": {"depth": 1},
        "live": {"per": per, "most": most},
        "dispatch": [{"to": "own", "queue": "pool", "tier": "root"}, {"to": "own"}],
    }
    return stealing({"from": "own", "queue": "pool", "gated": "yes"}, *levels, **{**given, **keys})


TWO = graph(task(task(1000 * NS), task(1000 * NS), WAIT))


@engines
def test_the_second_subtree_waits_for_the_first(engine: str) -> None:
    # Both probes are sent at 0 ns and come at 100 ns; that of worker 0 finds task 1, and the gate closes before that of
    # worker 1. At 1100 ns task 1 ends. Worker 0 probes first then, too, and finds task 2 at 1200 ns.
    seen = run(TWO, 2, gated(), engine=engine)
    assert seen.order(0) == [1, 2]
    assert seen.order(1) == []
    assert seen["makespan_ps"] == 2200 * NS


@engines
def test_as_many_as_most_are_live_together(engine: str) -> None:
    seen = run(TWO, 2, gated(most=2), engine=engine)
    assert seen.stretches == ((0, 1, 100 * NS, 1100 * NS), (1, 2, 100 * NS, 1100 * NS))


@engines
def test_each_unit_counts_its_own(engine: str) -> None:
    # one worker on each of two sockets: neither waits for the other
    seen = run(TWO, 2, gated(), machine=toy(sockets=2, cores=1), engine=engine)
    assert seen["makespan_ps"] == 1100 * NS
    assert run(TWO, 2, gated(per="machine"), machine=toy(sockets=2, cores=1), engine=engine)["makespan_ps"] == 2200 * NS


@engines
def test_a_subtree_is_live_until_its_last_task_ends(engine: str) -> None:
    # Task 1 ends at once and leaves its child 2, which worker 0 executes from 100 to 1100 ns: until then the subtree is
    # live, and task 3 waits.
    seen = run(graph(task(task(task(1000 * NS)), task(500 * NS), WAIT)), 2, gated(), engine=engine)
    assert (0, 2, 100 * NS, 1100 * NS) in seen.stretches
    assert next(start for _, number, start, _ in seen.stretches if number == 3) == 1200 * NS


@engines
def test_it_counts_for_the_unit_that_began_it_wherever_its_tasks_run(engine: str) -> None:
    # Worker 0 begins task 1 at 100 ns, which spawns task 2 and works until 600 ns. Worker 1, of another socket, finds
    # its gate open at 100 ns and takes task 3, of 100 ns. It steals task 2 at 500 ns, a probe of another socket taking
    # 300 ns. Task 4 is for worker 1 alone to take at once when task 3 has ended, for its gate is open.
    work = graph(task(task(task(2000 * NS), 500 * NS, WAIT), task(100 * NS), task(100 * NS), WAIT))
    seen = run(work, 2, gated(1, "socket", {"from": "others"}), machine=toy(sockets=2, cores=1), engine=engine)
    assert [number for number in seen.order(1) if number != 2] == [3, 4]


@engines
def test_a_root_that_is_called_begins_at_once(engine: str) -> None:
    # the call, of depth 1, is live from 0 to 1000 ns, and again nothing is live while task 2 waits for its turn
    work = graph(task(task(500 * NS), call(1000 * NS), WAIT))
    seen = run(work, 2, gated(), engine=engine)
    assert next(start for _, number, start, _ in seen.stretches if number == 1) == 1100 * NS


OWN_POOL = {"from": "own", "queue": "pool", "gated": "yes"}
OTHER_POOL = {"from": "other-sockets", "queue": "pool", "gated": "yes"}
HALVES = {
    "queues": {"deque": {"per": "worker"}, "pool": {"per": "socket", "own": "fifo"}},
    "labels": "slices",
    "dispatch": [{"to": "label", "queue": "pool", "tier": "root"}, {"to": "own"}],
}


def halves(engine: str, own_first: str, work: Workload, depth: int = 1) -> Seen:
    """Two sockets with a worker each; the first half of the children of the only root is for socket 0."""
    levels = [OWN_POOL, {**OTHER_POOL, "own_first": own_first}]
    strategy = stealing(*levels, tiers={"depth": depth}, live={"per": "socket", "most": 1}, **HALVES)
    return run(work, 2, strategy, machine=toy(sockets=2, cores=1), engine=engine)


@engines
def test_a_unit_waits_for_its_own_subtrees_before_it_looks_elsewhere(engine: str) -> None:
    # Task 1, for socket 0, is there at 0 ns, task 2, for socket 1, at 2000 ns. Worker 1 looks into its own pool until
    # 100 ns, and would find task 1 in that of socket 0 at 400 ns.
    work = graph(task(task(1000 * NS), 2000 * NS, task(1000 * NS), WAIT))
    assert halves(engine, "no", work).order(1)[0] == 1
    seen = halves(engine, "yes", work)
    assert (seen.order(0)[-1], seen.order(1)) == (1, [2])
    assert seen["makespan_ps"] < 3300 * NS  # task 1 from 2100 ns on, task 2 at most a probe later


@engines
def test_it_helps_when_they_have_begun(engine: str) -> None:
    # tasks 1 to 3 are for socket 0, tasks 4 to 6 for socket 1, which has them done before task 1 has ended
    work = graph(task(*[task(1000 * NS)] * 3, *[task(10 * NS)] * 3, WAIT))
    assert halves(engine, "yes", work).order(1)[:4] == [4, 5, 6, 2]


@engines
def test_a_unit_without_subtrees_of_its_own_helps_at_once(engine: str) -> None:
    # all subtrees, tasks 2 to 5, are those of task 1 and for socket 0; worker 1 takes the second, before the first ends
    work = graph(task(task(*[task(1000 * NS)] * 4, WAIT), task(10 * NS), WAIT))
    assert halves(engine, "yes", work, depth=2).order(1)[0] in (2, 3)


@engines
def test_every_phase_awaits_its_subtrees_anew(engine: str) -> None:
    tree = task(task(1000 * NS), 2000 * NS, task(1000 * NS), WAIT)
    work = graph(tree, phases=(Phase(roots=(0,), repeat=3),))
    seen = halves(engine, "yes", work)
    assert seen.order(1) == [2, 2, 2]


@engines
@pytest.mark.parametrize("join", ["help", "strict", "own", "continuation"])
@pytest.mark.parametrize("spawn", ["help-first", "work-first", {"local": "work-first"}])
@pytest.mark.parametrize("most", [1, 2])
def test_never_more_than_most_are_live(engine: str, join: str, spawn: Any, most: int) -> None:
    plan, seen = ragged(engine, join, spawn, most)
    socket = plan.workers.socket
    ends: dict[int, list[tuple[int, int]]] = {unit: [] for unit in range(2)}
    for root, first, end in lives(plan.workload, seen):
        ends[int(socket[root])].append((first, end))
    for spans in ends.values():
        assert spans
        times = sorted({start for start, _ in spans})
        at_once = max(sum(start <= t < end for start, end in spans) for t in times)
        assert at_once == most or (join == "own" and at_once < most)  # who waits takes nothing from the pool


def ragged(engine: str, join: str, spawn: Any, most: int) -> tuple[Plan, Seen]:
    """Twelve subtrees of unlike sizes on two sockets with two workers each."""
    subtrees = [
        task(*[task((50 + 70 * (at * 5 + part) % 300) * NS) for part in range(2 + at % 3)], 40 * NS, WAIT, 30 * NS)
        for at in range(12)
    ]
    # a task that waits may leave its worker to roots that it runs meanwhile, which gates let through or not
    levels = [{"from": "own-socket", "self": "yes"}]
    work, machine = graph(task(*subtrees, WAIT)), toy(sockets=2, cores=2)
    strategy = gated(most, "socket", *levels, spawn=spawn)
    how = runtime(join=join)
    return plan_of(work, 4, strategy, how, machine), run(work, 4, strategy, how, machine, engine=engine)


def lives(work: Workload, seen: Seen) -> list[tuple[int, int, int]]:
    """(worker that began it, begin, end) of each subtree of depth 1, by what was executed."""
    found = []
    for root in np.flatnonzero(work.parent == 0).tolist():
        end = int(work.subtree_end()[root])
        spans = [row for row in seen.stretches if root <= row[1] < end]
        first = min(spans, key=lambda row: row[2])
        found.append((first[0], first[2], max(row[3] for row in spans)))
    return found
