"""The actors of a run: workers, the producers beside the workers, and the one pending event of each actor (model 1.2).

Actors are plain state: other modules write the fields. All times are in picoseconds. A *step* is the time up to the
worker's pending event. *Overhead* is time of the runtime's own operations; it is *owed* until a step pays for it. A
*level* is an entry of the strategy's list of places to steal from; a *round* is one pass through the levels, probe by
probe. A worker is *idle* while it searches or waits between rounds; this time, until it gets a task or its join ends,
is an *idle episode*.
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
    """The one pending event of an actor; the same object serves for the actor's next event."""

    def __init__(self, env: Environment, actor: Any = None) -> None:
        super().__init__(env)
        self.actor = actor
        self._ok = True
        self._value = None


def priority(rank: Rank, actor: int) -> int:
    """Return the SimPy priority that orders the events of one instant by (rank, actor); 0 and 1 are SimPy's own."""
    return 2 + (rank << 32 | actor)


class Sleep(IntEnum):
    """How far a worker without a task is on its way into sleep, or out of sleep."""

    AWAKE = 0
    ANNOUNCED = 1  # about to sleep, perhaps after a last look at the queues; others may already choose to wake it
    CALLED = 2  # another worker has chosen it before it slept: it will not sleep
    ASLEEP = 3
    WAKING = 4  # woken, but it does not run yet


