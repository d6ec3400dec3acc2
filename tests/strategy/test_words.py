"""The description of a plan mentions every level, rule and condition that applies to the worker."""

from __future__ import annotations

import pytest
from strategy_setup import STRATEGIES, compiled, runtime, stealing, strategy

from numasim.errors import InputError
from numasim.parts.models.strategy_model import StrategySpec
from numasim.strategy.compile_strategy import effective_runtime
from numasim.strategy.describe.plan_description import describe_plan
from numasim.strategy.describe.sentences import listed

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


def test_topology_aware_in_words() -> None:
    text = words(strategy("topology-aware"), 1, "own")
    assert "1. attempt deque 3; take one task" in text
    assert (
        "2. attempt one queue, drawn at random, of those with at least S tasks; take one task\n       - deque 0, 2"
        in text
    )
    assert "S = capacity - ceil(rate of arrival * push time)" in text
    assert "After a failed round it waits the mean time of a task, times 2 each time" in text


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


@pytest.mark.parametrize(
    ("announce", "clause"),
    [
        ("owner", "announced at S tasks or more, and not withdrawn at s or fewer; take"),
        ("owner-exact", "announced at exactly S tasks, and not withdrawn at exactly s; take"),
    ],
)
def test_who_announces_in_words(announce: str, clause: str) -> None:
    text = words(strategy("threshold", thresholds={"announce": announce}))
    assert f"of those that their owners have {clause} one task" in text


def test_back_off_in_words() -> None:
    text = words(strategy("randomized", backoff={"first_ns": 2.5, "factor": 3, "max_ns": 40, "empty": "count"}))
    assert "it waits 2.5 ns, times 3 each time, at most 40 ns; a round without a candidate counts as an attempt" in text
    assert "polls again after the runtime's polling interval" in words(strategy("randomized"))


def test_long_lists_are_short_where_the_first_two_tell_the_others() -> None:
    how = runtime("bare")
    assert "deque 1, 2, ..., 19" in describe_plan(compiled(strategy("randomized"), [0] * 20, how), 0, how)
    assert listed([7, 8, 9, 10, 11, 0, 1, 5, 4]) == "7, 8, ..., 11, 0, 1, 5, 4"
    assert listed([0, 2, 4, 6, 8, 1, 3, 5, 7]) == "0, 2, ..., 8, 1, 3, 5, 7"
    assert listed([4]) == "4"


def test_an_unknown_worker() -> None:
    with pytest.raises(InputError, match="there is no worker 4; expected a worker from 0 to 3"):
        words(strategy("randomized"), 4)


def test_locality_binding_in_words() -> None:
    on_nodes = ["       - node 0: deque 0, 2", "       - node 1: deque 1, 3"]
    rules = words(strategy("locality-binding"), 1, "ompi").split("these rules find:\n")[1].splitlines()
    assert rules[:8] == [
        "  1. one queue, the shortest first, on the node that most of its data is on; "
        "only if its data is not spread evenly over the nodes",
        *on_nodes,
        "  2. one queue, the shortest first, on the node whose queues hold the fewest tasks; only if it has data",
        *on_nodes,
        "  3. all queues, in this order, of those with fewer than s tasks",
        "       - deque 0, 1, 2, 3",
    ]


def test_what_a_rule_asks_of_a_task() -> None:
    rules = [
        {"to": "data", "rank": "cheapest", "count": "writes", "share": 0.5, "bytes": 65536},
        {"to": "data", "rank": "any", "weigh": "objects", "here": "yes"},
        {"to": "own", "count": "reads", "here": "yes", "uneven": "yes"},
        {"to": "any", "source": "yes"},
        {"to": "own"},
    ]
    text = words(stealing({"from": "others"}, dispatch=rules))
    for clause in (
        "on the node from which its data that it writes is cheapest to reach; only if it has at least 65,536 bytes of "
        "data that it writes, and that node holds at least 50 % of it",
        "on a node that some of its objects are on, then the shortest of these; only if that node is the worker's own",
        "deque 0; only if its data that it reads is not spread evenly over the nodes, and the node that most of its "
        "data that it reads is on is the worker's own",
        "; only if the task waits for no other",
    ):
        assert clause in text
