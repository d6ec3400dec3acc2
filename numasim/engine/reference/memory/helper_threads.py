"""Helper threads prefetch the bytes of a worker's next unit, a task that the worker has taken in advance, into the
last-level cache (model 4.11).

A task is a sequence of ops; one kind of op runs a segment: a time of computing and accesses to memory.

Interpretations of the model that are decided here:

- A helper runs while its worker executes a segment, and gets as far as it would without contention in the time of
  that segment. The helper's use of controllers and links is added to that of the segment, so that contention holds
  back worker and helper together.
- An access that the helper has begun counts as brought in. The time that is missing to the end of the access remains as
  a debt, which the helper pays in its next time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from numasim.engine.reference.actors import Worker
from numasim.engine.reference.memory.access_prices import AccessPricing, Brought
from numasim.engine.reference.memory.caches import Place
from numasim.engine.reference.run_state import Component, RunState
from numasim.parts.unit_factors import MILLION
from numasim.plan.price import Price, Traffic
from numasim.strategy.helpers import Helpers
from numasim.workload.graph import Mode, Op


@dataclass(slots=True)
class Helper:
    """A worker's helper; a unit is -1 if there is none."""

    unit: int = -1  # the unit ahead, which the worker will execute next
    brought: Brought = field(default_factory=dict)  # bytes brought in for the unit ahead
    begun: int = -1  # the unit that the worker executes
    brought_before: Brought = field(default_factory=dict)  # bytes brought in for the unit that the worker executes
    steps: Iterator[Step] = field(default_factory=lambda: iter(()))  # the accesses of the unit ahead still to prefetch
    debt_ps: int = 0  # the time that is missing to the end of the last access


@dataclass(frozen=True, slots=True)
class Step:
    """An access of a unit, and the helper's computing before it."""

    op: int  # number of the op in the task
    access: int  # number of the access in the workload
    compute_ps: int


class HelperThreads(Component):
    """The helpers of all workers with a helper."""

    def __init__(self, run: RunState, helpers: Helpers, prices: AccessPricing, traffic: Traffic) -> None:
        super().__init__(run)
        self._helpers = helpers
        self._work = run.plan.workload
        self._prices = prices
        self._traffic = traffic
        self._ledger = run.recorder.ledger
        self._of = [Helper() if has else None for has in helpers.has]

    def has(self, w: Worker) -> bool:
        """Tell whether the worker has a helper."""
        return self._of[w.id] is not None

    def start_phase(self, w: Worker) -> None:
        """Give a worker that has a helper a new one without a unit; the worker owes the overhead of the start."""
        if self._of[w.id] is not None:
            self._of[w.id] = Helper()
            w.owed_ps += self._helpers.start_ps

    def follow(self, w: Worker) -> None:
        """Let the helper begin the worker's next unit, ``w.reserved``, as the worker begins the helper's last one."""
        helper = self._of[w.id]
        assert helper is not None
        helper.begun, helper.brought_before = helper.unit, helper.brought
        helper.unit, helper.brought = w.reserved, {}
        self._begin(helper)

    def restart_ps(self, w: Worker) -> int:
        """Let the worker's helper begin its unit again, after the worker's transaction was aborted. Return the time in
        ps that the restart costs the worker; 0 if the worker has no helper.
        """
        helper = self._of[w.id]
        if helper is None:
            return 0
        self._begin(helper)
        return self._helpers.restart_ps

    def _begin(self, helper: Helper) -> None:
        helper.debt_ps = 0
        helper.steps = self._steps(helper.unit) if helper.unit >= 0 else iter(())

    def _steps(self, task: int) -> Iterator[Step]:
        """Yield the reading accesses of unit ``task`` in order, until their bytes together exceed ``lifespan``."""
        program, work, left = self._program, self._work, self._helpers.lifespan_bytes
        start = at = program.start[task]
        while program.code[at] < int(max(Op)) + 1:
            if program.code[at] == Op.RUN:
                segment = program.operand[at]
                first, end = int(work.segment_accesses[segment]), int(work.segment_accesses[segment + 1])
                mine_ps = int(work.segment_compute_ps[segment]) * self._helpers.work_ppm // MILLION
                for number, j in enumerate(range(first, end)):
                    size = int(work.accesses.row_bytes[j]) * int(work.accesses.rows[j])
                    if work.accesses.mode[j] == Mode.WRITE or not size:
                        continue
                    left -= size
                    if left < 0:
                        return
                    count = end - first
                    part_ps = mine_ps * (number + 1) // count - mine_ps * number // count
                    yield Step(at - start, j, part_ps)
            at += 1

    def brought_for(self, w: Worker, task: int) -> Brought | None:
        """Return the bytes that the worker's helper has brought for ``task``, which the worker executes; else None."""
        helper = self._of[w.id]
        return helper.brought_before if helper is not None and helper.begun == task else None

    def run_ahead(self, w: Worker, place: Place, time_ps: int, price: Price) -> None:
        """Let the worker's helper, if any, run for ``time_ps``; add what it uses to ``price``, the worker's segment."""
        helper = self._of[w.id]
        if helper is None:
            return
        left_ps = time_ps - helper.debt_ps
        while left_ps > 0:
            step = next(helper.steps, None)
            if step is None:
                left_ps = 0
                break
            ahead = Price(step.compute_ps)
            hit, total = self._prices.price_ahead(ahead, step.access, place)
            place_of = (step.op, step.access)
            helper.brought[place_of] = helper.brought.get(place_of, 0) + total - hit
            self._traffic.prefetched_bytes += total - hit
            self._ledger.page_faults += ahead.placed
            self._ledger.pages_migrated += ahead.migrated
            for resource, units in ahead.units.items():
                price.use(resource, units)
            left_ps -= ahead.compute_ps + ahead.wait_ps + ahead.queued_ps + ahead.fault_ps
        helper.debt_ps = -left_ps
