"""The locks of a strategy in plain English, below its levels and rules."""

from __future__ import annotations

from collections.abc import Iterator

from numasim.parts.models.locks_model import LockSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.schema.enumerations import LOCK_DESCRIPTIONS

FAIRNESS_TEXT = {"near": "the nearest waiter wins", "fair": "the first waiter wins"}
HOME_TEXT = {"owner": "the node of the worker that owns it", "master": "the node of worker 0"}
PROBE_TEXT = {
    "look-first": "it looks first, then tries the lock where it has seen a task, and fails where the lock is taken",
    "lock-first": "it waits for the lock, and then looks",
}
BARRIER_TEXT = {
    "central": "a central counter",
    "flag": "a flag a worker, scanned by the master",
    "tree": "a binary tree",
    "per-domain": "a counter for each node, and one for their last arrivals",
}


def lock_lines(spec: StrategySpec) -> list[str]:
    """The locks that a search takes, and the kinds of locks and barriers, a line each."""
    return [*_search_lines(spec), *_kind_lines(spec.locks)]


def _search_lines(spec: StrategySpec) -> Iterator[str]:
    for number, level in enumerate(spec.steal, start=1):
        if level.lock is not None:
            yield f"While it searches by {number}, it holds the lock of the {level.lock} whose queue it probes."
    for name, queue in spec.queues.items():
        if queue.lock:
            yield (
                f"Every {name} has a lock, which is taken to put a task into another worker's and by a probe: "
                f"{PROBE_TEXT[spec.locks.probe]}."
            )
    if spec.locks.probe != "look-first" and not any(queue.lock for queue in spec.queues.values()):
        yield f"A probe of a queue with a lock {PROBE_TEXT[spec.locks.probe]}, but no queue has one."


def _kind_lines(locks: LockSpec) -> Iterator[str]:
    kind = LOCK_DESCRIPTIONS[locks.kind].format(spin_ns=locks.spin_ns, batch=locks.batch)
    race = f", {FAIRNESS_TEXT[locks.fairness]}" if locks.kind in ("tas", "ttas") else ""
    from_memory = "" if locks.words == "cached" else ", and it is read from memory every time"
    yield f"Locks are {kind}{race}; the home of each synchronisation object is {HOME_TEXT[locks.home]}{from_memory}."
    yield f"Barriers are {BARRIER_TEXT[locks.barrier]}."
