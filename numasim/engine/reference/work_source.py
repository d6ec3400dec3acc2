"""Where work comes from and when work ends: phases with their roots and ranges (model 1.1 and 3.5).

A phase is a part of a program between two points at which all workers meet; a run of a phase is a turn; an iteration is
a pass through an outermost loop of phases. A phase starts with roots (tasks) and perhaps a range (many similar tasks,
its items). To deal is to give roots or items to workers. A worker's agenda is the tasks that it begins before tasks of
its queue; its backlog the tasks for which no queue had room.

Interpretations of the model that are decided here:

- A phase ends, and with the last phase the run, after all events of the instant in which its last task finishes.
- If no queue has room for a root or an item, the worker to which it was dealt keeps it in its backlog.
"""

from __future__ import annotations

import numpy as np

from numasim.engine.iteration_control import Decision
from numasim.engine.observe.trace_hash import Rank
from numasim.engine.observe.watch import Watched
from numasim.engine.phase_rows import STEALS, PhaseRows
from numasim.engine.reference.actors import Sleep, Worker
from numasim.engine.reference.dispatcher import Dispatcher
from numasim.engine.reference.executor import Executor
from numasim.engine.reference.memory.memory_system import MemorySystem
from numasim.engine.reference.producers import Producers
from numasim.engine.reference.resting import Resting
from numasim.engine.reference.run_state import Component, RunState
from numasim.engine.reference.sync.attempts import Transactions
from numasim.engine.reference.thief import Thief
from numasim.workload.graph import Deal, Kind, Phase
from numasim.workload.phases import Step, steps


