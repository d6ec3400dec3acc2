"""`numasim strategy show` describes in English every steal level, dispatch rule, condition and lock of a worker."""

from __future__ import annotations

from typing import get_args

import pytest
from strategy_setup import STRATEGIES, compiled, runtime, stealing, strategy

from numasim.errors import InputError
from numasim.parts.models.idle_model import IdleSpec
from numasim.parts.models.meanings import LOCK_BARRIER, LOCK_HOME, LOCK_PROBE, LOCK_WORDS
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.models.strategy_terms import LockName
from numasim.plan.show_strategy import describe_plan, listed, lock_lines, show
from numasim.schema.enumerations import LOCK_DESCRIPTIONS
from numasim.strategy.compile_strategy import effective_runtime

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


def test_rules_for_idle_workers_are_told_with_their_defaults() -> None:
    spec = strategy("randomized")
    searching = words(spec, preset="ompi")
    assert "polls again after" in searching
    assert "Workers without a task" not in searching
    idle = IdleSpec.model_validate({"phases": [{"rounds": 3, "yield_ns": 100}], "sleep": {}})
    resting = words(spec.model_copy(update={"idle": idle}), preset="ompi")
    assert "polls again after" not in resting
    assert "{rounds: 3, yield_ns: 100" in resting
    assert "sleep: {recheck: each" in resting
    assert "wake: {at: no-searcher, whom: newest, chain: 1, chain_by: last-searcher" in resting


def test_long_lists_are_short_and_an_unknown_worker_is_refused() -> None:
    how = runtime("bare")
    assert "deque 1, 2, ..., 19" in describe_plan(compiled(strategy("randomized"), [0] * 20, how), 0, how)
    assert listed([7, 8, 9, 10, 11, 0, 1, 5, 4]) == "7, 8, ..., 11, 0, 1, 5, 4"
    assert listed([0, 2, 4, 6, 8, 1, 3, 5, 7]) == "0, 2, ..., 8, 1, 3, 5, 7"
    assert listed([4]) == "4"
    with pytest.raises(InputError, match="there is no worker 4; expected a worker from 0 to 3"):
        words(strategy("randomized"), 4)


def words_on_locks(**keys: object) -> list[str]:
    return list(lock_lines(StrategySpec.model_validate({"steal": [{"from": "others"}], **keys})))


def test_the_affinity_aware_locks_of_the_thesis() -> None:
    lines = show("affinity-locks", "xeon-e5-2620-2s", 24, 3, "ompi").splitlines()[-7:]
    assert lines == [
        "While it searches by 1, it holds the lock of the node whose queue it probes.",
        "While it searches by 2, it holds the lock of the node whose queue it probes.",
        "Locks are cohort locks that stay on a node for up to 64 grants in a row.",
        f"locks.home is owner: {LOCK_HOME['owner']}",
        f"locks.words is cached: {LOCK_WORDS['cached']}",
        f"locks.probe is look-first: {LOCK_PROBE['look-first']}",
        f"locks.barrier is per-domain: {LOCK_BARRIER['per-domain']}",
    ]


def test_locked_queues_and_words_in_memory() -> None:
    lines = words_on_locks(
        queues={"deque": {"per": "worker", "lock": "yes"}}, locks={"kind": "tas", "fairness": "fair", "words": "memory"}
    )
    assert lines[0].startswith("Every deque has a lock")
    assert lines[1:4] == [
        "Locks are test-and-set locks.",
        "locks.fairness is fair: The waiter that came first.",
        f"locks.home is master: {LOCK_HOME['master']}",
    ]


@pytest.mark.parametrize("kind", get_args(LockName))
def test_every_kind_of_lock_has_words(kind: str) -> None:
    assert LOCK_DESCRIPTIONS[kind].split(" {")[0] in words_on_locks(locks={"kind": kind})[0]
