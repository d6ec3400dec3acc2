"""Who writes which objects of the memories of transactions, and how often each has been written (model 4.11).

Objects are numbered through all memories, in the order of the memories.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from numasim.draws import below
from numasim.plan.plan import Plan
from numasim.workload.sync_parameters import Role


@dataclass(slots=True)
class Object:
    """``writer`` has opened it to write it; ``version`` transactions that wrote it have ended, ``last`` that of the
    last worker. ``conflicts`` counts the attempts that aborted at it.
    """

    writer: int | None = None
    last: int | None = None
    version: int = 0
    conflicts: int = 0


class ObjectOwners:
    """The ``objects`` of all memories."""

    def __init__(self, plan: Plan) -> None:
        words = plan.words
        self._count = [
            parties if role == Role.OBJECTS else 0
            for role, parties in zip(words.role.tolist(), words.parties.tolist(), strict=True)
        ]
        self._first = [sum(self._count[:word]) for word in range(len(words))]
        self._weights = [weights.tolist() for weights in words.weights]
        self.objects = [Object() for _ in range(sum(self._count))]

    def drawn(self, memory: int, number: int) -> int:
        """The object of ``memory`` that a draw stands for."""
        sums = self._weights[memory]
        place = bisect_right(sums, below(number, sums[-1])) if sums else below(number, self._count[memory])
        return self._first[memory] + place

    def other_writer(self, number: int, worker: int) -> int | None:
        """Who else writes an object."""
        writer = self.objects[number].writer
        return None if writer == worker else writer

    def overwriter(self, number: int, worker: int, version: int) -> int | None:
        """Who else writes an object that ``worker`` has read in this version, or has written it since."""
        one = self.objects[number]
        return one.last if one.version != version else self.other_writer(number, worker)
