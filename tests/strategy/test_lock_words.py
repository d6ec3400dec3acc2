"""What `numasim strategy show` says about locks."""

from __future__ import annotations

from typing import get_args

import pytest

from numasim.parts.models.meanings import LOCK_BARRIER, LOCK_HOME, LOCK_PROBE, LOCK_WORDS
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.models.strategy_terms import LockName
from numasim.plan.show_strategy import show
from numasim.schema.enumerations import LOCK_DESCRIPTIONS
from numasim.strategy.plan_description import lock_lines


def words(**keys: object) -> list[str]:
    return lock_lines(StrategySpec.model_validate({"steal": [{"from": "others"}], **keys}))


def test_the_affinity_aware_locks_of_the_thesis() -> None:
    lines = show("affinity-locks", "xeon-e5-2620-2s", 24, 3, "ompi").splitlines()[-7:]
    assert lines == [
        "While it searches by 1, it holds the lock of the node whose queue it probes.",
        "While it searches by 2, it holds the lock of the node whose queue it probes.",
        "Locks are cohort locks that stay on a node for up to 64 grants in a row.",
        f"locks.home is owner: {LOCK_HOME.meanings['owner']}",
        f"locks.words is cached: {LOCK_WORDS.meanings['cached']}",
        f"locks.probe is look-first: {LOCK_PROBE.meanings['look-first']}",
        f"locks.barrier is per-domain: {LOCK_BARRIER.meanings['per-domain']}",
    ]


def test_locked_queues_and_words_in_memory() -> None:
    lines = words(
        queues={"deque": {"per": "worker", "lock": "yes"}},
        locks={"kind": "tas", "fairness": "fair", "words": "memory"},
    )
    assert lines[0].startswith("Every deque has a lock")
    assert lines[1:4] == [
        "Locks are test-and-set locks.",
        "locks.fairness is fair: The waiter that came first.",
        f"locks.home is master: {LOCK_HOME.meanings['master']}",
    ]


@pytest.mark.parametrize("kind", get_args(LockName))
def test_every_kind_of_lock_has_words(kind: str) -> None:
    assert LOCK_DESCRIPTIONS[kind].split(" {")[0] in words(locks={"kind": kind})[0]
