"""Who acts in a run: workers, the producers beside them, and the one pending event that each actor has (model 1.2).

Actors are plain state. Their fields are grouped by the component that writes them; what follows from the plan alone
stands first. All times are in picoseconds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from simpy import Environment, Event

from numasim.engine.observe.trace_hash import Rank
from numasim.engine.reference.tables import Tables
from numasim.plan.plan import Plan


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
    """What a worker has in hand, where it stands in its search, and what it has counted."""

    id: int
    node: int
    domain: int  # last-level cache
    own: int | None  # its own queue
    boundless_own: int | None  # the same where every new task goes there and it is never full
    priority: tuple[int, ...]  # by rank
    probe_ps: list[int]  # [queues]
    take_ps: list[int]  # [queues]
    line_ps: list[int]  # [workers] transfer of a cache line from each worker's core

    # the clock
    event: ActorEvent
    due: int = 0  # time of the pending event, or of another actor's event that this worker waits for
    rank: int = int(Rank.POLL)  # its kind

    # whoever charges time, and whoever schedules the step that pays for it
    owed_ps: int = 0  # overhead to be paid with the next timed step
    step_ps: int = 0  # the idle part of the pending step
    began: int = 0  # when it began to execute, to be idle or to sleep, what it owed before that paid

    # the executor
    stack: list[int] = field(default_factory=list)  # the task in hand on top of tasks that wait in nested joins
    outbox: deque[int] = field(default_factory=deque)  # ready tasks that it has yet to put into queues
    # (height, ready task): to be offered once its stack is lower than that, the last one first
    backlog: list[tuple[int, int]] = field(default_factory=list)
    agenda: deque[int] = field(default_factory=deque)  # what it begins before it looks into its queue
    segment: int = 0
    reserved: int = -1  # the unit that it holds in advance, which its helper runs through; -1: none

    # the thief
    idle: bool = False
    held: list[int] = field(default_factory=list)  # the locks that its search holds
    probes: Iterator[tuple[int, int]] = field(default_factory=lambda: iter(()))  # of the round, as (level, queue)
    probed: bool = False  # whether the round has sent any
    round_goes_on: bool = False  # the next poll goes on with the round
    level: int = 0  # of the probe on its way
    target: int = 0  # its queue
    fails: int = 0  # fruitless rounds (or probes) in a row
    lap_begin: int = 0  # how many victims it had drawn when the first of them had failed: backoff.py
    failed: int = 0  # failed attempts of the open idle episode
    failed_remote: int = 0
    thresholds_known: bool = False
    probing_before_ps: int = 0  # ``idle_steal_ps`` when it became idle

    # what it does, as far as others on its core and socket feel it
    waiting: bool = False  # for a child, a lock, a barrier, a condition: it has no event, and does not search
    works: bool = False  # has a flow that has not ended
    rests: bool = False  # asleep in a join or for a condition, or without a part in the phase
    spins: bool = False  # waits for a lock, an atomic word or at a barrier

    # counters: the columns of the table of workers
    tasks: int = 0
    steal_attempts: int = 0
    steal_success: int = 0
    steal_attempts_remote: int = 0
    steal_success_remote: int = 0
    tasks_stolen: int = 0
    no_victim: int = 0
    commits: int = 0
    aborts: int = 0
    work_local_ps: int = 0
    inflation_numa_ps: int = 0
    inflation_contention_ps: int = 0
    inflation_smt_ps: int = 0
    overhead_ps: int = 0
    idle_steal_ps: int = 0
    idle_backoff_ps: int = 0
    idle_barrier_ps: int = 0
    parked_ps: int = 0
    wasted_ps: int = 0

    @property
    def busy_ps(self) -> int:
        """The time of the work that it has done."""
        inflation = self.inflation_numa_ps + self.inflation_contention_ps + self.inflation_smt_ps
        return self.work_local_ps + inflation

    def __post_init__(self) -> None:
        """The event knows whose it is."""
        self.event.actor = self


@dataclass(slots=True, eq=False)
class Producer:
    """A pseudo-worker that makes the items of an implicit range (model 3.5), and how it spent its time."""

    id: int  # P, the first id that is no worker's
    node: int
    event: ActorEvent
    items: range  # still to come
    due: int = 0
    waiting: bool = False  # for room in a queue
    looked: bool = False  # it asked where the data of the last item is, which it has still to pay for
    try_below: int = 2**62  # items left below which passing over the steady state is tried
    waiting_since: int = 0
    overhead_ps: int = 0
    parked_ps: int = 0

    def __post_init__(self) -> None:
        """The event knows whose it is."""
        self.event.actor = self


def make_worker(plan: Plan, tables: Tables, ident: int, event: ActorEvent) -> Worker:
    """Worker ``ident`` of ``plan``, with nothing in hand."""
    return Worker(
        id=ident,
        node=int(plan.workers.node[ident]),
        domain=int(plan.workers.llc[ident]),
        own=tables.own[ident],
        boundless_own=tables.own[ident] if tables.own_never_full else None,
        priority=tuple(priority(rank, ident) for rank in Rank),
        probe_ps=tables.probe_ps(ident),
        take_ps=tables.take_ps(ident),
        line_ps=tables.line_ps(ident),
        event=event,
    )
