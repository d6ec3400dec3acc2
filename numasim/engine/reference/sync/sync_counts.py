"""What synchronisation objects count, and the state of a condition (model 5 and 6)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from numasim.engine.reference.sync.cache_lines import Line


class SyncCounts(NamedTuple):
    """The counters of one object: the columns of the table of synchronisation objects."""

    acquisitions: int = 0
    handoffs_local: int = 0
    handoffs_remote: int = 0
    wait_ps: int = 0
    hold_ps: int = 0

    @classmethod
    def of(cls, lines: Iterable[Line], acquisitions: int = 0, wait_ps: int = 0, hold_ps: int = 0) -> SyncCounts:
        """The counts of an object that is made of ``lines``."""
        lines = [*lines]
        local, remote = sum(line.local for line in lines), sum(line.remote for line in lines)
        return cls(acquisitions, local, remote, wait_ps, hold_ps)


@dataclass(slots=True)
class Condition:
    """Who waits for a condition, and how many more need not wait."""

    line: Line
    permits: int = 0
    sleepers: deque[int] = field(default_factory=deque)
