"""The Plan: all inputs of an engine except the seed, as frozen arrays and integers. A Run adds the seed.

A segment is a part of a task that computes and accesses memory. A run is coupled if the time of a segment may depend on
other workers or on the past. A controller is a function that changes the strategy between two iterations of a program.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property
from typing import Generic, TypeVar

from numasim.frozen import Frozen
from numasim.machine.topology import Machine, WorkerMap
from numasim.plan.effects import Effects
from numasim.plan.tuning import Tuning
from numasim.schema.enumerations import LineName
from numasim.strategy.control.task_control import NO_CONTROL, TaskControl
from numasim.strategy.dealing import undealt
from numasim.strategy.helpers import Helpers
from numasim.strategy.idle import Idle
from numasim.strategy.placement.compile_placement import Placement, PlacementRules
from numasim.strategy.steal_plan import StealPlan
from numasim.strategy.sync_places import SyncPlaces
from numasim.workload.graph import Workload
from numasim.workload.one_worker import mean_task_ps
from numasim.workload.unfold import unfolded

MIN_STEP_PS = 1000  # a failed round takes at least this long, so that time advances in every loop (model 1.2)


class Costs(Frozen):
    """The costs of the runtime's own operations in picoseconds (model 4.1).

    While a thread gives pages back to the operating system, or flushes translation look-aside buffers for this, no
    other thread can use the address space.
    """

    push_ps: int  # to put a task into a queue
    locate_ps: int  # to find where the data of a new task are
    pop_ps: int  # to take a task from the own queue
    join_ps: int  # to count a finished child at its parent
    wait_ps: int  # to pass a wait for children
    resume_ps: int  # to go on with a task that was left at a join or spawn
    probe_ps: int  # to look at a queue on the own node
    probe_remote_ps: int  # to look at a queue on another node
    take_ps: int  # for the first task of a steal
    move_ps: int  # for each further task of a steal
    wake_ps: int  # from waking a sleeper of the own node until it runs
    wake_remote_ps: int  # from waking a sleeper of another node until it runs
    fault_ps: int  # of a page fault
    migrate_ps: int  # of the migration of a page
    signal_ps: int  # to let a waiter of a condition pass
    futex_ps: int  # to wake a thread that sleeps on a lock, beside ``wake_ps``
    pause_ps: int  # between two tries of a test-and-set lock
    line: LineName  # whether operations pay the transfer of the cache line that they touch (model 4.1, 5.6)
    unpark_ps: int = 0  # to wake a worker that sleeps because it found no task (model 4.15)
    look_ps: int = 0  # to look at the place of one worker, in search of a sleeper
    deep_ps: int = 0  # waking a worker that has slept for longer takes ``deep_wake_ps`` more
    deep_wake_ps: int = 0
    yield_ps: int = 0  # before each further task that a worker looks for at a wait (model 4.1)
    faults_per_s: int = 0  # page faults that the address space handles; 0: no limit
    fault_alpha_ppm: int = 0  # slow-down of page faults for each node after the first whose workers fault
    unmap_ps: int = 0  # time of giving back a page
    shootdown_ps: int = 0  # time of a flush, for each other thread
    unmap_batch: int = 0  # pages per flush; 0: all pages that are given back together


class Plan(Frozen, eq=False):
    """A simulation without the seeds of runs. Engines read the plan and never change it.

    A plan is a function of the specification alone and equals only itself, so that tables made of a plan can be kept
    for all its runs. ``coupled`` and ``skippable`` follow from the other fields (`numasim.plan.build_plan`). A plan
    with a controller, or with decisions for single tasks, has a row for every task; in the workload of other plans
    equal subtrees of tasks may stand once.
    """

    machine: Machine
    workers: WorkerMap
    workload: Workload
    steal: StealPlan
    words: SyncPlaces
    placement: PlacementRules
    costs: Costs
    join: str  # help, own, strict, leapfrog, continuation or block (model 3.2)
    producer: str  # none, extra or master: the thread that creates the items of implicit ranges
    release: str  # queue or begin: what becomes of a task whose last predecessor has finished (model 3.1)
    poll_ps: int  # the wait after a failed round if the strategy has no back-off
    inline_resume_ppm: int  # the fill, in ppm of the capacity, below which a queue that was full accepts tasks again
    skip: bool  # whether an engine may take shortcuts, which leave out events without a change of results
    effects: Effects
    coupled: bool  # whether segment durations are computed at run time (model 2.4 to 2.9)
    skippable: bool  # whether workers influence each other by steals alone, so that only steals need be events (1.7)
    tuning: Tuning | None = None  # the controller that is asked between two iterations
    control: TaskControl = NO_CONTROL  # the decisions of the strategy for all tasks beforehand (model 4.14)
    helpers: Helpers | None = None  # the helper threads of workers
    inline_above: int = -1  # a new task is executed at once if more other tasks are unfinished; -1: no bound
    idle: Idle | None = None  # the rules for workers that find no task; None: such workers search on

    @property
    def skipping(self) -> bool:
        """Return whether runs of this plan skip ahead: the plan is skippable, and engines may skip."""
        return self.skip and self.skippable

    def unfolded(self) -> Plan:
        """Return the plan with a row for every task of its workload; InputError if the rows do not fit in memory."""
        return replace(self, workload=unfolded(self.workload)) if self.workload.folded else self


T = TypeVar("T")


class Keyed(Frozen, Generic[T]):
    """An argument of a cached function: values with equal ``key`` have the same result, which is computed once."""

    key: object
    value: T = field(compare=False)


# ---- One run of a plan: its seed, and the draws before it starts (model 1.4) -----------------------------------------


class Run(Frozen, eq=False):
    """A plan, and the seed of all random draws of a run."""

    plan: Plan
    seed: int

    @cached_property
    def placement(self) -> Placement:
        """Return the homes (nodes) of pages; the same object for all seeds, unless the page policy draws homes."""
        return self.plan.placement.drawn(self.seed)

    @cached_property
    def first_wait_ps(self) -> int:
        """Return the first wait of the back-off, in ps: the plan's, or the mean of the tasks' drawn durations."""
        known_ps = self.plan.steal.backoff.first_ps
        if known_ps is not None:
            return known_ps
        node = self.plan.workers.node[0]
        program = undealt(self.plan.workload, self.plan.control.dealing)
        return mean_task_ps(program, int(self.plan.machine.latency_ps[node, node]), self.seed)

    def unfolded(self) -> Run:
        """Return the same run of the plan with a row for every task; InputError if the rows do not fit in memory."""
        return Run(self.plan.unfolded(), self.seed) if self.plan.workload.folded else self
