"""Checks of results: invariants, lower bounds of the makespan, remarks (model 8).

To show that every invariant can fail, a test changes one number of a good result and compares the reported sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from engine_setup import NS, SEED, Seen, observe, plan_of, runtime, seeded, shipped_strategy, stealing, toy
from random_recipes import numbered_run
from task_graphs import WAIT, Access, Run, Use, body, graph, items, phase, task

from numasim.engine.check.bounds import Bounds, check_bounds
from numasim.engine.check.invariants import INVARIANTS, assert_valid, violations
from numasim.engine.reference.ledger import Executed
from numasim.engine.remarks import waits_for_lines
from numasim.engine.simulate import ENGINES, bounds, simulate
from numasim.errors import CheckError
from numasim.parts.models.placement_model import PlacementSpec
from numasim.plan.effects import Effects
from numasim.plan.plan import Plan
from numasim.workload.graph import Op, Region
from numasim.workload.sync_parameters import Role, SyncObject

LOCK, UNLOCK = Use(Op.LOCK), Use(Op.UNLOCK)
PARTS = (
    task(Run(200 * NS, (Access(0, 0, 6400),)), name="a"),
    task(300 * NS, name="b"),
    task(LOCK, 100 * NS, UNLOCK, name="c", after=("a", "b")),
)
WORK = graph(
    task(LOCK, 50 * NS, UNLOCK, *PARTS, WAIT, 70 * NS),
    regions=(Region("data", 1 << 16, True),),
    words=(SyncObject("door", Role.LOCK),),
)
Falsify = Callable[[Seen], Any]


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_of(WORK, 2, machine=toy(sockets=2, cores=1), how=runtime(costs={"push_ns": 5, "probe_remote_ns": 100}))


@pytest.fixture(scope="module")
def good(plan: Plan) -> Seen:
    return observe(plan)


def added(change: int, table: str, *keys: Any) -> Falsify:
    """Add ``change`` to one entry of a table of the result."""

    def falsify(seen: Seen) -> None:
        entries = getattr(seen.result, table)
        for key in keys[:-1]:
            entries = entries[key]
        entries[keys[-1]] += change

    return falsify


def logged(task_id: int, stretch: int, **changes: int) -> Falsify:
    """Change one executed segment of a task in the log; ``stretch`` is its number, from the back if negative."""

    def falsify(seen: Seen) -> None:
        log = list(seen.log)
        at = [i for i, each in enumerate(log) if each.task == task_id][stretch]
        log[at] = log[at]._replace(**changes)
        seen.log = log

    return falsify


def without_last(seen: Seen) -> None:
    seen.log = list(seen.log)[:-1]


def ran_twice(seen: Seen) -> None:
    end = seen["makespan_ps"]
    seen.log = [*seen.log, Executed(1, 1, 1, end, end)]


def swapped_idle_parts(seen: Seen) -> None:
    seen.result.per_worker["idle_steal_ps"][1] -= 10**9
    seen.result.per_worker["idle_backoff_ps"][1] += 10**9


def granted_too_early(seen: Seen) -> None:
    seen.result.held[1, 2] = seen.result.held[0, 3] - 1


def held_unseen(seen: Seen) -> None:
    seen.result.held = np.insert(seen.result.held, 1, [0, 1, *seen.result.held[1, [2, 2]]], axis=0)


def opened(*rows: tuple[int, int, int, int]) -> Falsify:
    """Add openings of object 0 by transactions to the result: word 1 stands for a write, word -1 for a read."""

    def falsify(seen: Seen) -> None:
        seen.result.held = np.concatenate([np.array(rows), seen.result.held])

    return falsify


LIES: dict[str, tuple[Falsify, str]] = {
    "a task is missing": (added(-1, "counters", "tasks"), "3 tasks ran, but the workload has 4"),
    "a task too many": (added(1, "counters", "tasks"), "5 tasks ran"),
    "a segment did not run": (without_last, r"ran 0 times instead of 1"),
    "a segment ran twice": (ran_twice, r"task 1 segment 1 ran 2 times instead of 1"),
    "two at once": (
        logged(2, 0, worker=1, start_ps=260 * NS, end_ps=261 * NS),
        r"worker 1 runs task .* before task .* ends",
    ),
    "beyond the end": (logged(0, -1, end_ps=10**12), "works beyond the makespan"),
    "before the spawn": (logged(1, 0, start_ps=0), "task 1 starts at 0 ps, before task 0 spawns it"),
    "segments out of order": (logged(0, -1, start_ps=0, end_ps=1), "task 0 runs segment . too early"),
    "before the predecessor": (logged(2, 0, end_ps=10**12), "task 3 starts before its predecessor 2 ends"),
    "more work than time": (added(10**9, "counters", "work_ps"), "makespan .* is below work / workers"),
    "a longer span than time": (added(10**9, "counters", "span_ps"), r"is below the span"),
    "more span than work": (lambda seen: seen.result.counters.update(work_ps=1), r"span .* exceeds the work 1 ps"),
    "time that is lost": (added(-1, "per_worker", "idle_steal_ps", 1), "the time of worker 1 adds up to"),
    "time that is won": (added(1, "per_worker", "overhead_ps", 0), "the time of worker 0 adds up to"),
    "negative time": (swapped_idle_parts, "a part of the time of worker 1 is negative"),
    "an attempt too many": (added(1, "counters", "steal_attempts"), "steal_attempts .* is not .* successes"),
    "a remote attempt too many": (added(1, "counters", "steal_attempts_remote"), "steal_attempts_remote .* is not"),
    "fewer tasks than steals": (added(-1, "counters", "tasks_stolen"), "fewer tasks were stolen than steals succeeded"),
    "more tasks than one a steal": (added(1, "counters", "tasks_stolen"), "every steal takes one task"),
    "a pair's attempt too many": (added(1, "node_attempts", 0, 0), "node pairs of steal_attempts do not add up to it"),
    "a far pair's attempt": (added(1, "node_attempts", 0, 1), "remote node pairs of steal_attempts do not add up"),
    "a far pair's success": (added(1, "node_success", 0, 1), "remote node pairs of steal_success do not add up"),
    "bytes from nowhere": (added(64, "node_bytes", 0, 0), "found in caches, but the workload declares 6400"),
    "pages from nowhere": (added(1, "node_pages", 0), r"pages were placed, but nodes hold"),
    "more pages than there are": (added(10**6, "counters", "page_faults"), r"pages were placed, but there are"),
    "an acquisition too many": (added(1, "sync_objects", "acquisitions", 0), "do not add up to lock_acquisitions"),
    "a wait too long": (added(1, "counters", "lock_wait_ps"), "do not add up to lock_wait_ps"),
    "a lock held twice": (granted_too_early, "'door' is granted to . at .* ps, while . holds it"),
    "a lock held too long": (added(1, "sync_objects", "hold_ps", 0), "'door' was not held for as long as was counted"),
    "a lock held unseen": (held_unseen, "'door' was held 3 times, not as often as it was acquired"),
    "an abort at no object": (
        added(1, "counters", "aborts"),
        "1 attempts aborted, but node pairs and objects have other sums",
    ),
    "two who write an object": (
        opened((1, 0, 10, 30), (1, 1, 20, 40)),
        "worker 1 opens object 0 at 20 ps, while worker 0",
    ),
    "one who writes what another reads": (opened((-1, 0, 10, 30), (1, 1, 20, 40)), "worker 1 opens object 0 at 20 ps"),
    "one who reads what another writes": (opened((1, 1, 10, 30), (-1, 0, 20, 40)), "worker 0 opens object 0 at 20 ps"),
    "local bytes too many": (added(64, "counters", "bytes_local"), "bytes_local and bytes_remote do not add up"),
}


def test_the_untouched_result_is_good(plan: Plan, good: Seen) -> None:
    assert violations(seeded(plan), good.result, good.log) == []
    assert good["steal_success"] >= 1
    assert good["bytes_remote"] + good["bytes_local"] == 6400


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_seen(plan: Plan, good: Seen, lie: str) -> None:
    falsify, sentence = LIES[lie]
    seen = deepcopy(good)
    falsify(seen)
    found = violations(seeded(plan), seen.result, seen.log)
    assert found
    with pytest.raises(CheckError, match=sentence):
        assert_valid(seeded(plan), seen.result, seen.log)


def test_one_worker_alone_meets_nobody() -> None:
    plan = plan_of(graph(task(10 * NS)), 1)
    seen = observe(plan)
    assert violations(seeded(plan), seen.result, seen.log) == []
    seen.result.counters["aborts"] = 2
    assert "2 attempts aborted, but there is one worker alone" in violations(seeded(plan), seen.result, seen.log)


def test_every_invariant_is_shown_to_fail(plan: Plan, good: Seen) -> None:
    failed = set()
    for falsify, _ in LIES.values():
        seen = deepcopy(good)
        falsify(seen)
        failed |= {each.__name__ for each in INVARIANTS if list(each(seeded(plan), seen.result, seen.log))}
    assert failed == {each.__name__ for each in INVARIANTS}


def test_checking_is_part_of_a_run_that_asks_for_it(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numasim.engine.check.invariants.INVARIANTS", (lambda *_: iter(["broken"]),))
    assert simulate(plan, SEED).counters["tasks"] == 4
    with pytest.raises(CheckError, match="broken"):
        simulate(plan, SEED, check=True)


def test_remote_memory_may_be_nearer_than_local() -> None:
    # 100 lines, 10 at a time: 1 us from memory 100 ns away, 0.1 us from memory 10 ns away
    far_sighted = replace(toy(sockets=2, cores=1), latency_ps=np.array([[100 * NS, 10 * NS], [10 * NS, 100 * NS]]))
    work = graph(task(Run(0, (Access(0, 0, 6400),))), regions=(Region("data", 1 << 16, True),))
    there = shipped_strategy("randomized").model_copy(update={"placement": PlacementSpec(policy="bind", node=1)})
    plan = plan_of(work, 1, there, machine=far_sighted)
    result = simulate(plan, SEED, check=True)
    assert result.counters["makespan_ps"] == 100 * NS
    assert result.counters["work_ps"] == result.counters["span_ps"] == 1000 * NS


def test_items_that_were_passed_over_are_counted() -> None:
    how = runtime(producer="extra", on_full="next", capacity=4, costs={"push_ns": 10})
    plan = plan_of(items(400, 1000 * NS), 3, "randomized", how)
    result, log = ENGINES["reference"](seeded(plan), True, None)
    assert result.passed_items > 0
    assert violations(seeded(plan), result, log) == []
    result.passed_items -= 1
    assert violations(seeded(plan), result, log) == ["task 0 segment 0 ran 399 times instead of 400"]


# ---- the bounds with which every run is compared (model 8) -----------------------------------------------------------

PLANS = 400


def test_bounds_of_phases_ranges_and_repeats_by_hand() -> None:
    work = graph(task(5 * NS, task(7 * NS)), task(6 * NS), phases=(phase(0, repeat=3), phase(2, serial=True)))
    assert bounds(plan_of(work)) == Bounds(3 * 12 * NS + 6 * NS, 3 * 12 * NS + 6 * NS)
    assert bounds(plan_of(items(10, 4 * NS, 9 * NS))) == Bounds(40 * NS, 4 * NS)


def test_memory_counts_in_bounds_as_far_as_it_is_known() -> None:
    """Two lines are read in sequence from memory at 100 ns, ten at a time: 10 ns for each line."""
    reads = graph(task(Run(3 * NS, (Access(0, 0, 128),))), regions=(Region("data", 4096, True),))
    assert bounds(plan_of(reads)) == Bounds(20 * NS, 20 * NS)
    assert bounds(plan_of(reads, effects=Effects(cache="share"))) == Bounds(3 * NS, 3 * NS)


def test_bounds_allow_for_lucky_noise() -> None:
    plan = plan_of(graph(task(1000 * NS)), 1, effects=Effects(task_noise_ppm=100_000))
    least = bounds(plan).work_ps
    assert 650 * NS < least < 660 * NS  # the noise, a sum of four uniform numbers, is at most 3.46 sigma
    makespans = [simulate(plan, seed).counters["makespan_ps"] for seed in range(200)]
    assert least <= min(makespans) < 1000 * NS < max(makespans)


@pytest.mark.parametrize("first", range(0, PLANS, 50))
def test_engines_know_the_same_bounds_and_no_run_beats_them(first: int) -> None:
    for number in range(first, first + 50):
        plan = numbered_run(17, number).plan
        whole = bounds(plan.unfolded(), "reference")
        assert [bounds(plan, engine) for engine in ENGINES] == [whole] * len(ENGINES)


def test_a_result_below_a_bound_is_refused() -> None:
    plan = plan_of(graph(task(5 * NS, name="a"), task(1 * NS, after=("a",))))
    result = simulate(plan, 1)
    result.counters["makespan_ps"] = 6 * NS - 1
    with pytest.raises(CheckError, match="5999 ps is below the critical path of the program, 6000 ps"):
        check_bounds(plan, result, bounds(plan))
    wide = plan_of(graph(*[task(4 * NS) for _ in range(3)]))
    result = simulate(wide, 1)
    result.counters["makespan_ps"] = 5 * NS
    with pytest.raises(CheckError, match="5000 ps is below the work of the program, 12000 ps, on 2 workers"):
        check_bounds(wide, result, bounds(wide))


# ---- remarks -------------------------------------------------------------------------------------------------------

BODIES = graph(*[body(1000 * NS) for _ in range(4)])
TASKS = graph(*[task(1000 * NS) for _ in range(4)])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_that_offers_thieves_nothing_says_so(engine: str) -> None:
    (remark,) = simulate(plan_of(BODIES, 4), 1, engine).remarks
    # three thieves look every 100 ns, the last time when the last body ends, at 4,000 ns
    assert remark.startswith("no steal succeeded (120 attempts, 0 rounds without a candidate)")
    assert "could keep 4.0 workers busy" in remark


def test_rounds_without_a_candidate_count_as_searching() -> None:
    plan = plan_of(TASKS, 4, stealing({"from": "others", "if": {"length": 4}}), machine=toy(1, 4))
    (remark,) = simulate(plan, 1).remarks
    assert remark.startswith("no steal succeeded (0 attempts, ")


@pytest.mark.parametrize(
    "plan",
    [
        plan_of(TASKS, 4),  # thieves find tasks
        plan_of(BODIES, 1),  # there is no other worker
        plan_of(graph(task(1000 * NS)), 4),  # there is only one task
        plan_of(graph(task()), 4),  # the only task does nothing
        plan_of(graph(task(1000 * NS)), 2, how=runtime(backoff={"first_ns": 50})),
    ],
)
def test_other_runs_say_nothing(plan: object) -> None:
    assert simulate(plan, 1).remarks == []  # type: ignore[arg-type]


def test_large_waits_for_lines_are_called_an_upper_bound():
    """Two workers have 2,000 ps together in a run of 1,000 ps. Waits of 199 ps are less than a tenth, of 200 ps not."""
    counters = {"makespan_ps": 1000, "line_owner_ps": 100}
    assert waits_for_lines({**counters, "line_thief_ps": 99}, 2) == []
    [remark] = waits_for_lines({**counters, "line_thief_ps": 100}, 2)
    assert "an upper bound" in remark
    assert remark.endswith("(model A-81); here 10 % of the time of all workers")
    assert waits_for_lines({"makespan_ps": 0, "line_owner_ps": 0, "line_thief_ps": 0}, 2) == []
