"""Items that are dealt by where their data lies: what worker 0 pays for it, who gets them, and both engines alike."""

from __future__ import annotations

from typing import Any

import pytest

import numasim as ns
from numasim.engine.result import Result
from numasim.engine.simulate import ENGINES

DISTRIBUTIONS = (
    *("random", "interleave", "locality", "balanced"),
    *("mixed-locality-balanced", "mixed-locality-interleave"),
)
VICTIMS = ("none", "sequential", "random", "numa-aware", "numa-only")
PAIRS = {"random": 0, "interleave": 0, "mixed-locality-interleave": 1}  # looks at each row and worker, else 2
ROWS, WORKERS = 60, 6
WORK = {"name": "reduce", "emits": 600, "rows": ROWS, "value_bytes": 4096, "key_filler": "disjoint-subranges"}


def run(engine: str, strategy: Any, **work: Any) -> Result:
    found: Result = ns.run(
        machine="xeon-6130-2s", workload={**WORK, **work}, strategy=strategy, workers=WORKERS, engine=engine
    )
    return found


def same(result: Result) -> dict[str, Any]:
    """What every engine finds; an engine may pass over events."""
    return {name: value for name, value in result.counters.items() if name not in ("event_hash", "events")}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_worker_0_pays_for_the_pairs_before_all_begin(engine: str, name: str) -> None:
    like = f"phoenix-{name}-numa-aware"
    free, paid = (
        run(engine, {"like": like, "steal": [], "labels": {"deal": name, "pair_ns": cost}}) for cost in (0, 50)
    )
    cost_ps = PAIRS.get(name, 2) * ROWS * WORKERS * 50_000
    assert paid.counters["makespan_ps"] - free.counters["makespan_ps"] == cost_ps
    assert paid.counters["serial_ps"] == free.counters["serial_ps"]
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
