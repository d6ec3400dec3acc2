"""The Plan: everything an engine needs, as frozen arrays and integers; the one input of every engine."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

from numasim.machine.topology import Machine, WorkerMap
from numasim.plan.effects import NO_EFFECTS, Effects
from numasim.strategy.placement.compile_placement import Placement
from numasim.strategy.steal_plan import StealPlan
from numasim.strategy.sync_places import SharedWords
from numasim.workload.graph import Workload
from numasim.workload.unfold import unfolded

MIN_STEP_PS = 1000  # a fruitless round takes at least this long, so that no loop stands still (model 1.2)


@dataclass(frozen=True)
class Costs:
    """What the runtime's own operations take, in picoseconds (model 4.1). ``line``: whether probes, takes, joins and
    pushes into queues of others also pay the transfer of the cache line that they touch. ``faults_per_s`` is how many
    page faults the address space lets through (0: no limit), ``fault_alpha_ppm`` by how much less for each further node
    that has some.
    """

    push_ps: int
    locate_ps: int
    pop_ps: int
    join_ps: int
    wait_ps: int
    resume_ps: int
    probe_ps: int
    probe_remote_ps: int
    take_ps: int
    move_ps: int
    wake_ps: int
    wake_remote_ps: int
    fault_ps: int
    migrate_ps: int
    signal_ps: int
    futex_ps: int
    pause_ps: int
    line: bool
    faults_per_s: int = 0
    fault_alpha_ppm: int = 0


@dataclass(frozen=True)
class Plan:
    """One simulation, complete. Engines read it and never change it.

    ``join`` is help, own, strict, continuation or block (model 3.2); ``producer`` is none, extra or master: who creates
    the items of implicit ranges; ``poll_ps`` is the wait after a fruitless round where no back-off is given;
    ``inline_resume_ppm`` is the fill, in ppm of the capacity, below which a queue that overflowed takes tasks again;
    ``skip`` says whether an engine may pass over events that it can count in closed form.
    """

    machine: Machine
    workers: WorkerMap
    workload: Workload
    steal: StealPlan
    words: SharedWords
    placement: Placement
    costs: Costs
    join: str
    producer: str
    poll_ps: int
    inline_resume_ppm: int
    skip: bool
    seed: int
    effects: Effects = NO_EFFECTS

    @cached_property
    def skippable(self) -> bool:
        """Whether nothing couples the workers, so that only steals need be events (model 1.7)."""
        from numasim.plan.skippable import skippable

        return skippable(self)

    @property
    def skipping(self) -> bool:
        """Whether a run of this plan skips ahead: it may, and it can."""
        return self.skip and self.skippable

    @cached_property
    def coupled(self) -> bool:
        """Whether the times of segments are found out while they run."""
        from numasim.plan.coupling import coupled

        return coupled(self)

    def unfolded(self) -> Plan:
        """The same plan with a row for every task of its workload; InputError where they do not fit in memory."""
        return replace(self, workload=unfolded(self.workload)) if self.workload.folded else self

    def reseeded(self, seed: int) -> Plan:
        """The same plan with another seed, on which it does not hang whether it is skippable or coupled."""
        plan = copy(self)
        object.__setattr__(plan, "seed", seed)
        plan.__dict__["coupled"] = self.coupled
        object.__setattr__(plan, "placement", self.placement.reseeded(seed))
        if self.skip:
            plan.__dict__["skippable"] = self.skippable
        return plan
