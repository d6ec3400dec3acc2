"""Strategies as objects: made of fields and of other strategies, as text, and through files."""

from __future__ import annotations

from pathlib import Path

import pytest

import numasim as ns
from numasim.errors import InputError
from numasim.parts import catalog
from numasim.spec.identity import run_id
from numasim.spec.one_run import load_run

RUN = {"machine": "xeon-e5-2620-2s", "workload": {"name": "fib", "n": 5}, "workers": 2}


def test_a_strategy_of_its_own() -> None:
    mine = ns.Strategy(name="mine", steal=[{"from": "own-node", "tries": 2}, {"from": "others", "amount": "half"}])
    assert mine.name == "mine"
    assert [level.source for level in mine.spec.steal] == ["own-node", "others"]
    assert repr(mine) == "Strategy('mine': 2 steal levels, help-first)"


def test_a_name_alone_is_the_shipped_strategy() -> None:
    assert ns.Strategy("threshold") == ns.Strategy.shipped("threshold")
    with pytest.raises(InputError, match=r"there is no strategy 'treshold'.*did you mean 'threshold'"):
        ns.Strategy("treshold")


def test_like_merges_and_names() -> None:
    half = ns.Strategy(like="threshold", amount="half")
    assert (half.name, half.spec.amount, half.spec.steal) == (
        "threshold+amount-half",
        "half",
        ns.Strategy.shipped("threshold").spec.steal,
    )
    assert half.with_(thresholds={"max": 9}, name="x").spec.thresholds.max == 9  # type: ignore[union-attr]
    by_name = load_run({**RUN, "strategy": {"like": "threshold", "amount": "half"}})
    assert run_id(load_run({**RUN, "strategy": half}), 1) == run_id(by_name, 1)
    nested = load_run({**RUN, "strategy": {"like": ns.Strategy.shipped("threshold"), "amount": "half"}})
    assert run_id(nested, 1) == run_id(by_name, 1)


@pytest.mark.parametrize("name", catalog.names("strategies"))
def test_shipped_strategies_go_there_and_back(name: str, tmp_path: Path) -> None:
    strategy = ns.Strategy.shipped(name)
    again = ns.Strategy.read(strategy.save(tmp_path / "strategy.yaml"))
    assert again == strategy


def test_a_strategy_is_explained() -> None:
    page = ns.Strategy.shipped("steal-half")._repr_html_()
    assert "amount: half" in page
    assert "It looks for work level by level" in page


def test_what_a_worker_does_in_words() -> None:
    text = ns.Strategy.shipped("topology-aware").explain(ns.Machine.ring(2, cores=2), workers=4)
    assert "worker 0 of 4" in text
    assert "deque 2" in text  # the other worker of its node: workers 0 and 2 are on node 0
    with pytest.raises(InputError, match="there is no worker 9; expected a worker from 0 to 3"):
        ns.Strategy.shipped("ring").explain("opteron-8380-4s", 4, worker=9)


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match=r"strategy.steal\[0\].from"):
        ns.Strategy(steal=[{"from": "other"}])
    with pytest.raises(InputError, match=r"there is no strategy 'treshold'.*did you mean 'threshold'"):
        ns.Strategy(like="treshold", amount="half")
    with pytest.raises(InputError, match="got the machine 'ring-2'; expected the name of a strategy or a path"):
        ns.Strategy(like=ns.Machine.ring(2), amount="half")
