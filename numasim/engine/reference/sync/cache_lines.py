"""Cache lines of sync objects: their owners, and the time to transfer a line (model 5.1; Vikranth's thesis, Table 6.2).

An actor is a worker or a producer (a thread that makes tasks beside the workers). A line comes from the core of its
owner, the actor that had the line last. Before any actor has had the line, it comes from the memory of its home node.
If lines are read from memory every time, as in eq. 6.2 and 6.3 of the thesis, a line always comes from its home.

Waking an actor that sleeps on an object takes a time that depends on the distance between the sleeper's node and the
object's node, whoever wakes the sleeper: `wake_ns` if the object's line lives on the sleeper's node (as in eq. 6.2),
`wake_remote_ns` if not (as in eq. 6.3; thesis sections 6.2 and 6.3.1).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from numasim.machine.routing import line_transfer_ps
from numasim.plan.plan import Plan

# ---- The counters of synchronisation objects, and the state of a condition (model 5 and 6) ---------------------------


class SyncCounts(NamedTuple):
    """The counters of one object: the columns of the table of synchronisation objects."""

    acquisitions: int = 0  # of a lock
    handoffs_local: int = 0  # transfers of lines between actors of one node
    handoffs_remote: int = 0  # transfers of lines between actors of different nodes
    wait_ps: int = 0  # sum of the actors' waits for a lock
    hold_ps: int = 0  # time for which a lock was held

    @classmethod
    def of(cls, lines: Iterable[Line], acquisitions: int = 0, wait_ps: int = 0, hold_ps: int = 0) -> SyncCounts:
        """Return the counts of an object that is made of ``lines``."""
        lines = [*lines]
        local, remote = sum(line.local for line in lines), sum(line.remote for line in lines)
        return cls(acquisitions, local, remote, wait_ps, hold_ps)


@dataclass(slots=True)
class Condition:
    """A condition: the workers that sleep at it, and ``permits``: how many later workers need not wait."""

    line: Line
    permits: int = 0
    sleepers: deque[int] = field(default_factory=deque)


NOBODY = -1


def bits_of(members: int) -> Iterator[int]:
    """Yield the numbers of the bits that are set, ascending."""
    while members:
        low = members & -members
        yield low.bit_length() - 1
        members ^= low


# ---- The cache lines of synchronisation objects ---------------------------------------------------------------------


@dataclass(slots=True)
class Line:
    """A cache line: its home node, its owner, and its transfers to an actor on the owner's node and on another node."""

    home: int
    owner: int = NOBODY
    local: int = 0
    remote: int = 0


@dataclass(slots=True)
class ServedLine(Line):
    """A line that serves one request after the other, from ``free_ps`` on (model 5.6); ``copies`` is the set of actors
    with a valid copy as bits, the owner included.
    """

    copies: int = 0
    free_ps: int = 0


class LineTimes:
    """Times of transfers between actors: the workers, and, with the next number, a producer on worker 0's core."""

    def __init__(self, plan: Plan) -> None:
        workers = plan.workers.workers
        place = [*range(workers), 0]
        self.node: list[int] = plan.workers.node[place].tolist()  # [actors]
        self._cached = plan.words.cached
        self._between_ps = line_transfer_ps(plan.machine, plan.workers)[place][:, place].tolist()
        self._memory_ps = plan.machine.latency_ps.tolist()
        self._wake_ps = (plan.costs.wake_ps, plan.costs.wake_remote_ps)

    def transfer_ps(self, home: int, source: int, target: int) -> int:
        """Return the time in ps until a line that ``source`` (an actor or NOBODY) has is with ``target``."""
        if source == NOBODY or not self._cached:
            time_ps: int = self._memory_ps[self.node[target]][home]
        else:
            time_ps = self._between_ps[source][target]
        return time_ps

    def between_ps(self, source: int, target: int) -> int:
        """Return the time in ps of a transfer from the core of ``source`` to the core of ``target``."""
        time_ps: int = self._between_ps[source][target]
        return time_ps

    def to_ps(self, line: Line, actor: int) -> int:
        """Return the time in ps until ``actor`` has the line."""
        return self.transfer_ps(line.home, line.owner, actor)

    def wake_ps(self, line: Line, sleeper: int) -> int:
        """Return the time in ps from waking ``sleeper``, which sleeps on the line's object, until ``sleeper`` runs."""
        return self._wake_ps[self.node[sleeper] != line.home]

    def serve(self, line: ServedLine, actor: int, writes: bool, now_ps: int, owed_ps: int) -> int:
        """Let ``actor`` read or write the line; return the time in ps that the access adds to the overhead ``owed_ps``,
        which passes while the actor waits for its turn.

        A read with a valid copy is free, and so is a write with the only copy. Any other access waits until the
        accesses before it have been served, and then takes the transfer from the owner; a write takes the longest of
        the transfers from the owner and the other copies, which become invalid.
        """
        bit = 1 << actor
        if line.copies & bit and (not writes or line.copies == bit):
            return 0
        transfer_ps = self.to_ps(line, actor) if line.owner != actor else 0
        if writes:
            for other in bits_of(line.copies & ~bit):
                transfer_ps = max(transfer_ps, self._between_ps[other][actor])
            self.move(line, actor)
            line.copies = bit
        else:
            line.copies |= bit
        wait_ps = max(0, line.free_ps - now_ps)
        line.free_ps = now_ps + wait_ps + transfer_ps
        return max(0, wait_ps - owed_ps) + transfer_ps

    def move(self, line: Line, actor: int) -> int:
        """Give the line to ``actor``; return the time of the transfer."""
        time_ps = self.to_ps(line, actor)
        if line.owner not in (NOBODY, actor):
            if self.node[line.owner] == self.node[actor]:
                line.local += 1
            else:
                line.remote += 1
        line.owner = actor
        return time_ps
