"""The reference engine: makes the components of a run, and collects the result (model 1, 3 and 4).

Interpretations of the model that are decided here:

- The native engine may skip ahead (simulate from steal to steal, without the events in between) and then knows no event
  hash. This engine simulates every event of such a run, and withholds the event hash: a result must not depend on the
  engine.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np
import numpy.typing as npt

from numasim.engine.collect_result import Finished, collect
from numasim.engine.iteration_control import IterationControl
from numasim.engine.observe.trace_hash import Listener, Trace
from numasim.engine.observe.watch import Watcher
from numasim.engine.reference.actors import Producer, Worker, make_worker
from numasim.engine.reference.backoff import waits_of
from numasim.engine.reference.clock import Clock
from numasim.engine.reference.dispatcher import Dispatcher
from numasim.engine.reference.executor import Executor
from numasim.engine.reference.join_rules import JoinRules
from numasim.engine.reference.ledger import Executed, Held, Ledger, Recorder, TaskMeasures
from numasim.engine.reference.liveness import Liveness
from numasim.engine.reference.memory.memory_system import MemorySystem
from numasim.engine.reference.polling import ALL_SHORTCUTS, Polling, Shortcut
from numasim.engine.reference.producers import Producers
from numasim.engine.reference.resting import Resting
from numasim.engine.reference.run_state import PhaseProgress, RunState
from numasim.engine.reference.steady import SteadyProduction
from numasim.engine.reference.stretch import Stretches, may_stretch
from numasim.engine.reference.sync.attempts import Transactions
from numasim.engine.reference.sync.cache_lines import SyncCounts
from numasim.engine.reference.sync.queue_lines import QueueLines
from numasim.engine.reference.sync.sync_objects import SyncObjects
from numasim.engine.reference.tables import Tables
from numasim.engine.reference.task_controls import LiveSubtrees, SpawnOrder, TaskControls
from numasim.engine.reference.task_programs import Program
from numasim.engine.reference.task_queues import TaskQueues
from numasim.engine.reference.thief import Thief
from numasim.engine.reference.work_source import WorkSource
from numasim.engine.result import COUNTS, TIME, Result
from numasim.errors import InputError
from numasim.plan.plan import Run
from numasim.strategy.probe import Prober
from numasim.workload import span
from numasim.workload.graph import I64

PIECE_ITEMS = 32  # so many items at the end of a range become single entries of a queue at a time


class ReferenceEngine:
    """One run of one plan; call `run` once and read the components afterwards.

    ``shortcuts`` (`polling.Shortcut`) may be taken if the plan allows shortcuts; ``keep_log`` keeps logs for checks.
    """

    def __init__(
        self, run: Run, trace: Trace, keep_log: bool = False, shortcuts: Set[Shortcut] = ALL_SHORTCUTS
    ) -> None:
        run = _written_out(run)
        if run.plan.skipping:
            trace.forgo_details()
        taken = shortcuts if run.plan.skip else frozenset[Shortcut]()
        state = self._state(run, trace, keep_log, taken)
        self.clock, self.recorder, self.ledger = state.clock, state.recorder, state.recorder.ledger
        self.workers, self.producers, self.queues = state.workers, state.producers, state.queues
        self._connect(state, taken)

    def _state(self, run: Run, trace: Trace, keep_log: bool, taken: Set[Shortcut]) -> RunState:
        plan = run.plan
        tables, clock, program = Tables(plan), Clock(), Program(plan.workload)
        ledger = Ledger(plan.machine.nodes, len(plan.workload.ranges), keep_log)
        watch = trace.watch
        queues = TaskQueues(
            plan.steal,
            1 if Shortcut.STRETCHES in taken and may_stretch(plan, tables) else PIECE_ITEMS,
            (lambda q, tasks: watch.length(clock.now, q, tasks)) if watch else None,
        )
        adaptive = plan.steal.adaptive
        prober = Prober(plan.steal, run.seed)
        controls = TaskControls(plan.control, tables, program, queues)
        return RunState(
            plan=plan,
            seed=run.seed,
            placement=run.placement,
            tables=tables,
            waits=waits_of(run, tables),
            clock=clock,
            recorder=Recorder(clock, trace, ledger),
            workers=[make_worker(plan, tables, ident, clock.new_event()) for ident in range(plan.workers.workers)],
            producers=[],
            program=program,
            queues=queues,
            prober=prober,
            progress=PhaseProgress(self._phase_over),
            joins=JoinRules(plan.join, program, queues, prober),
            spawn_order=SpawnOrder(adaptive, plan.workload.rows, plan.workers.workers, prober) if adaptive else None,
            control=IterationControl(plan.tuning) if plan.tuning else None,
            measures=TaskMeasures(plan.workload.rows, plan.machine.nodes) if plan.tuning else None,
            controls=controls,
            live=LiveSubtrees(plan, controls, queues),
        )

    def _connect(self, state: RunState, taken: Set[Shortcut]) -> None:
        """Make the components in order; each is given the components made before it that it calls."""

        def proceed(w: Worker) -> None:
            self.executor.proceed(w)

        memory = self.memory = MemorySystem(state)
        polling = Polling(state, memory) if Shortcut.POLLING in taken else None
        steady = SteadyProduction(state, memory) if Shortcut.STEADY in taken else None
        stretches = None
        if Shortcut.STRETCHES in taken and memory.known and may_stretch(state.plan, state.tables):
            stretches = Stretches(state, memory, memory.known, proceed)
        sync = self.sync_objects = SyncObjects(state, memory, proceed)
        lines = QueueLines(state) if state.tables.served else None
        self.liveness = Liveness(state)
        resting = Resting(state, memory, self.liveness, lines, proceed) if state.plan.idle else None
        transactions = self.transactions = Transactions(state, memory)
        dispatcher = self.dispatcher = Dispatcher(state, memory, sync, proceed, lines, resting)
        making = Producers(state, sync, dispatcher, steady.producer_waits if steady else None)
        thief = self.thief = Thief(
            state,
            memory,
            sync,
            self.liveness,
            making,
            proceed,
            lines=lines,
            resting=resting,
            lazy_queues=stretches,
            pass_over=polling.pass_over if polling else None,
        )
        start_item = stretches.start_item if stretches else memory.work.start_item
        operations = sync.operations | transactions.operations
        self.executor = Executor(state, memory, operations, dispatcher, making, thief, start_item, lines, resting)
        self.work_source = WorkSource(state, memory, transactions, dispatcher, making, thief, self.executor, resting)

    def _phase_over(self) -> None:
        self.work_source.end_phase_after_instant()

    def run(self) -> None:
        """Simulate to the end of the last phase."""
        self.work_source.begin()
        if not self.clock.run(self.flush):
            raise self.liveness.deadlock()

    def flush(self) -> None:
        """Hash the gathered records and add up the gathered bytes; called after every batch of events."""
        self.recorder.trace.flush_full()
        self.memory.work.fold()


def execute(
    run: Run, keep_log: bool, listener: Listener | None, watcher: Watcher | None = None
) -> tuple[Result, list[Executed] | None]:
    """Simulate ``run``; return its result, and the log of executed segments if ``keep_log``."""
    engine = ReferenceEngine(run, Trace(listener, watcher), keep_log)
    try:
        engine.run()
    finally:
        engine.recorder.trace.hashes()  # listeners and watchers are given everything up to a deadlock
    return collect(run, finished(engine), makespan_ps), engine.ledger.log


def longest_chains_ps(run: Run, segment_ps: I64) -> list[int]:
    """Return [phases] the longest chain of work in ps of one turn of each phase, if segments take ``segment_ps``."""
    return span.longest_chains_ps(run.plan.workload, segment_ps)


def makespan_ps(run: Run) -> int:
    """Return the simulated time of ``run`` in ps."""
    engine = ReferenceEngine(run, Trace())
    engine.run()
    return engine.clock.now


def _written_out(run: Run) -> Run:
    """Return the run with a row for every task, which this engine needs. Raises InputError if they are too many."""
    try:
        return run.unfolded()
    except InputError as error:
        expected = f"{error.expected}; or the native engine, which needs none of them"
        raise InputError(f"{error.problem} on the reference engine", expected=expected) from None


def finished(engine: ReferenceEngine) -> Finished:
    """Return the counts of a run that has ended."""
    ledger = engine.ledger

    def columns(actors: Sequence[Worker | Producer], names: Sequence[str]) -> dict[str, npt.NDArray[np.int64]]:
        return {name: np.array([getattr(a, name) for a in actors], np.int64) for name in names}

    return Finished(
        workers=columns(engine.workers, [name for name in (*COUNTS, *TIME) if hasattr(Worker, name)]),
        producers=columns(engine.producers, ["node", "overhead_ps", "parked_ps"]),
        node_attempts=np.array(ledger.node_attempts, np.int64),
        node_success=np.array(ledger.node_success, np.int64),
        node_conflicts=np.array(ledger.node_conflicts, np.int64),
        object_conflicts=np.array(engine.transactions.object_conflicts(), np.int64),
        node_bytes=engine.memory.work.node_bytes(),
        traffic=engine.memory.traffic.bytes if engine.memory.coupled else {},
        cached_bytes=engine.memory.traffic.cached_bytes,
        prefetched_bytes=engine.memory.traffic.prefetched_bytes,
        used_bytes=engine.memory.traffic.used_bytes,
        makespan_ps=engine.clock.now,
        span_ps=engine.work_source.span_ps,
        page_faults=ledger.page_faults + engine.memory.traffic.placed,
        pages_unmapped=engine.memory.traffic.unmapped,
        pages_migrated=ledger.pages_migrated,
        node_pages=engine.memory.pages.node_pages(),
        phase_table=engine.work_source.rows.table(),
        passed_items=sum(ledger.passed_items),
        hashes=engine.recorder.trace.hashes(),
        events=engine.clock.events,
        sync_counts=np.array(engine.sync_objects.counts(), np.int64).reshape(-1, len(SyncCounts._fields)),
        held=None if ledger.held is None else np.array(sorted(ledger.held), np.int64).reshape(-1, len(Held._fields)),
    )
