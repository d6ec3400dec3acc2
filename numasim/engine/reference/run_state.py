"""What the components of a run share: plan, seed, what follows from them, clock, recorder, and state without rules."""

from __future__ import annotations

from dataclasses import dataclass

from numasim.engine.iteration_control import IterationControl
from numasim.engine.observe.task_measures import TaskMeasures
from numasim.engine.reference.actors import Producer, Worker
from numasim.engine.reference.backoff import Waits
from numasim.engine.reference.clock import Clock
from numasim.engine.reference.control.live_subtrees import LiveSubtrees
from numasim.engine.reference.control.spawn_order import SpawnOrder
from numasim.engine.reference.control.task_controls import TaskControls
from numasim.engine.reference.join_rules import JoinRules
from numasim.engine.reference.phase_progress import PhaseProgress
from numasim.engine.reference.recorder import Recorder
from numasim.engine.reference.tables import Tables
from numasim.engine.reference.task_programs import Program
from numasim.engine.reference.task_queues import TaskQueues
from numasim.plan.plan import Plan
from numasim.strategy.placement.compile_placement import Placement
from numasim.strategy.probe import Prober


@dataclass(frozen=True, slots=True)
class RunState:
    """One run; each component takes from it what it uses. ``producers`` are those of all phases so far; ``control`` and
    ``measures`` are None where the plan has no controller.
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
