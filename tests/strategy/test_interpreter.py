"""The interpreter of compiled strategies (`Prober`), draw by draw: rounds of probes worked out by hand, and a second
interpreter (`strategy_oracle`) on random strategies.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategy_oracle import Memory, Oracle, Round, amount_of
from strategy_setup import Snapshot, compiled, draw, on_nodes, stealing, strategy, toy_machine

from numasim.draws import DrawClass
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.models.strategy_terms import LengthCondition, StealPick
from numasim.strategy.compile_strategy import compile_strategy
from numasim.strategy.probe import Prober

SEED = 11
TWO_NODES = [0, 1, 0, 1, 0, 1]  # workers 0, 2, 4 on node 0


def rounds(prober: Prober, worker: int, view: Snapshot, count: int = 1) -> list[list[tuple[int, int]]]:
    return [list(prober.probes(worker, view)) for _ in range(count)]


def drawn(prober: Prober, worker: int) -> int:
    return prober.victim_stream(worker).drawn


def test_a_chance_learns_within_its_bounds() -> None:
    learns = {"first": 0, "most": 0.5, "hit": 0.25, "miss": -1, "elsewhere-miss": 0.2}
    plan = compiled(stealing({"from": "other-nodes", "chance": learns}, {"from": "own-node"}), TWO_NODES)
    prober = Prober(plan, SEED)

    def certain() -> bool:
        """Return whether every draw below half a million enters the level, as at the level's greatest chance."""
        k = drawn(prober, 0)
        entered = rounds(prober, 0, Snapshot([0] * 6))[0][0][0] == 0
        return entered == (draw(SEED, 0, k, 10**6) < 500_000)

    second_draws = [[2, 4][draw(SEED, 0, 2 * k + 1, 2)] for k in range(20)]
    assert rounds(prober, 0, Snapshot([0] * 6), 20) == [[(1, q)] for q in second_draws]
    for _ in range(3):
        prober.found(0, 1, 2, 0)  # the level's chance grows to 0.2, to 0.4, and then to its limit 0.5
    assert all(certain() for _ in range(30))
    prober.found(0, 0, 1, 0)
    assert all(level == 1 for ((level, _),) in rounds(prober, 0, Snapshot([0] * 6), 20))


def test_a_level_from_the_last_victim_forgets_the_victim_after_a_fruitless_probe() -> None:
    last = {"from": "last", "chance": 1, "forget": True}
    prober = Prober(compiled(stealing(last, {"from": "others"}), [0] * 6), SEED)
    view = Snapshot([0] * 6)
    assert rounds(prober, 0, view) == [[(1, [1, 2, 3, 4, 5][draw(SEED, 0, 0, 5)])]]  # nothing is known yet
    prober.found(0, 1, 3, 1)
    assert rounds(prober, 0, view, 2) == [[(0, 3)]] * 2  # each with a draw for the chance
    assert [q for _, q in prober.within_reach(0, view)] == [3, 1, 2, 3, 4, 5]
    prober.found(0, 0, 3, 0)
    assert rounds(prober, 0, view) == [[(1, [1, 2, 3, 4, 5][draw(SEED, 0, 3, 5)])]]


def test_streams_are_those_of_the_definition() -> None:
    prober = Prober(compiled(strategy("randomized"), [0] * 4), SEED)
    stream = prober._states[4].dispatch  # the producer's stream
    assert [stream.below(1000) for _ in range(5)] == [draw(SEED, 4, k, 1000, DrawClass.DISPATCH) for k in range(5)]


INSIDE = ["own", "own-core", "own-node", "own-socket"]
names = st.sampled_from([*INSIDE, "others", "other-cores", "other-nodes", "other-sockets", "parent", "thief", "last"])


@st.composite
def levels(draw: st.DrawFn) -> dict[str, Any]:
    level: dict[str, Any] = {"from": draw(names)}
    if draw(st.booleans()):
        level["iterations"] = draw(st.sampled_from([[0, 0], [1, "last"], [0, "last"]]))
    level["if"] = draw(st.sampled_from([None, None, "announced", {"length": "max"}, {"length": 3}, {"below": "min"}]))
    level["amount"] = draw(
        st.sampled_from(
            [
                None,
                "half",
                "all",
                {"count": 3},
                {"share": 3},
                {"share": 2, "most": 3},
                {"share": "workers", "round": "above"},
            ]
        )
    )
    level["leave"] = draw(st.integers(0, 2))
    level["who"] = draw(st.sampled_from([None, None, "head"]))
    level["chance"] = draw(st.sampled_from([None, None, None, 0.25, 1]))
    if level["from"] == "last":
        level["queue"] = draw(st.sampled_from([None, ["deque"], ["pool"], ["pool", "deque"]]))
        level["forget"] = draw(st.booleans())
        return level
    if level["from"] == "others" or str(level["from"]).startswith("own-"):
        level["self"] = draw(st.booleans())
    level["queue"] = draw(st.sampled_from([["deque"], ["pool"], ["deque", "pool"], ["pool", "deque"]]))
    level["by"] = draw(st.sampled_from([None, None, "core", "node", "socket", "distance"]))
    level["visit"] = draw(st.sampled_from(["nearest", "random", "weighted"])) if level["by"] else "nearest"
    level["pick"] = draw(st.sampled_from(["random", *get_args(StealPick)]))
    if level["pick"] in ("longest", "shortest"):
        level["sample"] = draw(st.sampled_from([None, 1, 2]))
    level["tries"] = draw(st.sampled_from([1, 1, 2, 3, "all"]))
    return level