class WorkSource(Component):
    """Starts the phases of a plan in order, in their loops and repeats, and stops the clock after the last."""

    def __init__(
        self,
        run: RunState,
        memory: MemorySystem,
        transactions: Transactions,
        dispatcher: Dispatcher,
        producers: Producers,
        thief: Thief,
        executor: Executor,
        resting: Resting | None,
    ) -> None:
        super().__init__(run)
        self._memory = memory
        self._transactions = transactions
        self._dispatcher = dispatcher
        self._making = producers
        self._thief = thief
        self._executor = executor
        self._resting = resting
        self._steps = steps(run.plan.workload.phases, run.plan.workload.loops)
        self._step = Step(0, 0, 0, False)  # the present turn: its phase, iteration and number
        self._ended = 0  # turns that have ended
        self._start_ps = 0  # start of the present turn
        self.span_ps = 0  # sum of the longest chains of work of all turns that have ended
        self.rows = PhaseRows()

    # ---- the begin of a phase --------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin the first phase."""
        if self._control:
            self._follow(self._control.begin())
        self.start_phase()

    def start_phase(self) -> None:
        """Start the next turn: deal its roots and its range, and let the workers begin. Without a next turn, stop."""
        step = next(self._steps, None)
        if step is None:
            self._clock.stop()
            return
        self._step, phase = step, self._plan.workload.phases[step.phase]
        self._queues.iteration = step.iteration
        self._memory.pages.start_phase(step.phase)
        self._memory.work.start_turn(step.turn)
        self._live.start_phase(phase.roots)
        self._transactions.start_turn(step.turn)
        self._start_ps = self._clock.now
        self._dispatcher.numbers.start_phase(phase)
        self._give_roots(phase)
        items = self._give_range(phase, phase.range_family) if phase.range_family is not None else 0
        for w in self._workers:
            w.backlog.reverse()
        team = self._workers[:1] if phase.serial else self._workers
        for w in self._workers[1:]:
            w.rests = phase.serial or w.sleep == Sleep.ASLEEP
        self._progress.begin(len(phase.roots) + items, team)
        if self._memory.helpers and not phase.serial:
            for w in team:
                self._memory.helpers.start_phase(w)
        sleepers = self._resting.wake_team(team) if self._resting else []
        for w in team:
            if w.id not in sleepers:
                self._executor.proceed(w)
        self._progress.begins = False

    def _give_roots(self, phase: Phase) -> None:
        """Deal the roots that wait for no other task; the other roots come when their predecessors have finished."""
        for root in phase.roots:
            self._program.reset(root)
        free = [root for root in phase.roots if not self._program.held[root]]
        deal = Deal.MASTER if phase.serial else phase.deal
        for r, root in enumerate(free):
            w = self._workers[dealt_to(deal, r, len(free), len(self._workers))]
            if phase.serial or self._program.kind[root] == Kind.IMPLICIT:
                w.agenda.append(root)
            else:
                self._deal(w, root)

    def _give_range(self, phase: Phase, family: int) -> int:
        """Deal the items of range ``family``, or let a producer make them; return the number of items."""
        first = self._tables.range_base[family]
        count = self._plan.workload.ranges[family].count
        if phase.serial:
            self._workers[0].agenda.extend(range(first, first + count))
        elif self._plan.producer != "none":
            self._making.start(range(first, first + count))
        elif self._tables.own_never_full:
            for w in self._workers:
                assert w.own is not None
                items = dealt_items(phase.deal, w.id, len(self._workers), first, count)
                if items and not w.agenda:
                    w.agenda.append(items[0])
                    items = items[1:]
                self._queues.push_range(w.own, items)
        else:
            for item in range(first, first + count):
                self._deal(self._workers[dealt_to(phase.deal, item - first, count, len(self._workers))], item)
        return count

    def _deal(self, w: Worker, task: int) -> None:
        """Put a root or an item that is dealt to the worker into the queue that the strategy's dispatch rules choose.

        The first task for the worker's own queue goes to the worker's agenda instead, unless a rule copies tasks. A
        task for which no queue has room goes to the worker's backlog.
        """
        q = self._dispatcher.place(w.id, task)
        if q < 0:
            w.backlog.append((1, task))
        elif q == w.own and not w.agenda and not self._prober.copies:
            w.agenda.append(task)
        else:
            self._dispatcher.deal(q, task)

    # ---- the end of a phase ----------------------------------------------------------------------------------------

    def end_phase_after_instant(self) -> None:
        """End the phase after all events of this instant, in which the last task of the phase has finished."""
        self._clock.at_end_of_instant(0, self._end_phase)

    def _end_phase(self) -> None:
        serial, now = self._plan.workload.phases[self._step.phase].serial, self._clock.now
        self._thief.free_locks()
        self._queues.drop_claimed()
        for w in self._workers:
            if serial and w.id:
                self._wait_at_barrier(w, self._resting.sit_out(w, now - self._start_ps) if self._resting else 0)
            else:
                self._thief.retire(w)
        if self._recorder.watch:
            self._recorder.watch.report(Watched.PHASE, self._ended, self._start_ps, now)
        self._recorder.step(Rank.RELEASE, 0, self._ended, 0)
        self.span_ps += self._progress.span_ps
        self._memory.work.fold()
        if self._plan.steal.thresholds.when == "phase":
            for w in self._workers:
                self._thief.compute_thresholds(w)
        if not self.rows.full:
            self.rows.add(self._step, self._start_ps, now, self._sums())
        self._ended += 1
        if self._step.ends_iteration:
            self._end_iteration()
        self.start_phase()

    def _sums(self) -> tuple[int, ...]:
        """Return executed tasks, local, remote and cached bytes, and counts of steals, from the begin of the run on."""
        moved = self._memory.work.node_bytes()
        local = int(np.trace(moved))
        steals = (sum(getattr(w, name) for w in self._workers) for name in STEALS)
        tasks = sum(w.tasks for w in self._workers)
        return tasks, local, int(moved.sum()) - local, self._memory.traffic.cached_bytes, *steals

    def _end_iteration(self) -> None:
        """Give the measures of the iteration that has ended to the controller, if there is one, and follow it."""
        if self._control and self._measures:
            task_ps, task_bytes = self._measures.take()
            node_bytes = self._memory.work.node_bytes().copy()
            busy_ps = np.array([w.busy_ps for w in self._workers], np.int64)
            self._follow(self._control.end_iteration(self._clock.now, task_ps, task_bytes, node_bytes, busy_ps))

    # ---- controllers -----------------------------------------------------------------------------------------------

    def _follow(self, decision: Decision | None) -> None:
        """Carry out a decision of the strategy's controller for the next iteration; None changes nothing."""
        if decision is not None:
            self._executor.profile_ps = decision.profile_ps
            if decision.policy is not None:
                self._memory.pages.choose(decision.policy)
            self._controls.follow(decision.tiers, decision.labels, decision.switches)
            self._live.follow()

    def _wait_at_barrier(self, w: Worker, asleep_ps: int) -> None:
        """Count that the worker waited throughout a serial phase of worker 0, the last ``asleep_ps`` asleep."""
        now = self._clock.now
        awake_until_ps = now - asleep_ps
        w.idle_barrier_ps += awake_until_ps - self._start_ps
        w.asleep_ps += asleep_ps
        if self._recorder.watch:
            self._recorder.watch.stretch(Watched.BARRIER, w.id, self._start_ps, awake_until_ps)
            if asleep_ps:
                self._recorder.watch.stretch(Watched.PARKED, w.id, awake_until_ps, now)


def dealt_to(deal: Deal, index: int, count: int, workers: int) -> int:
    """Return the worker that gets root or item ``index`` of ``count``."""
    return {Deal.MASTER: 0, Deal.BLOCK: index * workers // count, Deal.CYCLIC: index % workers}[deal]


def dealt_items(deal: Deal, worker: int, workers: int, first: int, count: int) -> range:
    """Return those of the ``count`` items from id ``first`` on that `dealt_to` gives to ``worker``."""
    if deal == Deal.CYCLIC:
        return range(first + worker, first + count, workers)
    if deal == Deal.BLOCK:
        return range(first - (-worker * count // workers), first - (-(worker + 1) * count // workers))
    return range(first, first + (0 if worker else count))
