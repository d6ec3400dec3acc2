"""Long searches: a lap is 65,536 fruitless rounds; in each lap a worker draws the same victims again (model 4.1).

The tests compute the victims of two and a half laps from the definition of random numbers. Longer searches are compared
with closed forms, and shortcuts with runs that make an event of every probe.
"""

from __future__ import annotations

import numpy as np
import pytest
from engine_setup import NS, event_by_event, found, plan_of, runtime, shipped_strategy, stealing, toy
from task_graphs import WAIT, Run, body, graph, task

from numasim.draws import DrawClass, base, below_array, stream_array
from numasim.engine.simulate import ENGINES, simulate
from numasim.parts.models.strategy_model import StrategySpec
from numasim.plan.plan import Plan
from numasim.workload.graph import Deal, Workload

LAP = 65_536
PROBE, FAR, WAIT_PS = 100 * NS, 300 * NS, 20 * NS  # a probe of the own node, of another node; the wait after each round
HOUR = 3600 * 10**12
SEED = 3
DRAWN = {
    "one pick": shipped_strategy("randomized"),
    "two picks": stealing({"from": "others", "tries": 2}),
    "near before far": stealing({"from": "own-node"}, {"from": "other-nodes"}),
    "under a lock": stealing({"from": "others", "lock": "machine"}),
    "wait after each probe": stealing({"from": "others", "tries": 3}, backoff={"after": "probe"}),
    "marks": stealing({"from": "own-node"}, {"from": "other-nodes", "by": "node", "if": {"length": 2}}),
}
LONG_ROUNDS = ("two picks", "near before far")

pytestmark = pytest.mark.parametrize("engine", ENGINES)


def long_and_short(*lengths_ps: int) -> Workload:
    """Return a program with one body for each worker."""
    return graph(*[body(Run(length)) for length in lengths_ps], deal=Deal.CYCLIC)


def plan_with(strategy: StrategySpec | str, work: Workload, workers: int, nodes: int = 1) -> Plan:
    how = runtime(backoff={"first_ns": 20, "factor": 1})
    return plan_of(work, workers, strategy, how, toy(nodes, 4))


def test_picks_repeat_from_lap_to_lap(engine: str) -> None:
    """The test computes the probes of one of four workers, on two nodes, from the random numbers of this worker."""
    rounds = 2 * LAP + LAP // 2
    numbers = stream_array(base(SEED, DrawClass.VICTIM, 0), LAP + 1)
    picked = 1 + below_array(numbers, 3).astype(np.int64)  # of workers 1, 2 and 3
    node = plan_with("randomized", long_and_short(1), 4, nodes=2).workers.node
    order = np.concatenate([[0], 1 + np.arange(rounds - 1) % LAP])  # the first round belongs to no lap
    far = node[picked[order]] != node[0]
    ends = np.cumsum(np.where(far, FAR, PROBE) + WAIT_PS) - WAIT_PS
    plan = plan_with("randomized", long_and_short(0, *[int(ends[-1]) + 1] * 3), 4, nodes=2)
    for each in (plan, event_by_event(plan)):
        result = simulate(each, SEED, engine)
        assert result.per_worker["steal_attempts"].tolist()[0] == rounds
        assert result.per_worker["steal_attempts_remote"].tolist()[0] == int(far.sum())
        assert result.node_attempts[0].tolist() == [rounds - int(far.sum()), int(far.sum())]


@pytest.mark.parametrize("strategy", ["randomized", "topology-aware"])
def test_an_hour_of_rounds_is_counted(engine: str, strategy: str) -> None:
    """All probes take equally long, so that the number of probes follows from the time alone."""
    result = simulate(plan_with(strategy, long_and_short(HOUR, 0, 0), 3), SEED, engine)
    rounds = (HOUR - PROBE) // (PROBE + WAIT_PS) + 1
    assert result.per_worker["steal_attempts"].tolist() == [0, rounds, rounds]
    assert result.per_worker["idle_steal_ps"].tolist()[1] + result.per_worker["idle_backoff_ps"].tolist()[1] == HOUR


@pytest.mark.parametrize("name", DRAWN)
def test_a_long_search_passes_over_what_events_go_through(engine: str, name: str) -> None:
    """Thieves find tasks after more than one lap, after more than two laps, and after a few rounds; the results equal
    those of runs that make an event of every probe.
    """
    round_ps = (2 if name in LONG_ROUNDS else 1) * (PROBE + FAR) // 2 + WAIT_PS
    late = [task(Run(NS)), task(Run(NS)), Run(LAP * round_ps * 5 // 2), task(Run(40 * PROBE)), Run(9 * PROBE), WAIT]
    work = graph(body(Run(LAP * round_ps * 6 // 5), *late))
    plan = plan_with(DRAWN[name], work, 3, nodes=2)
    result = simulate(plan, SEED, engine)
    assert result.counters["steal_attempts"] > 2 * LAP
    assert found(result) == found(simulate(event_by_event(plan), SEED, "native" if "native" in ENGINES else engine))
