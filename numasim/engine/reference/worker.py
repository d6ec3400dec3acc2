"""The state of one worker of the reference engine."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simpy import Environment, Event

from numasim.engine.observe.trace_hash import Rank
from numasim.engine.reference.shortcuts.stretch import Stretch

if TYPE_CHECKING:
    from numasim.engine.reference.memory.flows import Flow


class ActorEvent(Event):
    """The one pending event of an actor: scheduled anew each time, never allocated anew."""

    def __init__(self, env: Environment, actor: Any = None) -> None:
        super().__init__(env)
        self.actor = actor
        self._ok = True
        self._value = None


def priority(rank: Rank, actor: int) -> int:
    """The SimPy priority that orders the events of one instant by (rank, actor); 0 and 1 are SimPy's own."""
    return 2 + (rank << 32 | actor)


@dataclass(slots=True, eq=False)
class Worker:
    """What a worker has in hand, where it stands in its search, and what it has counted.

    ``stack`` holds the task it executes on top of tasks that wait in nested joins; ``outbox`` the ready tasks that it
    has yet to put into queues; ``agenda`` the implicit bodies it was given. The last group are its counters; times are
    in picoseconds.
    """

    id: int
    node: int
    domain: int  # last-level cache
    own: int | None  # its own queue
    boundless_own: int | None  # the same where every new task goes there and it is never full
    event: ActorEvent
    priority: tuple[int, ...]
    probe_ps: list[int]  # [queues]
    take_ps: list[int]  # [queues]
    line_ps: list[int]  # [workers] transfer of a cache line from each worker's core
    total_ps: list[int]  # [segments]
    local_ps: list[int]  # [segments]
    ran: list[int]  # segments executed on this node since the ledger was folded

    stack: list[int] = field(default_factory=list)
    outbox: deque[int] = field(default_factory=deque)
    agenda: deque[int] = field(default_factory=deque)
    due: int = 0  # time of the pending event
    rank: int = int(Rank.POLL)  # its kind
    owed_ps: int = 0  # overhead to be paid with the next timed step
    step_ps: int = 0  # the idle part of the pending step
    segment: int = 0
    idle: bool = False
    waiting: bool = False  # for a child, a lock, a barrier, a condition: it has no event, and does not search
    held: list[int] = field(default_factory=list)  # the locks that its search holds
    probes: Iterator[tuple[int, int]] = field(default_factory=lambda: iter(()))
    probed: bool = False
    round_goes_on: bool = False  # the next poll goes on with the round
    level: int = 0
    target: int = 0
    fails: int = 0  # fruitless rounds (or probes) in a row
    failed: int = 0  # failed attempts of the open idle episode
    failed_remote: int = 0
    thresholds_known: bool = False
    stretch: Stretch | None = None  # the range items that the pending event ends
    flow: Flow | None = None  # the last stretch of work, where its time is found out while it runs
    works: bool = False  # whether it has not ended
    rests: bool = False  # asleep in a join or for a condition, or without a part in the phase
    spins: bool = False  # waits for a lock, an atomic word or at a barrier
    began: int = 0  # when it began to execute, to be idle or to sleep, what it owed before that paid
    told: int = 0  # up to when a watch has heard of it
    probing_before_ps: int = 0  # ``idle_steal_ps`` when it became idle

    tasks: int = 0
    steal_attempts: int = 0
    steal_success: int = 0
    steal_attempts_remote: int = 0
    steal_success_remote: int = 0
    tasks_stolen: int = 0
    no_victim: int = 0
    work_local_ps: int = 0
    inflation_numa_ps: int = 0
    inflation_contention_ps: int = 0
    inflation_smt_ps: int = 0
    overhead_ps: int = 0
    idle_steal_ps: int = 0
    idle_backoff_ps: int = 0
    idle_barrier_ps: int = 0
    parked_ps: int = 0

    @property
    def busy_ps(self) -> int:
        """The time of the work that it has done."""
        inflation = self.inflation_numa_ps + self.inflation_contention_ps + self.inflation_smt_ps
        return self.work_local_ps + inflation

    def __post_init__(self) -> None:
        """The event knows whose it is."""
        self.event.actor = self
