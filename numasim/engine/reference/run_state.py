"""Objects that all components of a run share: plan, seed, tables, clock, recorder, and state without rules.

A component is a class with the rules for one matter, such as the search for tasks. A phase is a part of a program
between two points at which all workers meet. A range is many similar tasks, its items, that one rule describes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from numasim.engine.iteration_control import IterationControl
from numasim.engine.reference.actors import Producer, Worker
from numasim.engine.reference.backoff import Waits
from numasim.engine.reference.clock import Clock
from numasim.engine.reference.join_rules import JoinRules
from numasim.engine.reference.ledger import Recorder, TaskMeasures
from numasim.engine.reference.tables import Tables
from numasim.engine.reference.task_controls import LiveSubtrees, SpawnOrder, TaskControls
from numasim.engine.reference.task_programs import Program
from numasim.engine.reference.task_queues import TaskQueues
from numasim.plan.plan import Plan
from numasim.strategy.placement.compile_placement import Placement
from numasim.strategy.probe import Prober

# ---- The unfinished tasks and the longest chain of work of a phase (model 1.1 and 6) ---------------------------------


class PhaseProgress:
    """Counts the tasks of the present phase. ``begins`` is true until every worker of the phase has started.
    ``team`` are the workers that take part in the phase. ``unmade`` counts the range items that are still to be made.
    """

    __slots__ = ("_phase_over", "begins", "span_ps", "team", "unfinished", "unmade")

    def __init__(self, phase_over: Callable[[], None]) -> None:
        """``phase_over`` is called when the last task of a phase has finished."""
        self._phase_over = phase_over
        self.unfinished = 0  # tasks that have not finished
        self.unmade = 0
        self.span_ps = 0  # time of the phase's longest chain of work (tasks that wait for each other) so far
        self.begins = False
        self.team: Sequence[Worker] = ()

    def begin(self, tasks: int, team: Sequence[Worker]) -> None:
        """Begin a phase with ``tasks`` roots and range items together; a phase without any ends at once."""
        self.unfinished = tasks
        self.span_ps = 0
        self.team = team
        self.begins = True
        if not tasks:
            self._phase_over()

    @property
    def others(self) -> int:
        """Return how many tasks are made and have not finished, the task that was made last not counted."""
        return self.unfinished - self.unmade - 1

    def spawn(self) -> None:
        """Count one more task."""
        self.unfinished += 1

    def finish(self, tasks: int) -> None:
        """Count ``tasks`` more finished tasks; the last task of the phase ends the phase."""
        self.unfinished -= tasks
        if not self.unfinished:
            self._phase_over()

    def pass_over(self, tasks: int) -> None:
        """Count ``tasks`` more range items as made and finished, without an event for each (`steady`)."""
        self.unfinished -= tasks
        self.unmade -= tasks

    def lengthen(self, chain_ps: int) -> None:
        """Note a chain of work that takes ``chain_ps``: the longest one is kept."""
        if chain_ps > self.span_ps:
            self.span_ps = chain_ps


# ---- The state of a run ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunState:
    """All shared objects of one run. ``producers`` are the producers of all phases so far. ``control`` and ``measures``
    are None if the plan has no controller (a function that changes the strategy between two iterations);
    ``spawn_order`` is None unless workers choose at each spawn whether to begin the child at once.
    """

    plan: Plan
    seed: int
    placement: Placement
    tables: Tables
    waits: Waits
    clock: Clock
    recorder: Recorder
    workers: list[Worker]
    producers: list[Producer]
    program: Program
    queues: TaskQueues
    prober: Prober
    progress: PhaseProgress
    joins: JoinRules
    spawn_order: SpawnOrder | None
    control: IterationControl | None
    measures: TaskMeasures | None
    controls: TaskControls
    live: LiveSubtrees


class Component:
    """A component of a run: each ``_name`` is the object ``name`` of `RunState`."""

    def __init__(self, run: RunState) -> None:
        self._plan, self._seed, self._tables = run.plan, run.seed, run.tables
        self._clock, self._recorder = run.clock, run.recorder
        self._workers, self._producers = run.workers, run.producers
        self._program, self._progress = run.program, run.progress
        self._queues, self._prober, self._waits = run.queues, run.prober, run.waits
        self._joins, self._spawn_order = run.joins, run.spawn_order
        self._control, self._measures = run.control, run.measures
        self._controls, self._live = run.controls, run.live