@dataclass(slots=True, eq=False)
class Worker:
    """A worker: the task in hand, the state of the worker's search, and the worker's counters."""

    id: int
    node: int
    domain: int  # number of the last-level cache that the worker uses
    own: int | None  # the worker's own queue
    slot: int | None  # the worker's slot: a small queue whose tasks the worker takes before those of its own queue
    boundless_own: int | None  # the own queue, if every new task goes there and the queue is never full
    priority: tuple[int, ...]  # [ranks] the SimPy priority of the worker's event of each rank
    probe_ps: list[int]  # [queues] time of this worker's probe of each queue
    take_ps: list[int]  # [queues] overhead of this worker's steal from each queue
    line_ps: list[int]  # [workers] transfer of a cache line from each worker's core to this worker's

    # the clock
    event: ActorEvent
    due: int = 0  # time of the pending event, or of the event of another actor for which this worker waits
    rank: int = int(Rank.POLL)  # the rank of the pending event

    # overhead, written by all components
    owed_ps: int = 0  # overhead to be paid with the next timed step
    owed_owner_ps: int = 0  # the part of ``owed_ps`` for waits for cache lines at pushes, pops and joins
    owed_thief_ps: int = 0  # the part of ``owed_ps`` for waits for cache lines at probes and takes
    paid_owner_ps: int = 0  # the part of ``owed_owner_ps`` that the pending step pays
    paid_thief_ps: int = 0  # the part of ``owed_thief_ps`` that the pending step pays
    step_ps: int = 0  # the part of the pending step that is a probe or a wait, not overhead
    began: int = 0  # when the worker began what it does now (execute, search, wait or sleep), after its overhead

    # the executor
    stack: list[int] = field(default_factory=list)  # the task in hand, on top of the tasks that wait in nested joins
    outbox: deque[int] = field(default_factory=deque)  # ready tasks that the worker puts into queues in its next steps
    # (height, task): tasks that found no queue with room; a task goes to the outbox once the stack is lower than its
    # height, the last entry first
    backlog: list[tuple[int, int]] = field(default_factory=list)
    agenda: deque[int] = field(default_factory=deque)  # tasks that the worker begins before tasks of its queue
    first_rule: int = 0  # number of the first dispatch rule that is asked for the next task; above 0 if it left a slot
    slot_run: int = 0  # tasks in a row that the worker has taken from its slot
    segment: int = 0  # the segment (work between two other operations of a task) in hand, or the last one
    reserved: int = -1  # the task taken in advance, for which the worker's helper thread prefetches; -1: none

    # the thief
    idle: bool = False
    held: list[int] = field(default_factory=list)  # the locks that the worker's search holds
    probes: Iterator[tuple[int, int]] = field(default_factory=lambda: iter(()))  # (level, queue) left in this round
    probed: bool = False  # whether the present round has sent any probe
    round_goes_on: bool = False  # the back-off under way interrupts a round: the round continues after the back-off
    looked: int = 0  # the worker's ``tasks`` when it last looked for a task or passed a wait
    polled: int = 0  # the worker's ``tasks`` when it last probed levels that are probed every so many tasks
    polling: bool = False  # such probes between two tasks are under way
    level: int = 0  # the level of the probe that is under way
    target: int = 0  # the queue of the probe that is under way
    wrote: bool = False  # whether the probe wrote the queue's cache line when it was sent, to take a task
    fails: int = 0  # fruitless rounds (or, with a back-off after each probe, probes) in a row
    lap_begin: int = 0  # ``drawn`` of the worker's stream of victims when its first round in a row had failed
    failed: int = 0  # failed steal attempts of the present idle episode
    failed_remote: int = 0  # those at queues on other nodes
    thresholds_known: bool = False  # whether the thresholds of the own queue were computed from measures
    probing_before_ps: int = 0  # ``idle_steal_ps`` at the begin of the idle time that no row of a watch reports yet

    # the rules for idle workers
    sleep: Sleep = Sleep.AWAKE
    phase: int = 0  # number of the worker's present entry in the rule's list of waits (idle.Phase)
    phase_rounds: int = 0  # fruitless rounds under this entry so far
    phase_began: int = 0  # time of the first of these rounds
    pushes_seen: int = -1  # the run's pushes at the end of the worker's last search; -1: it has not ended a search
    timeouts: int = 0  # sleeps in a row that a timer ended
    slept_since: int = 0
    wake_ps: int = 0  # when the worker runs again, if woken before it slept
    naps: bool = False  # the worker sleeps through the pending wait (a nap); no other worker can end the nap
    woken: bool = False  # the worker has been woken, and has found no task since

    # what the worker does, as far as it changes the speed of other workers of the core and the socket
    waiting: bool = False  # has no pending event: waits for a child, lock, barrier or condition, or sleeps
    works: bool = False  # executes a segment or range item in a coupled run
    rests: bool = False  # asleep, or without a part in the phase
    spins: bool = False  # waits for a lock, an atomic word or at a barrier, and keeps the core busy

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
        """Move the overhead that is owed to the counters; return its time in ps."""
        owed, self.owed_ps = self.owed_ps, 0
        self.paid_owner_ps, self.owed_owner_ps = self.owed_owner_ps, 0
        self.paid_thief_ps, self.owed_thief_ps = self.owed_thief_ps, 0
        self.overhead_ps += owed - self.paid_owner_ps - self.paid_thief_ps
        self.line_owner_ps += self.paid_owner_ps
        self.line_thief_ps += self.paid_thief_ps
        return owed

    @property
    def busy_ps(self) -> int:
        """Return the time that the worker has executed segments and items: local time and all inflation."""
        inflation = self.inflation_numa_ps + self.inflation_contention_ps + self.inflation_smt_ps
        return self.work_local_ps + inflation

    def __post_init__(self) -> None:
        """Set the actor of the event."""
        self.event.actor = self


@dataclass(slots=True, eq=False)
class Producer:
    """An actor beside the workers that makes the items of a range one by one and puts them into queues (model 3.5)."""

    id: int  # the number of workers, the first id that no worker has
    node: int
    event: ActorEvent
    items: range  # ids of the items that are still to be made
    due: int = 0
    owed_ps: int = 0  # overhead of waking sleepers and of cache lines, to be paid before the next item
    making_ps: int = 0  # the time that the item at hand takes
    waiting: bool = False  # waits for room in a queue
    looked: bool = False  # the choice of the last queue looked up where the item's data are; the next step pays for it
    try_below: int = 2**62  # the shortcut `steady` is tried only if fewer items are left
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
