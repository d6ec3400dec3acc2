"""What `numasim strategy show` says about locks."""

from __future__ import annotations

from typing import get_args

import pytest

from numasim.parts.models.locks_model import BarrierName, LockName
from numasim.parts.models.strategy_model import StrategySpec
from numasim.plan.show_strategy import show
from numasim.schema.enumerations import LOCK_DESCRIPTIONS
from numasim.strategy.describe.plan_description import BARRIER_TEXT, lock_lines


def words(**keys: object) -> list[str]:
    return lock_lines(StrategySpec.model_validate({"steal": [{"from": "others"}], **keys}))


def test_the_affinity_aware_locks_of_the_thesis() -> None:
    lines = show("affinity-locks", "xeon-e5-2620-2s", 24, 3, "ompi").splitlines()[-4:]
    assert lines == [
        "While it searches by 1, it holds the lock of the node whose queue it probes.",
        "While it searches by 2, it holds the lock of the node whose queue it probes.",
        "Locks are cohort locks that stay on a node for up to 64 grants in a row; "
        "the home of each synchronisation object is the node of the worker that owns it.",
        "Barriers are a counter for each node, and one for their last arrivals.",
    ]


def test_locked_queues_and_words_in_memory() -> None:
    lines = words(
        queues={"deque": {"per": "worker", "lock": "yes"}},
        locks={"kind": "tas", "fairness": "fair", "words": "memory"},
    )
    assert lines[0].startswith("Every deque has a lock")
    assert lines[1] == (
        "Locks are test-and-set locks, the first waiter wins; "
        "the home of each synchronisation object is the node of worker 0, and it is read from memory every time."
    )


@pytest.mark.parametrize("kind", get_args(LockName))
def test_every_kind_of_lock_has_words(kind: str) -> None:
    assert LOCK_DESCRIPTIONS[kind].split(" {")[0] in words(locks={"kind": kind})[-2]


def test_every_barrier_has_words() -> None:
    assert set(BARRIER_TEXT) == set(get_args(BarrierName))
