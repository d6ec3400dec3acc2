"""The rules for workers that find no task, compiled: phases of rounds, sleep, and who wakes whom (model 4.15)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from numasim.parts.base import ps
from numasim.parts.models.idle_model import IdlePhase, IdleSpec, SearcherCap, SleepSpec
from numasim.schema.enumerations import (
    NO_QUEUE,
    Anchor,
    CapRule,
    ChainRule,
    Pick,
    RecheckRule,
    Visit,
    WakeRule,
    WhomRule,
)
from numasim.strategy.steal_plan import Level, Row, StealPlan, decode_levels
from numasim.workload.builder import frozen

NEVER_PS = -1
IN_TURN = frozenset({Pick.IN_ORDER, Pick.ROTATE, Pick.ROUND_ROBIN, Pick.AFTER_LAST})


@dataclass(frozen=True)
class Phase:
    """A phase of fruitless rounds: ``rounds`` of them, or, if that is 0, the rounds of ``for_ps``.

    ``wait_ps`` follows each round. ``naps``: the worker is off its core meanwhile. ``yields``: a thread yields its core
    meanwhile, which makes no difference in a simulation. ``crowded``: the wait grows with the number S of searching
    workers, by S / log2(S).
    """

    rounds: int
    for_ps: int
    wait_ps: int
    naps: bool
    yields: bool
    crowded: bool


@dataclass(frozen=True, eq=False)
class Idle:
    """What a worker does that finds no task.

    A worker may search while fewer workers search than ``cap_of`` says: ``cap`` workers, or a ``cap``-th of all or of
    the busy workers; ``cap`` 0 is no bound. ``first_ps`` is the time after which a sleep ends by itself (0: never),
    ``factor`` and ``max_ps`` the growth and the bound of later such times. ``between_ps`` is `NEVER_PS`, or the time
    after which a worker without a part in a serial phase sleeps. ``reach`` [queues, workers] says which workers can
    take from each queue; empty if all workers can take from all queues.
    """

    phases: tuple[Phase, ...]
    cap: int
    cap_of: CapRule
    sleeps: bool
    recheck: RecheckRule
    first_ps: int
    factor: int
    max_ps: int
    at: WakeRule
    whom: WhomRule
    chain: int
    chain_by: ChainRule
    counted: bool
    cancels: bool
    between_ps: int
    reach: npt.NDArray[np.uint8]


def compile_idle(spec: IdleSpec | None, plan: StealPlan) -> Idle | None:
    """Return the compiled rules of ``spec``, or None if there are none."""
    if spec is None:
        return None
    sleep = spec.sleep if isinstance(spec.sleep, SleepSpec) else SleepSpec()
    cap, cap_of = _cap(spec.searchers) if isinstance(spec.searchers, SearcherCap) else (0, "count")
    first_ps = ps(sleep.first_ns) if sleep.first_ns is not None else 0
    reach = _reach(plan)
    return Idle(
        phases=tuple(map(_phase, spec.phases)),
        cap=cap,
        cap_of=cap_of,
        sleeps=isinstance(spec.sleep, SleepSpec),
        recheck="each" if sleep.recheck == "events" and not _rounds_are_complete(plan, reach) else sleep.recheck,
        first_ps=first_ps,
        factor=sleep.factor,
        max_ps=ps(sleep.max_ns) if sleep.max_ns is not None else first_ps,
        at=spec.wake.at,
        whom=spec.wake.whom,
        chain=spec.wake.chain,
        chain_by=spec.wake.chain_by,
        counted=spec.wake.counted,
        cancels=spec.wake.cancel,
        between_ps=NEVER_PS if spec.between_ns == "never" else ps(spec.between_ns),
        reach=frozen(np.zeros((0, 0), np.uint8) if reach.all() else reach),
    )


def _phase(spec: IdlePhase) -> Phase:
    return Phase(
        rounds=spec.rounds or 0,
        for_ps=ps(spec.for_ns) if spec.for_ns is not None else 0,
        wait_ps=ps(spec.wait_ns),
        naps=spec.nap_ns is not None,
        yields=spec.yield_ns is not None,
        crowded=spec.crowded,
    )


def _cap(spec: SearcherCap) -> tuple[int, CapRule]:
    if spec.count is not None:
        return spec.count, "count"
    return (spec.share, "share") if spec.share is not None else (spec.busy_share or 0, "busy-share")


def _reach(plan: StealPlan) -> npt.NDArray[np.uint8]:
    """Return [queues, workers] whether each worker has a level that may take from each queue.

    A level whose row depends on the past, such as the last victim, counts with all its rows.
    """
    reach = np.zeros((len(plan.queues), plan.workers), np.uint8)
    for worker, own in enumerate(plan.own.tolist()):
        if own != NO_QUEUE:
            reach[own, worker] = 1
        for level in decode_levels(plan)[0]:
            for row in _rows(level, worker):
                for group in row.groups:
                    for segment in group:
                        reach[list(segment), worker] = 1
    return reach


def _rounds_are_complete(plan: StealPlan, reach: npt.NDArray[np.uint8]) -> bool:
    """Return whether each worker can take from all queues, and comes to every other queue in each round.

    A level counts if it is in force all the time, without conditions, and asks all queues of its segments in turn.
    """
    if not reach.all():
        return False
    levels = [
        level
        for level in decode_levels(plan)[0]
        if level.is_always and level.watch < 0 and level.chance < 0 and level.anchor in (Anchor.ALL, Anchor.ME)
    ]
    for worker, own in enumerate(plan.own.tolist()):
        seen = {own}
        for level in levels:
            groups = level.row_of(0 if level.anchor is Anchor.ALL else worker, worker).groups
            for segment in (segment for group in groups for segment in group if level.visit is Visit.NEAREST):
                if len(segment) == 1 or (level.pick in IN_TURN and level.tries >= len(segment)):
                    seen.update(segment)
        if len(seen - {NO_QUEUE}) < len(reach):
            return False
    return True


def _rows(level: Level, worker: int) -> list[Row]:
    if level.anchor is Anchor.ME:
        return [level.row_of(worker, worker)]
    count = level.anchors - (level._plan.workers if level.heads else 0)
    return [level.row_of(anchor, worker) for anchor in range(count)]
