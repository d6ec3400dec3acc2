"""The state of a producer: a pseudo-worker that makes the items of an implicit range (model 3.5)."""

from __future__ import annotations

from dataclasses import dataclass

from numasim.engine.reference.worker import ActorEvent


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
    looked: bool = False  # it asked where the data of the last item is, which it has still to pay for
    try_below: int = 2**62  # items left below which passing over the steady state is tried
    waiting_since: int = 0
    overhead_ps: int = 0
    parked_ps: int = 0
