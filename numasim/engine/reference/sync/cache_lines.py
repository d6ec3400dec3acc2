"""Cache lines of sync objects: who had them last, and how long it takes to get them (model 5.1; thesis Table 6.2).

A line comes from the core of its owner, the actor that had it last, or from the memory of its home where nobody has it
yet. Where lines are read from memory every time, as in eq. 6.2 and 6.3 of the thesis, it always comes from there.

Whoever sleeps on an object is woken over the distance between its node and that of the object, whoever wakes it: a
waiter reads the line until it gets it, as in eq. 6.2 where the line lives on its node, as in eq. 6.3 where it does not
(thesis sections 6.2 and 6.3.1). The two are `wake_ns` and `wake_remote_ns`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from numasim.machine.routing import line_transfer_ps
from numasim.plan.plan import Plan

# ---- What synchronisation objects count, and the state of a condition (model 5 and 6) -------------------------------


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


NOBODY = -1


# ---- The cache lines of synchronisation objects ---------------------------------------------------------------------


@dataclass(slots=True)
class Line:
    """One line: its home, its owner, and how often it went to another actor of the same node or of another node."""

    home: int
    owner: int = NOBODY
    local: int = 0
    remote: int = 0


class LineTimes:
    """Transfers between actors: the workers and, beside worker 0, a producer."""

    def __init__(self, plan: Plan) -> None:
        workers = plan.workers.workers
        place = [*range(workers), 0]
        self.node: list[int] = plan.workers.node[place].tolist()  # [actors]
        self._cached = plan.words.cached
        self._between_ps = line_transfer_ps(plan.machine, plan.workers)[place][:, place].tolist()
        self._memory_ps = plan.machine.latency_ps.tolist()
        self._wake_ps = (plan.costs.wake_ps, plan.costs.wake_remote_ps)

    def transfer_ps(self, home: int, source: int, target: int) -> int:
        """Time until a line that ``source`` has, or nobody, is with ``target``."""
        if source == NOBODY or not self._cached:
            time_ps: int = self._memory_ps[self.node[target]][home]
        else:
            time_ps = self._between_ps[source][target]
        return time_ps

    def to_ps(self, line: Line, actor: int) -> int:
        """Time until ``actor`` has the line."""
        return self.transfer_ps(line.home, line.owner, actor)

    def wake_ps(self, line: Line, sleeper: int) -> int:
        """Time from being woken until ``sleeper`` runs, which sleeps on the object of that line."""
        return self._wake_ps[self.node[sleeper] != line.home]

    def move(self, line: Line, actor: int) -> int:
        """Give the line to ``actor``; the time that it takes."""
        time_ps = self.to_ps(line, actor)
        if line.owner not in (NOBODY, actor):
            if self.node[line.owner] == self.node[actor]:
                line.local += 1
            else:
                line.remote += 1
        line.owner = actor
        return time_ps
