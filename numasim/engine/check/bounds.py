"""Lower bounds of the makespan of every schedule, from the program alone: every run is compared with them (model 8,
item 1).

A segment is a part of a task that computes and accesses memory; a range is many similar tasks, its items, that one rule
(a family) describes; a run is coupled if some time depends on other workers. All runs of a plan share the bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from numasim.engine.result import Result
from numasim.errors import CheckError
from numasim.frozen import Frozen
from numasim.parts.unit_factors import MILLION
from numasim.plan.effects import noise_ppm
from numasim.plan.plan import Plan
from numasim.workload.graph import I64, Pattern, RangeFamily
from numasim.workload.one_worker import MLP, access_ps, by_task, lines_ps, segment_ps

Chains = Callable[[I64], Sequence[int]]  # from [segments] times to [phases] the time of the longest chain of segments
LAST_NUMBER = 2**64 - 1  # the random number that gives the largest deviation; the number 0 gives the smallest


class Bounds(Frozen):
    """The time of all work of a program, and of its critical path, with the least time that each segment can take."""

    work_ps: int
    critical_path_ps: int

    def violation(self, makespan_ps: int, workers: int) -> str | None:
        """Return a sentence if a makespan on ``workers`` workers is below a bound, else None."""
        if makespan_ps < self.critical_path_ps:
            path = f"the critical path of the program, {self.critical_path_ps} ps"
            return f"the makespan {makespan_ps} ps is below {path}"
        if makespan_ps * workers < self.work_ps:
            work = f"the work of the program, {self.work_ps} ps, on {workers} workers"
            return f"the makespan {makespan_ps} ps is below {work}"
        return None


def check_bounds(plan: Plan, result: Result, bounds: Bounds) -> None:
    """Raise CheckError if the makespan of ``result`` is below a bound."""
    sentence = bounds.violation(result.counters["makespan_ps"], plan.workers.workers)
    if sentence:
        raise CheckError(f"{sentence}: a defect of numasim, since no schedule can be so fast")


def bounds_of(plan: Plan, chains: Chains) -> Bounds:
    """Return the bounds of every run of a plan; ``chains`` finds the longest chains in the plan's graph of tasks."""
    work, segments = plan.workload, least_segment_ps(plan)
    below = work.below(by_task(work, segments))
    total, path = 0, 0
    for phase, runs, chain in zip(work.phases, work.runs, chains(segments), strict=True):
        once = int(below[np.asarray(phase.roots, np.int64)].sum())
        longest = chain
        if phase.range_family is not None:
            family = work.ranges[phase.range_family]
            item_ps = _least_item_ps(plan, family)
            once += family.count * item_ps
            longest = max(chain, item_ps)
        total += runs * once
        path += runs * (once if phase.serial else longest)
    return Bounds(total, path)


def least_segment_ps(plan: Plan) -> I64:
    """Return [segments] the least time of each segment: the time of computing at the highest speed that the random
    deviations allow, or, in an uncoupled run, the wait for all bytes from the nearest memory if this is longer.
    """
    computing = _fastest(plan, plan.workload.segment_compute_ps)
    if plan.coupled:
        return computing
    return np.maximum(computing, segment_ps(plan.workload, int(plan.machine.latency_ps.min())))


def _least_item_ps(plan: Plan, family: RangeFamily) -> int:
    computing = int(_fastest(plan, np.array([family.low_ps]))[0])
    if plan.coupled:
        return computing
    nearest_ps = int(plan.machine.latency_ps.min())
    waits = (
        lines_ps(np.array([access.factor * access.amounts.least]), nearest_ps, MLP[Pattern(access.pattern)])
        for access in family.node_accesses
    )
    return max(computing, int(access_ps(family.accesses, nearest_ps).sum()) + sum(int(wait[0]) for wait in waits))


def _fastest(plan: Plan, compute_ps: I64) -> I64:
    """Return ``compute_ps`` with the smallest random deviation of tasks on the fastest possible worker."""
    lucky_ppm = MILLION + noise_ppm(0, plan.effects.task_noise_ppm)
    fast_ppm = MILLION + noise_ppm(LAST_NUMBER, plan.effects.worker_spread_ppm)
    return _times(_times(compute_ps, lucky_ppm, MILLION), MILLION, fast_ppm)


def _times(values: I64, factor: int, divisor: int) -> I64:
    """Return ``values * factor // divisor``, also if the product does not fit in 63 bits."""
    whole, rest = np.divmod(values, divisor)
    return np.asarray(whole * factor + rest * factor // divisor, np.int64)
