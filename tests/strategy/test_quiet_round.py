"""`Prober.quiet_round` predicts the probes that an idle worker makes in one round while all queues are empty."""

from __future__ import annotations

from typing import Any

import pytest
from strategy_setup import STRATEGIES, Snapshot, compiled, draw, stealing, strategy

from numasim.strategy.probe import Prober

SEED = 3
TWO_NODES = [0, 1, 0, 1, 0, 1, 1]


def foretold(prober: Prober, worker: int, k: int) -> list[tuple[int, int]] | None:
    quiet = prober.quiet_round(worker)
    if quiet is None:
        return None
    picked = [int(c[draw(SEED, worker, k + i, len(c))]) for i, c in enumerate(quiet.queues)]
    return list(zip(quiet.levels, picked, strict=True))


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_shipped_strategy(name: str) -> None:
    plan = compiled(strategy(name), TWO_NODES)
    random = all(level.pick == "random" and level.is_always and not level.gated for level in strategy(name).steal)
    for_some = any(level.who for level in strategy(name).steal)
    prober, view = Prober(plan, SEED), Snapshot.of(plan)
    for worker in range(len(TWO_NODES)):
        for _ in range(5):
            k = prober.victim_stream(worker).drawn
            expected = foretold(prober, worker, k)
            found = list(prober.probes(worker, view))
            assert (expected is not None) == random or for_some
            if expected is not None:
                assert found == expected
                assert prober.victim_stream(worker).drawn == k + len(found)


@pytest.mark.parametrize(
    ("levels", "quiet"),
    [
        ([{"from": "others", "tries": 3}, {"from": "own-node", "tries": "all"}], True),
        ([{"from": "others", "by": "distance", "tries": 2}], True),
        ([{"from": "others", "if": {"length": 2}}, {"from": "own-node", "if": "announced"}], True),
        ([{"from": "others", "if": {"below": 2}}], False),
        ([{"from": "others", "by": "node", "visit": "random"}], False),
        ([{"from": "others", "chance": 0.5}], False),
        ([{"from": "others", "iterations": [0, 3]}], False),
        ([{"from": "others", "pick": "rotate", "if": "announced"}], False),
    ],
)
def test_shapes(levels: list[dict[str, Any]], quiet: bool) -> None:
    plan = compiled(stealing(*levels), TWO_NODES)
    prober = Prober(plan, SEED)
    expected = foretold(prober, 2, 0)
    assert (expected is not None) == quiet
    if quiet:
        assert list(prober.probes(2, Snapshot.of(plan))) == expected


def test_a_known_last_victim_is_not_quiet() -> None:
    prober = Prober(compiled(strategy("last-victim"), TWO_NODES), SEED)
    assert prober.quiet_round(0) is not None
    prober.found(0, 1, 3, 1)
    assert prober.quiet_round(0) is None
