"""The actors of a run: workers, the producers beside the workers, and the one pending event of each actor (model 1.2).

Actors are plain state. The fields of an actor are grouped by the component that writes them; fields that follow from
the plan alone stand first. All times are in picoseconds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from simpy import Environment, Event

from numasim.engine.observe.trace_hash import Rank
from numasim.engine.reference.tables import Tables
from numasim.plan.plan import Plan


class ActorEvent(Event):
    """The one pending event of an actor: the actor's events are all this one object."""

    def __init__(self, env: Environment, actor: Any = None) -> None:
        super().__init__(env)
        self.actor = actor
        self._ok = True
        self._value = None


def priority(rank: Rank, actor: int) -> int:
    """Return the SimPy priority that orders the events of one instant by (rank, actor); 0 and 1 are SimPy's own."""
    return 2 + (rank << 32 | actor)


class Sleep(IntEnum):
    """The progress of a worker without a task on the way to sleep, or from sleep to the next search."""

    AWAKE = 0
    ANNOUNCED = 1  # the worker looks again, and may be chosen as a sleeper
    CALLED = 2  # the worker was chosen in the meantime, and will not sleep
    ASLEEP = 3
    WAKING = 4  # the worker was woken, and does not run yet


@dataclass(slots=True, eq=False)
class Worker:
    """A worker: the task in hand, the state of the worker's search, and the worker's counters."""

    id: int
    node: int
    domain: int  # last-level cache
    own: int | None  # the worker's own queue
    slot: int | None  # the worker's slot, in front of its own queue
    boundless_own: int | None  # the own queue, if every new task goes there and the queue is never full
    priority: tuple[int, ...]  # [ranks] the SimPy priority of the worker's events
    probe_ps: list[int]  # [queues]
    take_ps: list[int]  # [queues]
    line_ps: list[int]  # [workers] transfer of a cache line from each worker's core

    # the clock
    event: ActorEvent
    due: int = 0  # time of the pending event, or of the event of another actor for which this worker waits
    rank: int = int(Rank.POLL)  # the rank of the pending event

    # fields of all components that charge time, or that schedule the step that pays for the time
    owed_ps: int = 0  # overhead to be paid with the next timed step
    owed_owner_ps: int = 0  # the part of ``owed_ps`` for waits for cache lines at pushes, pops and joins
    owed_thief_ps: int = 0  # the part of ``owed_ps`` for waits for cache lines at probes and takes
    paid_owner_ps: int = 0  # the part of ``owed_owner_ps`` that the pending step pays
    paid_thief_ps: int = 0  # the part of ``owed_thief_ps`` that the pending step pays
    step_ps: int = 0  # the part of the pending step in which the worker is idle
    began: int = 0  # when the worker, its overhead paid, began to execute, to be idle or to sleep

    # the executor
    stack: list[int] = field(default_factory=list)  # the task in hand, on top of the tasks that wait in nested joins
    outbox: deque[int] = field(default_factory=deque)  # ready tasks that the worker has yet to put into queues
    # (height, ready task): the task is offered once the worker's stack is lower than the height, the last task first
    backlog: list[tuple[int, int]] = field(default_factory=list)
    agenda: deque[int] = field(default_factory=deque)  # tasks that the worker begins before tasks of its queue
    first_rule: int = 0  # the first dispatch rule for the next task of the outbox, which has left a slot
    slot_run: int = 0  # tasks in a row that the worker has taken from its slot
    segment: int = 0
    reserved: int = -1  # the unit, taken in advance, for which the worker's helper prefetches; -1: none

    # the thief
    idle: bool = False
    held: list[int] = field(default_factory=list)  # the locks that the worker's search holds
    probes: Iterator[tuple[int, int]] = field(default_factory=lambda: iter(()))  # still to send: (level, queue)
    probed: bool = False  # whether the present round has sent any probe
    round_goes_on: bool = False  # the next poll goes on with the round
    looked: int = 0  # the worker's ``tasks`` when it last looked for a task or passed a wait
    polled: int = 0  # the worker's ``tasks`` at the last poll of a level between tasks
    polling: bool = False  # such a poll is under way
    level: int = 0  # the level of the probe that is under way
    target: int = 0  # the queue of the probe that is under way
    wrote: bool = False  # whether the probe wrote the queue's line: when it was sent, the queue held a task
    fails: int = 0  # fruitless rounds (or probes) in a row
    lap_begin: int = 0  # victims drawn until the worker's first round had failed (backoff.py)
    failed: int = 0  # failed attempts of the open idle episode
    failed_remote: int = 0
    thresholds_known: bool = False
    probing_before_ps: int = 0  # ``idle_steal_ps`` when the worker became idle

    # the rules for idle workers
    sleep: Sleep = Sleep.AWAKE
    phase: int = 0  # number of the present phase of fruitless rounds (idle.Phase)
    phase_rounds: int = 0  # fruitless rounds of the phase so far
    phase_began: int = 0
    pushes_seen: int = -1  # tasks put into queues until the worker announced its sleep; -1: not announced
    timeouts: int = 0  # sleeps in a row that ended by themselves
    slept_since: int = 0
    wake_ps: int = 0  # when the worker goes on, if woken before the sleep began
    naps: bool = False  # the pending wait is a nap
    woken: bool = False  # the worker has been woken, and has found no task after that

    # the activity that other workers of the core and the socket notice
    waiting: bool = False  # waits for a child, a lock, a barrier or a condition: has no event, and does not search
    works: bool = False  # the worker has a flow (running segment or item) that has not ended
    rests: bool = False  # asleep, or without a part in the phase
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
    wakeups: int = 0
    wakeups_useless: int = 0
    work_local_ps: int = 0
    inflation_numa_ps: int = 0
    inflation_contention_ps: int = 0
    inflation_smt_ps: int = 0
    overhead_ps: int = 0
    line_owner_ps: int = 0
    line_thief_ps: int = 0
    idle_steal_ps: int = 0
    idle_backoff_ps: int = 0
    idle_barrier_ps: int = 0
    parked_ps: int = 0
    asleep_ps: int = 0
    wasted_ps: int = 0

    def pay(self) -> int:
        """Pay the overhead that is owed; return the time of the overhead."""
        owed, self.owed_ps = self.owed_ps, 0
        self.paid_owner_ps, self.owed_owner_ps = self.owed_owner_ps, 0
        self.paid_thief_ps, self.owed_thief_ps = self.owed_thief_ps, 0
        self.overhead_ps += owed - self.paid_owner_ps - self.paid_thief_ps
        self.line_owner_ps += self.paid_owner_ps
        self.line_thief_ps += self.paid_thief_ps
        return owed

    @property
    def busy_ps(self) -> int:
        """Return the time of the work that the worker has done."""
        inflation = self.inflation_numa_ps + self.inflation_contention_ps + self.inflation_smt_ps
        return self.work_local_ps + inflation

    def __post_init__(self) -> None:
        """Set the actor of the event."""
        self.event.actor = self


