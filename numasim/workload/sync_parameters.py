"""Words that tasks share to wait for each other: locks, atomic counters, conditions, barriers (model 3.1 and 5).

A program says which words there are and for which worker each is kept; where a word lives in memory, and of which kind
its locks and barriers are, is the strategy's (thesis section 6.3).

A condition stands for a condition variable together with what its waiters wait for: SIGNAL lets one waiter pass,
BROADCAST as many as are declared, and one that comes later finds that it need not wait. No signal is ever lost.
"""

from __future__ import annotations

from dataclasses import dataclass

from numasim.schema.enumerations import Role

__all__ = [
    "MAX_PARTIES",
    "Role",
    "SharedWord",
]

MAX_PARTIES = 2**20


@dataclass(frozen=True)
class SharedWord:
    """A word on a cache line of its own.

    ``owner`` is the worker for which it is kept, counted modulo the workers of the run. ``parties`` is how many arrive
    at a barrier before it opens, or how many a broadcast of a condition lets pass.
    """

    name: str
    role: Role
    owner: int = 0
    parties: int = 1
