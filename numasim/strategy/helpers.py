"""Helper threads, which prefetch for a worker: which workers have a helper, and the costs of helpers (model 4.11).

A helper needs a core without a worker, on its worker's node, that shares the last-level cache with the worker. The
workers with the lowest ids get these cores, one core each.
"""

from __future__ import annotations

from collections import Counter

from numasim.frozen import Frozen
from numasim.machine.topology import Machine, WorkerMap
from numasim.parts.base import ppm, ps
from numasim.parts.models.strategy_model import StrategySpec
from numasim.workload.graph import Op, Workload

JOINING = {Op.WAIT, Op.END_GROUP, Op.CALL, Op.BARRIER, Op.AWAIT}  # ops at which a task waits for other tasks


class Helpers(Frozen):
    """The helpers of a run."""

    has: tuple[bool, ...]  # [workers] whether the worker has a helper
    lifespan_bytes: int  # a helper prefetches at most so many bytes for a task
    work_ppm: int  # part, in ppm, of a task's computing that the helper does, too, before the worker
    start_ps: int  # overhead of the worker at the begin of a phase
    restart_ps: int  # overhead of the worker as its transaction aborts


def helpers_of(strategy: StrategySpec, machine: Machine, workers: WorkerMap, work: Workload) -> Helpers | None:
    """Return the helpers of a run, or None if no worker has a helper.

    Helpers need a program without ranges whose tasks never wait for other tasks, such as a worklist.
    """
    spec = strategy.helpers
    if spec is None or work.ranges or not JOINING.isdisjoint(work.op_code.tolist()):
        return None
    has = tuple(_has_helper(machine, workers))
    if not (spec.lifespan and any(has) and len(work.accesses)):
        return None
    return Helpers(has, spec.lifespan, ppm(spec.work), ps(spec.start_ns), ps(spec.restart_ns))


def _has_helper(machine: Machine, workers: WorkerMap) -> list[bool]:
    """Return [workers] whether an idle core is left for the worker's helper."""
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
