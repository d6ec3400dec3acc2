"""The locks of a strategy in plain English, below its levels and rules."""

from __future__ import annotations

from collections.abc import Iterator

from numasim.parts.models.locks_model import LockSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.schema.enumerations import LOCK_DESCRIPTIONS

FAIRNESS_WORDS = {"near": "the nearest waiter wins", "fair": "the first waiter wins"}
HOME_WORDS = {"owner": "on the node of the worker that it is kept for", "master": "on the node of worker 0"}
BARRIER_WORDS = {
    "central": "a central counter",
    "flag": "a flag a worker, scanned by the master",
    "tree": "a binary tree",
    "per-domain": "a counter for each node, and one for their last arrivals",
}


def lock_words(spec: StrategySpec) -> list[str]:
    """Which locks a search takes, and of which kind all locks and barriers are, a line each."""
    return [*_search_words(spec), *_kind_words(spec.locks)]


def _search_words(spec: StrategySpec) -> Iterator[str]:
    for number, level in enumerate(spec.steal, start=1):
        if level.lock is not None:
            yield f"While it searches by {number}, it holds the lock of the {level.lock} whose queue it looks into."
    for name, queue in spec.queues.items():
        if queue.lock:
            yield f"Every {name} has a lock: who looks into it, or puts a task into that of another, passes it."


def _kind_words(locks: LockSpec) -> Iterator[str]:
    kind = LOCK_DESCRIPTIONS[locks.kind].format(spin_ns=locks.spin_ns, batch=locks.batch)
    race = f", {FAIRNESS_WORDS[locks.fairness]}" if locks.kind in ("tas", "ttas") else ""
    from_memory = "" if locks.words == "cached" else ", and is read from memory every time"
    yield f"Locks are {kind}{race}; each word is {HOME_WORDS[locks.home]}{from_memory}."
    yield f"Barriers are {BARRIER_WORDS[locks.barrier]}."