@st.composite
def machines(draw: st.DrawFn) -> tuple[Any, Any]:
    """Return a machine of up to four nodes in sockets of two, and workers spread over it; some share a core."""
    nodes = draw(st.integers(1, 4))
    latency = draw(st.lists(st.integers(1, 5), min_size=nodes * nodes, max_size=nodes * nodes))
    core_node = draw(st.lists(st.integers(0, nodes - 1), min_size=1, max_size=6))
    cores = draw(st.lists(st.integers(0, len(core_node) - 1), min_size=1, max_size=8))
    workers = on_nodes([core_node[core] for core in cores], cores, nodes_a_socket=2)
    return toy_machine(nodes, 2, np.reshape(latency, (nodes, nodes)) * 1000), workers


def test_a_permutation_finds_each_of_two_neighbours_first_as_often() -> None:
    """In a permutation each of two neighbouring victims is first equally often. In a ring from a random start the first
    neighbour comes before the second one unless the ring starts at the second.
    """
    plan = compiled(stealing({"from": "others", "pick": "permutation", "tries": "all"}), [0] * 12)
    view = Snapshot.of(plan)
    firsts = 0
    for seed in range(2000):
        order = [queue for _, queue in Prober(plan, seed).probes(0, view)]
        assert sorted(order) == [*range(1, 12)]
        firsts += order.index(5) < order.index(6)
    assert abs(firsts - 1000) < 4 * (2000 / 4) ** 0.5  # four standard deviations; in a ring: 10 of 11


QUEUES = {"deque": {"per": "worker"}, "pool": {"per": "node"}}


@given(
    place=machines(),
    steal=st.lists(levels(), min_size=1, max_size=3),
    passes=st.lists(st.integers(1, 3), min_size=4, max_size=4),
    seed=st.integers(0, 2**64 - 1),
    state=st.randoms(use_true_random=False),
)
@settings(max_examples=150)
def test_compiled_plans_mean_what_the_definition_says(
    place: Any, steal: list[Any], passes: list[int], seed: int, state: Any
) -> None:
    """Probes, draw counters and amounts agree with the oracle on random machines, strategies and states."""
    machine, workers = place
    drain = {"from": "own", "queue": "pool", "iterations": [9, 9]}  # some level must take from the pool
    if any(level["chance"] is not None for level in steal):
        passes = [1] * 4  # the level takes the place of all others
    later = [{**level, "from_pass": min(first, passes[3])} for level, first in zip(steal, passes, strict=False)]
    spec = StrategySpec.model_validate({"queues": QUEUES, "steal": [*later, drain], "passes": passes[3]})
    plan = compile_strategy(spec, RuntimeSpec(), machine, workers)
    oracle, prober = Oracle(spec, machine, workers), Prober(plan, seed)
    memories = [Memory() for _ in range(workers.workers)]
    count = [0] * workers.workers
    view = Snapshot.of(plan)
    for _ in range(8):
        _shuffle(state, view)
        w = state.randrange(workers.workers)

        def one(n: int, w: int = w) -> int:
            count[w] += 1
            return draw(seed, w, count[w] - 1, n)

        expected = Round(oracle, w, memories[w], view, one, _reader(plan, view)).probes()
        last_probe = None
        for probe in _together(prober.probes(w, view), expected):
            level, queue = last_probe = probe
            length = view.length[queue]
            assert prober.amount(level, length) == amount_of(spec, oracle.searched[level], length, workers.workers)
            _shuffle(state, view)
        assert drawn(prober, w) == count[w]
        if last_probe is not None and state.random() < 0.5:
            _succeed(oracle, prober, memories, w, last_probe)
        elif last_probe is not None:
            prober.found(w, *last_probe, 0)
            if oracle.searched[last_probe[0]].forget:
                memories[w].last = None
        _run_task_of_another(prober, memories, w, state.randrange(workers.workers))


def _shuffle(state: Any, view: Snapshot) -> None:
    view.length[:] = [state.randrange(4) for _ in view.length]
    for bits in view.watch:
        bits[:] = [state.randrange(2) for _ in bits]
    view.iteration = state.randrange(3) if not view.iteration else view.iteration


def _together(found: Iterator[tuple[int, int]], expected: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Step two rounds side by side, so that both see each state."""
    while (probe := next(found, None)) == (other := next(expected, None)):
        if probe is None:
            return
        yield probe
    pytest.fail(f"probe {probe}, expected {other}")


def _reader(plan: Any, view: Snapshot) -> Any:
    """Return a function that reads the bit of a condition by the bounds that the grammar gives its watch."""
    marks = {"max": (-2, -4), "min": (-1, -3)}

    def bit(condition: Any, queue: int) -> bool:
        if condition == "announced":
            return bool(view.watch[plan.watch.tolist().index([-2, -1])][queue])
        assert isinstance(condition, LengthCondition)
        length = condition.below if condition.below is not None else condition.length
        bound = marks[length] if isinstance(length, str) else (length, length - 1)
        return bool(view.watch[plan.watch.tolist().index(list(bound))][queue]) != (condition.below is not None)

    return bit


def _succeed(oracle: Oracle, prober: Prober, memories: list[Memory], w: int, probe: tuple[int, int]) -> None:
    level, queue = probe
    prober.found(w, level, queue, 1)
    memories[w].last = queue
    if queue < len(memories) and queue != w:  # the queue of a worker
        memories[queue].thief = w


def _run_task_of_another(prober: Prober, memories: list[Memory], w: int, spawner: int) -> None:
    prober.ran(w, spawner)
    memories[w].parent = spawner if spawner != w else None
