"""The bounds with which every run is compared, and the remark about a run that offers thieves nothing (model 8)."""

from __future__ import annotations

import pytest
from engine_setup import NS, plan_of, runtime, seeded, stealing, toy
from random_recipes import numbered_run
from task_graphs import WAIT, Access, Run, body, call, graph, items, phase, task

from numasim.engine.check.bounds import Bounds, check_bounds
from numasim.engine.simulate import CHAINS, ENGINES, bounds, simulate
from numasim.errors import CheckError
from numasim.plan.effects import Effects
from numasim.workload.graph import Region, Workload

PLANS = 400


def chain_ps(work: Workload, engine: str) -> list[int]:
    return list(CHAINS[engine](seeded(plan_of(work, 1)), work.segment_compute_ps))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("work", "chains"),
    [
        (graph(task(5, task(7), task(9), WAIT, 3)), [5 + 9 + 3]),
        (graph(task(5, call(7, task(100)), 2, task(9), WAIT, 3)), [5 + 7 + 100]),  # nobody waits for the call's child
        (graph(task(5, task(7), 3)), [12]),  # nobody waits for the child
        (graph(task(5, name="a"), task(1, after=("a",)), task(4)), [6]),
        (graph(task(task(8, name="a"), task(1, after=("a",)), WAIT, 2)), [11]),
        (graph(task(task(1, after=("b",)), task(8, name="b"), WAIT, 2)), [11]),  # backwards in program order
        (graph(task(5), task(6), task(7), phases=(phase(0, 1), phase(2))), [6, 7]),
        (graph(body(5, task(6)), body(7)), [11]),
        (graph(task()), [0]),
    ],
)
def test_longest_chains_by_hand(engine: str, work: Workload, chains: list[int]) -> None:
    assert chain_ps(work, engine) == chains


def test_bounds_of_phases_ranges_and_repeats_by_hand() -> None:
    work = graph(task(5 * NS, task(7 * NS)), task(6 * NS), phases=(phase(0, repeat=3), phase(2, serial=True)))
    assert bounds(plan_of(work)) == Bounds(3 * 12 * NS + 6 * NS, 3 * 12 * NS + 6 * NS)
    assert bounds(plan_of(items(10, 4 * NS, 9 * NS))) == Bounds(40 * NS, 4 * NS)


def test_memory_counts_in_bounds_as_far_as_it_is_known() -> None:
    """Two lines in sequence from memory at 100 ns: a tenth of a latency each."""
    reads = graph(task(Run(3 * NS, (Access(0, 0, 128),))), regions=(Region("data", 4096, True),))
    assert bounds(plan_of(reads)) == Bounds(20 * NS, 20 * NS)
    assert bounds(plan_of(reads, effects=Effects(cache="share"))) == Bounds(3 * NS, 3 * NS)


def test_bounds_allow_for_lucky_noise() -> None:
    plan = plan_of(graph(task(1000 * NS)), 1, effects=Effects(task_noise_ppm=100_000))
    least = bounds(plan).work_ps
    assert 650 * NS < least < 660 * NS  # four uniform numbers deviate by at most 3.46 sigma
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
        plan_of(TASKS, 4),  # thieves find some
        plan_of(BODIES, 1),  # nobody else is there
        plan_of(graph(task(1000 * NS)), 4),  # nothing runs beside it
        plan_of(graph(*[body(1000 * NS)] * 4, phases=None), 1),
        plan_of(graph(task()), 4),  # nothing to do
        plan_of(graph(task(1000 * NS)), 2, how=runtime(backoff={"first_ns": 50})),
    ],
)
def test_other_runs_say_nothing(plan: object) -> None:
    assert simulate(plan, 1).remarks == []  # type: ignore[arg-type]
