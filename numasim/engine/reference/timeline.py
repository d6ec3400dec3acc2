"""Actors and their events on SimPy's clock: the lowest layer of the reference engine (model 1.2).

Every worker has one pending event. Its SimPy priority is made of rank and worker id, so the events of one instant
happen in the order of the model and never in the order in which they were scheduled.
"""

from __future__ import annotations

from collections.abc import Callable

from simpy import Environment, Event

from numasim.engine.observe.trace_hash import Rank, Trace, pack
from numasim.engine.reference.ledger import Ledger
from numasim.engine.reference.tables import Tables
from numasim.engine.reference.task_programs import Program
from numasim.engine.reference.task_queues import TaskQueues
from numasim.engine.reference.watched_queues import WatchedQueues
from numasim.engine.reference.worker import ActorEvent, Worker, priority
from numasim.plan.plan import Plan
from numasim.plan.segment_times import I64, RangeTimes, segment_times
from numasim.strategy.probe import Prober

SEG_END, GRANT, RELEASE, WAKE, PUT, LOOK, POLL = (int(rank) for rank in list(Rank)[: Rank.POLL + 1])
PIECE_ITEMS = 32
NO_CALLBACKS: list[Callable[[Event], None]] = []

Callbacks = list[Callable[[Event], None]]


class Timeline:
    """The state of a run and the scheduling of its workers' events; ``now`` is the time of the running handler."""

    def __init__(self, plan: Plan, trace: Trace, keep_log: bool) -> None:
        self.plan = plan
        self.env = Environment(0)
        self.now = 0
        self.trace = trace
        self.watch = trace.watch
        self.times = segment_times(plan)
        self.total_ps, self.local_ps = _lists(self.times.total_ps), _lists(self.times.local_ps)
        self.ranges = [RangeTimes(plan, family) for family in plan.workload.ranges]
        self.ledger = Ledger(plan, self.times, self.ranges, keep_log)
        self.tables = Tables(plan)
        self.program = Program(plan.workload)
        self.queues = self._new_queues(1 if self.tables.stretches else PIECE_ITEMS)
        self.prober = Prober(plan.steal, plan.seed)
        self.workers = [self._new_worker(w) for w in range(plan.workers.workers)]
        self.callbacks: dict[int, Callbacks] = {}  # by rank

    def _new_queues(self, piece: int) -> TaskQueues:
        if self.watch:
            return WatchedQueues(self.plan.steal, piece, self.watch, lambda: self.now)
        return TaskQueues(self.plan.steal, piece)

    def _new_worker(self, ident: int) -> Worker:
        tables, node = self.tables, int(self.plan.workers.node[ident])
        return Worker(
            id=ident,
            node=node,
            domain=int(self.plan.workers.llc[ident]),
            own=tables.own[ident],
            boundless_own=tables.own[ident] if tables.own_never_full else None,
            event=ActorEvent(self.env),
            priority=tuple(priority(rank, ident) for rank in Rank),
            probe_ps=tables.probe_ps(ident),
            take_ps=tables.take_ps(ident),
            line_ps=tables.line_ps(ident),
            total_ps=self.total_ps[node],
            local_ps=self.local_ps[node],
            ran=self.ledger.ran[node],
        )

    def _schedule(self, w: Worker, rank: int, delay_ps: int) -> None:
        """Make ``rank`` the worker's pending event."""
        w.rank = rank
        w.due = self.now + delay_ps
        event = w.event
        event.callbacks = self.callbacks[rank]
        self.env.schedule(event, w.priority[rank], delay_ps)  # type: ignore[arg-type]

    def _schedule_overhead(self, w: Worker, rank: int, step_ps: int) -> None:
        """Schedule a step that is all overhead, together with what is owed."""
        owed = w.owed_ps + step_ps
        w.owed_ps = 0
        w.overhead_ps += owed
        self._schedule(w, rank, owed)

    def _schedule_idle(self, w: Worker, rank: int, step_ps: int) -> None:
        """Schedule a probe or a wait, with the overhead that is owed in front of it."""
        owed = w.owed_ps
        w.owed_ps = 0
        w.overhead_ps += owed
        w.step_ps = step_ps
        self._schedule(w, rank, owed + step_ps)

    def _cancel(self, w: Worker) -> None:
        """Let the pending event pass without effect."""
        w.event.callbacks = NO_CALLBACKS
        w.event = ActorEvent(self.env, w)

    def _record_step(self, rank: int, actor: int, first: int, second: int) -> None:
        self.trace.steps.rows.append(pack(self.now, rank, actor, first, second))

    def _flush(self) -> None:
        """Hash and fold what has gathered."""
        self.trace.flush_full()
        self._fold()

    def _fold(self) -> None:
        """Turn what ran since the last call into bytes per node pair."""
        self.ledger.fold()


def _lists(arrays: list[I64]) -> list[list[int]]:
    """[nodes][segments] as lists, which are quicker to look up; nodes that share an array share a list."""
    once = {id(array): array for array in arrays}
    made = {key: array.tolist() for key, array in once.items()}
    return [made[id(array)] for array in arrays]
