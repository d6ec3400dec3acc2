"""Which workers have a helper thread, how far it runs ahead and what it costs (model 4.11).

A helper needs an idle core of its worker's node that shares the last-level cache with it. Of the workers there, those
with the lowest ids have one each, as far as the cores last.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from numasim.errors import InputError
from numasim.machine.topology import Machine, WorkerMap
from numasim.parts.base import ppm, ps
from numasim.parts.models.strategy_model import StrategySpec
from numasim.workload.graph import Op, Workload

JOINING = {
    Op.WAIT: "waits for children",
    Op.END_GROUP: "waits for groups",
    Op.CALL: "calls others",
    Op.BARRIER: "waits at a barrier",
    Op.AWAIT: "waits for conditions",
}


@dataclass(frozen=True)
class Helpers:
    """``has[w]`` is whether worker w has one; times in picoseconds, ``work_ppm`` of a unit's computing is its own."""

    has: tuple[bool, ...]
    lifespan_bytes: int
    work_ppm: int
    start_ps: int
    restart_ps: int


def helpers_of(strategy: StrategySpec, machine: Machine, workers: WorkerMap, work: Workload) -> Helpers | None:
    """The helpers of a run, or None where no worker has one; they also need caches (`completed`).

    Raises InputError where the program is none of units that a worker executes one after the other.
    """
    spec = strategy.helpers
    if spec is None:
        return None
    _check(work)
    has = tuple(_has_helper(machine, workers))
    if not (spec.lifespan and any(has) and len(work.accesses)):
        return None
    return Helpers(has, spec.lifespan, ppm(spec.work), ps(spec.start_ns), ps(spec.restart_ns))


def _has_helper(machine: Machine, workers: WorkerMap) -> list[bool]:
    """[workers] whether an idle core is left for each."""
    busy = set(workers.core.tolist())
    places = list(zip(machine.node_of_core.tolist(), machine.llc_of_core.tolist(), strict=True))
    idle = Counter(place for core, place in enumerate(places) if core not in busy)
    found = []
    for core in workers.core.tolist():
        place = places[core]
        has = idle[place] > 0 and machine.llc_bytes_of_domain[place[1]] > 0
        idle[place] -= has
        found.append(has)
    return found


def _check(work: Workload) -> None:
    codes = set(work.op_code.tolist())
    what = next((what for op, what in JOINING.items() if op in codes), "has a range" if work.ranges else None)
    if what is not None:
        raise InputError(
            f"helpers run ahead through units that a worker executes one after the other, but the program {what}",
            path=("strategy", "helpers"),
            expected="tasks that spawn others but do not wait for them, such as a worklist; or no helpers",
        )
