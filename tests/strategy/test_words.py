"""The description of a plan mentions every level, rule and condition that applies to the worker."""

from __future__ import annotations

import pytest
from strategy_setup import STRATEGIES, compiled, runtime, stealing, strategy

from numasim.errors import InputError
from numasim.parts.models.strategy_model import StrategySpec
from numasim.strategy.compile_strategy import effective_runtime
from numasim.strategy.plan_description import describe_plan, listed

TWO_NODES = [0, 1, 0, 1]


def words(spec: StrategySpec, worker: int = 0, preset: str = "bare") -> str:
    how = runtime(preset)
    return describe_plan(compiled(spec, TWO_NODES, how), worker, effective_runtime(spec, how))


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("preset", ["bare", "own", "ompi"])
def test_every_level_and_rule_is_a_numbered_line(name: str, preset: str) -> None:
    spec, how = strategy(name), runtime(preset)
    plan = compiled(spec, TWO_NODES, how)
    text = describe_plan(plan, 3, effective_runtime(spec, how))
    before, after = text.split("A new task goes to")
    numbered = [[line for line in part.splitlines() if line[2:3].isdigit()] for part in (before, after)]
    assert [len(lines) for lines in numbered] == [plan.steal_levels, plan.levels - plan.steal_levels]
    assert text.startswith(f"Strategy {name}, worker 3 of 4.")
    assert ("It never steals." in text) == (not spec.steal)
    assert f"Join {spec.join or how.join}:" in text


def test_conditions_amounts_and_chances() -> None:
    text = words(
        stealing(
            {"from": "others", "if": "announced", "amount": "half", "leave": 2},
            {"from": "others", "if": {"below": 5}, "amount": {"count": 3}, "tries": 2, "iterations": [1, "last"]},
            {"from": "others", "if": {"length": 6}, "chance": 0.25, "amount": {"share": 3}},
            {"from": "others", "by": "node", "visit": "random", "pick": "longest", "sample": 2},
            {"from": "own-core"},
            refill=1,
        )
    )
    for clause in (
        "of those that have announced S tasks and not fallen to s since; take half of the tasks but leave 2",
        "up to 2 queues, drawn at random, of those with fewer than 5 tasks; take 3 tasks; only in iterations 1 to the",
        "with a chance of 25 %, and then instead of the remaining levels: attempt one queue",
        "of those with at least 6 tasks; take one 3-th of the tasks",
        "one queue, out of 2 drawn at random, the longest first, in one group drawn at random",
        "5. not for this worker",
        "while its queue holds no more than 1 tasks",
    ):
        assert clause in text


def test_long_lists_are_short_where_the_first_two_tell_the_others() -> None:
    how = runtime("bare")
    assert "deque 1, 2, ..., 19" in describe_plan(compiled(strategy("randomized"), [0] * 20, how), 0, how)
    assert listed([7, 8, 9, 10, 11, 0, 1, 5, 4]) == "7, 8, ..., 11, 0, 1, 5, 4"
    assert listed([0, 2, 4, 6, 8, 1, 3, 5, 7]) == "0, 2, ..., 8, 1, 3, 5, 7"
    assert listed([4]) == "4"


def test_an_unknown_worker() -> None:
    with pytest.raises(InputError, match="there is no worker 4; expected a worker from 0 to 3"):
        words(strategy("randomized"), 4)
