"""Items that are dealt by where their data lies: what worker 0 pays for it, who gets them, and both engines alike."""

from __future__ import annotations

from typing import Any

import pytest
from engine_setup import NS, Seen, event_by_event, observe, plan_of, runtime, stealing, toy
from ragged_plans import each, on, ragged, table

import numasim as ns
from numasim.draws import DrawClass, base, below, draw
from numasim.engine.result import Result
from numasim.engine.simulate import ENGINES
from numasim.workload.graph import Deal

DISTRIBUTIONS = (
    *("random", "interleave", "locality", "balanced"),
    *("mixed-locality-balanced", "mixed-locality-interleave"),
)
VICTIMS = ("none", "sequential", "random", "numa-aware", "numa-only")
PAIRS = {"random": 0, "interleave": 0, "mixed-locality-interleave": 1}  # looks at each row and worker, else 2
ROWS, WORKERS = 60, 6
WORK = {"name": "reduce", "emits": 600, "rows": ROWS, "value_bytes": 4096, "key_filler": "disjoint-subranges"}


UNCOUPLED = {"cache": "none", "contention": "none", "smt": "none", "clock": "fixed"}


def run(engine: str, strategy: Any, model: dict[str, str] | None = None, **work: Any) -> Result:
    found: Result = ns.run(
        machine="xeon-6130-2s",
        workload={**WORK, **work},
        strategy=strategy,
        workers=WORKERS,
        engine=engine,
        model=model or {},
    )
    return found


def same(result: Result) -> dict[str, Any]:
    """What every engine finds; an engine may pass over events."""
    return {name: value for name, value in result.counters.items() if name not in ("event_hash", "events")}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("model", [{}, UNCOUPLED], ids=["coupled", "uncoupled"])
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_worker_0_pays_for_the_pairs_before_all_begin(engine: str, model: dict[str, str], name: str) -> None:
    like = f"phoenix-{name}-numa-aware"
    free, paid = (
        run(engine, {"like": like, "steal": [], "labels": {"deal": name, "pair_ns": cost}}, model) for cost in (0, 50)
    )
    cost_ps = PAIRS.get(name, 2) * ROWS * WORKERS * 50_000
    assert paid.counters["makespan_ps"] - free.counters["makespan_ps"] == cost_ps
    assert paid.counters["serial_ps"] == free.counters["serial_ps"]
    assert paid.counters["work_ps"] - free.counters["work_ps"] == cost_ps
    assert paid.counters["tasks"] == free.counters["tasks"] == ROWS


@pytest.mark.parametrize("victims", VICTIMS)
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_engines_agree(name: str, victims: str) -> None:
    steal = ns.Strategy.shipped(f"phoenix-locality-{victims}").specified()["steal"]
    strategy = {"like": f"phoenix-{name}-numa-aware", "steal": steal}
    found = [run(engine, strategy, key_filler="equal-prob") for engine in ENGINES]
    assert all(same(each) == same(found[0]) for each in found)


@pytest.mark.parametrize("name", ["horizontal", "vertical"])
def test_tournaments_agree(name: str) -> None:
    work = {"name": f"{name}-tournament", "key_filler": "equal-prob"}
    found = [run(engine, f"phoenix-{name}", **work) for engine in ENGINES]
    assert all(same(each) == same(found[0]) for each in found)


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_of_a_node_stay_there_without_thieves_from_elsewhere(engine: str) -> None:
    """Six workers on two nodes own ten rows each; in turn, half of the rows are on the other node."""
    local = run(engine, "phoenix-locality-numa-only").counters
    dealt_in_turn = run(engine, "phoenix-interleave-none").counters
    assert (local["bytes_local"], local["bytes_remote"]) == (600 * 4096, 0)
    assert (dealt_in_turn["bytes_local"], dealt_in_turn["bytes_remote"]) == (300 * 4096, 300 * 4096)


@pytest.mark.parametrize("engine", ENGINES)
def test_phases_have_the_distribution_apart(engine: str) -> None:
    result = run(engine, "phoenix-locality-none")
    table = result.iterations
    assert table["time_ps"].tolist()[0] == 2 * ROWS * WORKERS * 50_000
    assert table["time_ps"].sum() == result.counters["makespan_ps"]
    assert table["tasks"].tolist() == [0, ROWS]


# ---- worked out by hand: four items, four workers, of which 0 and 1 are on node 0 ----------------------------------

