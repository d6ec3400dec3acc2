"""One run of a plan: its seed, and what is drawn before it starts (model 1.4)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from numasim.plan.plan import Plan
from numasim.strategy.distribution.deal_items import undealt
from numasim.strategy.placement.compile_placement import Placement
from numasim.workload.one_worker import mean_task_ps


@dataclass(frozen=True, eq=False)
class Run:
    """A plan and the seed of all that a run of it draws."""

    plan: Plan
    seed: int

    @cached_property
    def placement(self) -> Placement:
        """The homes of pages; the same object for all seeds, unless the page policy draws homes."""
        return self.plan.placement.drawn(self.seed)

    @cached_property
    def first_wait_ps(self) -> int:
        """The first wait of the back-off, in ps: that of the plan, or the mean of the tasks' drawn durations."""
        known_ps = self.plan.steal.backoff.first_ps
        if known_ps is not None:
            return known_ps
        node = self.plan.workers.node[0]
        program = undealt(self.plan.workload, self.plan.control.dealing)
        return mean_task_ps(program, int(self.plan.machine.latency_ps[node, node]), self.seed)

    def unfolded(self) -> Run:
        """The same run of the plan with a row for every task; InputError where they do not fit in memory."""
        return Run(self.plan.unfolded(), self.seed) if self.plan.workload.folded else self
