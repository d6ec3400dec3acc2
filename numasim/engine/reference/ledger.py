"""What a run counts per machine and per node pair, beside the counters of its workers, and its logs for the checks."""

from __future__ import annotations

from typing import NamedTuple


class Executed(NamedTuple):
    """One stretch of work, for the checks: from ``start_ps`` to ``end_ps``, overhead not included."""

    task: int
    segment: int
    worker: int
    start_ps: int
    end_ps: int


class Held(NamedTuple):
    """A lock, or another synchronisation object, was an actor's from ``start_ps`` to ``end_ps``.

    Object o of the memories of transactions is word -1 - o for a transaction that has read it, and o more than there
    are synchronisation objects for one that has written it, from when it was opened to the commit.
    """

    word: int
    actor: int
    start_ps: int
    end_ps: int


class Ledger:
    """Counts of one run; ``log`` and ``held`` are kept where the checks need them."""

    def __init__(self, nodes: int, families: int, keep_log: bool) -> None:
        self.node_attempts = [[0] * nodes for _ in range(nodes)]  # [node of the thief][node of the victim]
        self.node_success = [[0] * nodes for _ in range(nodes)]
        self.node_conflicts = [[0] * nodes for _ in range(nodes)]  # [node of who aborted][node of who had the object]
        self.passed_items = [0] * families  # items that were counted in closed form
        self.page_faults = 0
        self.pages_migrated = 0
        self.log: list[Executed] | None = [] if keep_log else None
        self.held: list[Held] | None = [] if keep_log else None
