"""The reference engine: the readable definition of the model, event by event on SimPy (model 1, 3 and 4).

Its layers: `timeline` schedules events, `execution` runs tasks, `search` finds them, `production` makes the
items of ranges, `bulk` passes over them; here are the phases. Readings of the model that are decided in these files:

- A worker's overheads (pop, take, join, resume, ...) are owed until its next timed step and paid with it.
- A step that costs nothing happens at once, inside the handler that leads to it.
- A round of stealing in which no queue was probed still reads the announcements of others: the next one starts one
  local probe later at the earliest.
- A task for which no queue has room is executed at once by the worker that spawned it: a worker cannot wait for itself.
  An extra producer waits for the next pop instead.
- A worker that waits in a nested join looks whether it may go on after every fruitless probe and at every poll.
- A run that may skip ahead is gone through event by event all the same, but its event hash is withheld: no engine that
  skips knows it, and what a result says must not hang on the engine.
- A phase ends, and with the last phase the run, after all events of the instant in which its last task finishes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from simpy import Event
from simpy.core import EmptySchedule

from numasim.engine.collect_result import Finished, collect
from numasim.engine.observe.trace_hash import Listener, Rank, Trace
from numasim.engine.observe.watch import Watched, Watcher
from numasim.engine.reference.ledger import Executed, Held
from numasim.engine.reference.producer import Producer
from numasim.engine.reference.shortcuts.bulk import Bulk
from numasim.engine.reference.sync.sync_counts import WordCounts
from numasim.engine.reference.timeline import LOOK, POLL
from numasim.engine.reference.worker import ActorEvent, Worker, priority
from numasim.engine.result import COUNTS, TIME, Result
from numasim.errors import InputError
from numasim.plan.plan import Plan
from numasim.workload.graph import Deal, Phase

EVENTS_PER_FLUSH = 4096


class ReferenceEngine(Bulk):
    """One run of one plan; call `run` once and read ``ledger``, ``trace``, ``workers`` and ``producers`` afterwards."""

    def __init__(self, plan: Plan, trace: Trace, keep_log: bool = False) -> None:
        plan = _written_out(plan)
        if plan.skipping:
            trace.forgo_details()
        super().__init__(plan, trace, keep_log)
        phases = enumerate(plan.workload.phases)
        self.schedule = [(number, phase, i) for number, phase in phases for i in range(phase.repeat)]
        self.phase_index = 0
        self.phase_start = 0
        self.events = 0
        self.finished = False

    def run(self) -> None:
        """Simulate to the end of the last phase."""
        step = self.env.step
        self._start_phase()
        try:
            while not self.finished:
                step()
                self.events += 1
                if not self.events % EVENTS_PER_FLUSH:
                    self._flush()
        except EmptySchedule:
            raise self._deadlock() from None

    # ---- phases ----------------------------------------------------------------------------------------------------

    def _start_phase(self) -> None:
        if self.phase_index == len(self.schedule):
            self.finished = True
            return
        number, phase, self.queues.iteration = self.schedule[self.phase_index]
        self.pages.start_phase(number)
        self.phase_start = self.now
        self.phase_span_ps = 0
        self._give_roots(phase)
        if phase.range_family is not None:
            self._give_range(phase, phase.range_family)
        if not self.outstanding:
            self._end_phase_after_instant()
        self.team = self.workers[:1] if phase.serial else self.workers
        for w in self.workers[1:]:
            w.rests = phase.serial
        self.phase_begins = True
        for w in self.team:
            self._proceed(w)
        self.phase_begins = False

    def _give_roots(self, phase: Phase) -> None:
        self.outstanding = len(phase.roots)
        for r, root in enumerate(phase.roots):
            self.program.reset(root)
            self.workers[dealt_to(phase.deal, r, len(phase.roots), len(self.workers))].agenda.append(root)

    def _give_range(self, phase: Phase, family: int) -> None:
        first = self.tables.range_base[family]
        count = self.plan.workload.ranges[family].count
        self.outstanding += count
        if self.plan.producer != "none":
            self._start_producer(range(first, first + count))
        elif self.tables.own_dispatch:
            for w in self.workers:
                assert w.own is not None
                self.queues.push_range(w.own, dealt_items(phase.deal, w.id, len(self.workers), first, count))
        else:
            for item in range(first, first + count):
                self._deal(dealt_to(phase.deal, item - first, count, len(self.workers)), item)

    def _deal(self, worker: int, item: int) -> None:
        q = self._place(worker, item)
        if q >= 0:
            self.queues.push(q, item)

    def _end_phase_after_instant(self) -> None:
        event = ActorEvent(self.env)
        event.callbacks = [self._on_phase_end]
        self.env.schedule(event, priority(Rank.END_OF_INSTANT, 0), 0)  # type: ignore[arg-type]

    def _on_phase_end(self, _: Event) -> None:
        serial = self.schedule[self.phase_index][1].serial
        if self.locks_search:
            self._free_search_locks()
        for w in self.workers:
            if serial and w.id:
                self._wait_at_barrier(w)
            else:
                self._retire(w)
        if self.watch:
            self.watch.tell(Watched.PHASE, self.phase_index, self.phase_start, self.now)
        self._record_step(Rank.RELEASE, 0, self.phase_index, 0)
        self.ledger.span_ps += self.phase_span_ps
        self._fold()
        if self.plan.steal.thresholds.when == "phase":
            for w in self.workers:
                self._compute_thresholds(w)
        self.phase_index += 1
        self._start_phase()

    def _wait_at_barrier(self, w: Worker) -> None:
        """The worker has waited for worker 0 throughout the phase."""
        w.idle_barrier_ps += self.now - self.phase_start
        if self.watch:
            w.began = self.phase_start
            self.watch.stretch(w, Watched.BARRIER, self.now)

    def _retire(self, w: Worker) -> None:
        """Close the books of a worker at the end of a phase: nothing of it is pending any more."""
        if w.idle:
            self._take_back(w, w.due - self.now)
            self._end_idle(w)
            self._cancel(w)
        w.rank = POLL
        w.fails = w.owed_ps = 0

    def _take_back(self, w: Worker, left_ps: int) -> None:
        """Uncount the part of the pending probe or wait that lies behind the end of the phase."""
        cut = min(left_ps, w.step_ps)
        if w.rank == LOOK:
            w.idle_steal_ps -= cut
        else:
            w.idle_backoff_ps -= cut
        w.overhead_ps -= left_ps - cut


def dealt_to(deal: Deal, index: int, count: int, workers: int) -> int:
    """The worker that gets root or item ``index`` of ``count``."""
    return {Deal.MASTER: 0, Deal.BLOCK: index * workers // count, Deal.CYCLIC: index % workers}[deal]


def dealt_items(deal: Deal, worker: int, workers: int, first: int, count: int) -> range:
    """The items, of ``count`` from id ``first`` on, that worker ``worker`` gets: the inverse of `dealt_to`."""
    if deal == Deal.CYCLIC:
        return range(first + worker, first + count, workers)
    if deal == Deal.BLOCK:
        return range(first - (-worker * count // workers), first - (-(worker + 1) * count // workers))
    return range(first, first + (0 if worker else count))


def run(
    plan: Plan, keep_log: bool, listener: Listener | None, watcher: Watcher | None = None
) -> tuple[Result, list[Executed] | None]:
    """Simulate ``plan``; see `numasim.engine.simulate.simulate`."""
    engine = ReferenceEngine(plan, Trace(listener, watcher), keep_log)
    try:
        engine.run()
    finally:
        engine.trace.hashes()  # what listeners and watchers have heard is complete up to a deadlock
    return collect(plan, finished(engine), makespan_ps), engine.ledger.log


def makespan_ps(plan: Plan) -> int:
    """How long a run of ``plan`` takes."""
    engine = ReferenceEngine(plan, Trace())
    engine.run()
    return engine.now


def _written_out(plan: Plan) -> Plan:
    """The plan with a row for every task, which this engine needs."""
    try:
        return plan.unfolded()
    except InputError as error:
        expected = f"{error.expected}; or the native engine, which needs none of them"
        raise InputError(f"{error.problem} on the reference engine", expected=expected) from None


def finished(engine: ReferenceEngine) -> Finished:
    """What a run that has ended has counted."""
    ledger = engine.ledger

    def columns(actors: Sequence[Worker | Producer], names: Sequence[str]) -> dict[str, npt.NDArray[np.int64]]:
        return {name: np.array([getattr(a, name) for a in actors], np.int64) for name in names}

    return Finished(
        workers=columns(engine.workers, [name for name in (*COUNTS, *TIME) if hasattr(Worker, name)]),
        producers=columns(engine.producers, ["node", "overhead_ps", "parked_ps"]),
        node_attempts=np.array(ledger.node_attempts, np.int64),
        node_success=np.array(ledger.node_success, np.int64),
        node_bytes=engine.traffic.from_memory() if engine.coupled else ledger.node_bytes,
        traffic=engine.traffic.bytes if engine.coupled else {},
        cached_bytes=engine.traffic.cached_bytes,
        makespan_ps=engine.now,
        span_ps=ledger.span_ps,
        page_faults=ledger.page_faults,
        pages_migrated=ledger.pages_migrated,
        node_pages=engine.pages.node_pages(),
        passed_items=sum(ledger.passed_items),
        hashes=engine.trace.hashes(),
        events=engine.events,
        word_counts=np.array(engine.word_counts(), np.int64).reshape(-1, len(WordCounts._fields)),
        held=None if ledger.held is None else np.array(sorted(ledger.held), np.int64).reshape(-1, len(Held._fields)),
    )