@dataclass(slots=True, eq=False)
class Producer:
    """A pseudo-worker that makes the items of an implicit range (model 3.5), and the producer's times."""

    id: int  # the number of workers, the first id that no worker has
    node: int
    event: ActorEvent
    items: range  # still to come
    due: int = 0
    owed_ps: int = 0  # overhead of waking sleepers and of cache lines, to be paid before the next item
    making_ps: int = 0  # the time that the item at hand takes
    waiting: bool = False  # waits for room in a queue
    looked: bool = False  # has still to pay for looking up the homes of the last item's objects
    try_below: int = 2**62  # skipping the steady state is tried only if fewer items are left
    waiting_since: int = 0
    overhead_ps: int = 0
    parked_ps: int = 0

    def __post_init__(self) -> None:
        """Set the actor of the event."""
        self.event.actor = self


def make_worker(plan: Plan, tables: Tables, ident: int, event: ActorEvent) -> Worker:
    """Make worker ``ident`` of ``plan``, with nothing in hand."""
    return Worker(
        id=ident,
        node=int(plan.workers.node[ident]),
        domain=int(plan.workers.llc[ident]),
        own=tables.own[ident],
        slot=tables.slot.get(ident),
        boundless_own=tables.own[ident] if tables.own_never_full else None,
        priority=tuple(priority(rank, ident) for rank in Rank),
        probe_ps=tables.probe_ps(ident),
        take_ps=tables.take_ps(ident),
        line_ps=tables.line_ps(ident),
        event=event,
    )
