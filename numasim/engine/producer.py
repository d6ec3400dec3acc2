"""A producer: a pseudo-worker that creates the items of an implicit range and puts them into the workers' queues.

The MATMUL program of the thesis (section 3.3) places its task objects round robin over all worker queues. A queue that
is full is passed over; when all are full the producer waits for the next pop (model 4.1).
"""

from __future__ import annotations

from dataclasses import dataclass

from numasim.engine.worker import ActorEvent


@dataclass(slots=True, eq=False)
class Producer:
    """The items still to come, and how the producer spent its time; times in picoseconds."""

    id: int  # P, the first id that is no worker's
    node: int
    event: ActorEvent
    priority: int
    items: range
    due: int = 0
    waiting: bool = False
    waiting_since: int = 0
    done_at: int = 0
    overhead_ps: int = 0
    parked_ps: int = 0