NOBODY_STEALS: dict[str, Any] = {"queues": {"deque": {"per": "worker"}}, "mapping": "contiguous", "steal": []}
QUEUES_OF_NODES: dict[str, Any] = {
    "queues": {"pool": {"per": "node", "own": "fifo", "lock": "yes"}},
    "mapping": "contiguous",
}
TAKES_OWN = {"from": "own", "queue": "pool"}
RANDOM_SEED = 5


def four_items(engine: str, deal: Deal, *levels: Any, **strategy: Any) -> Seen:
    """Two items with ten lines each on node 1, one with five on either, one with twelve on node 0 and three on node 1;
    it is drawn how long they compute.
    """
    work = ragged(4, table((1, NS, 9 * NS)), on(0, each(0, 0, 320, 768)), on(1, each(640, 640, 320, 192)), deal=deal)
    family = next(iter(strategy["queues"]))
    keys = {"dispatch": [{"to": "label", "queue": family}, {"to": "any", "queue": family}], **strategy}
    plan = plan_of(work, 4, stealing(*levels, **keys), runtime(), toy(sockets=2, cores=2))
    return observe(event_by_event(plan), engine)


def who_had(seen: Seen) -> list[int]:
    """The worker of each of the last four tasks."""
    workers = {task: worker for worker, task, *_ in seen.stretches}
    return [workers[task] for task in sorted(workers)[-4:]]


BY_HAND: list[tuple[dict[str, Any], list[int]]] = [
    ({"deal": "interleave"}, [0, 1, 2, 3]),
    ({"deal": "locality"}, [2, 2, 0, 0]),  # the third costs all the same
    # 720 bytes a worker, 792 with a tenth more: the last fits nowhere and goes to the first in the order of its cost
    ({"deal": "balanced"}, [2, 3, 1, 0]),
    ({"deal": "balanced", "overload": 0.8}, [2, 2, 1, 0]),  # 1296: node 1's first worker has room for both
    ({"deal": "mixed-locality-balanced"}, [2, 2, 0, 0]),
    ({"deal": "mixed-locality-balanced", "exclusivity": 0.9}, [2, 2, 1, 0]),
    ({"deal": "mixed-locality-interleave", "exclusivity": 0.8}, [2, 2, 2, 0]),
    ({"deal": "mixed-locality-interleave", "exclusivity": 0.9}, [2, 2, 2, 3]),
    (
        {"deal": "random", "seed": RANDOM_SEED},
        [below(draw(base(RANDOM_SEED, DrawClass.DISPATCH, 0), number), 4) for number in range(4)],
    ),
]


@pytest.mark.parametrize("deal", Deal)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("labels", "workers"), BY_HAND)
def test_items_come_to_whom_the_distribution_names(
    labels: dict[str, Any], workers: list[int], engine: str, deal: Deal
) -> None:
    assert who_had(four_items(engine, deal, labels={**labels, "pair_ns": 0}, **NOBODY_STEALS)) == workers


@pytest.mark.parametrize("engine", ENGINES)
def test_items_come_to_the_queue_of_a_node(engine: str) -> None:
    """Units are the two nodes: 1440 bytes each, 1584 with a tenth more."""
    nodes = {
        "interleave": [0, 1, 0, 1],
        "locality": [1, 1, 0, 0],
        "balanced": [1, 1, 0, 0],  # by size the last, then the first two, 1280 on node 1; the third has room on node 0
    }
    for name, expected in nodes.items():
        seen = four_items(engine, Deal.MASTER, TAKES_OWN, labels={"deal": name, "pair_ns": 0}, **QUEUES_OF_NODES)
        assert [worker // 2 for worker in who_had(seen)] == expected, name


@pytest.mark.parametrize("engine", ENGINES)
def test_pairs_of_items_and_units_take_worker_0_their_time(engine: str) -> None:
    """Four items and two units, looked at twice, 3 ns each; nobody else has begun then."""
    seen = four_items(engine, Deal.MASTER, TAKES_OWN, labels={"deal": "locality", "pair_ns": 3}, **QUEUES_OF_NODES)
    cost_ps = 2 * 4 * 2 * 3 * NS
    assert seen.stretches[0] == (0, 0, 0, cost_ps)
    assert min(start_ps for _, _, start_ps, _ in seen.stretches[1:]) >= cost_ps
