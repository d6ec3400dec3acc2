"""The rules for workers that find no task, compiled: phases of rounds, sleep, and who wakes whom (model 4.15).

A round is the probes (looks at queues) of a searching worker from one wait to the next. A level is an entry of the
strategy's list of places to steal from. A slot is a queue of one task in front of a worker's own queue; it is hidden if
no level names it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

import numpy as np
import numpy.typing as npt

from numasim.parts.base import ps
from numasim.parts.models.idle_model import IdlePhase, IdleSpec, SearcherCap, SleepSpec
from numasim.schema.enumerations import (
    ASLEEP_MARK,
    NO_QUEUE,
    Anchor,
    CapRule,
    ChainRule,
    JoinKind,
    Pick,
    Reach,
    RecheckRule,
    Visit,
    WakeRule,
    WhomRule,
)
from numasim.strategy.steal_plan import Level, Row, Segment, StealPlan, decode_levels
from numasim.workload.builder import frozen

NEVER_PS = -1
BOUND_JOINS: frozenset[JoinKind] = frozenset({"own", "strict", "leapfrog"})  # the waiting worker takes only some tasks
# picks that probe one queue after the other
IN_TURN = frozenset({Pick.IN_ORDER, Pick.ROTATE, Pick.PERMUTATION, Pick.ROUND_ROBIN, Pick.AFTER_LAST})


@dataclass(frozen=True)
class Phase:
    """A phase of fruitless rounds: ``rounds`` of them, or, if that is 0, the rounds of ``for_ps``.

    ``wait_ps`` follows each round. ``naps``: the worker sleeps during the wait. ``yields``: a thread of the task
    runtime yields its core during the wait, which makes no difference in a simulation. ``crowded``: the wait is
    multiplied by S / log2(S), for S searching workers.
    """

    rounds: int
    for_ps: int
    wait_ps: int
    naps: bool
    yields: bool
    crowded: bool


@dataclass(frozen=True, eq=False)
class Idle:
    """The rules for a worker that finds no task.

    A worker may search while fewer workers search than ``cap_of`` says: ``cap`` workers, or a ``cap``-th of all or of
    the busy workers; ``cap`` 0 is no bound. ``recheck`` says how a worker looks again before it sleeps. ``first_ps`` is
    the time after which a sleep ends by itself (0: never), ``factor`` and ``max_ps`` the growth and the bound of later
    such times. ``at`` says which events wake a sleeper, ``whom`` which one, and ``chain_by`` which workers, once they
    end their search, wake ``chain`` more. ``counted``: a woken worker counts as searching at once; ``cancels``: one
    woken before it sleeps searches on; ``missed``: a probe that finds a queue locked wakes a worker. ``between_ps`` is
    the time after which a worker without a part in a serial phase sleeps, or `NEVER_PS`. ``reach`` [1 + steal levels,
    queues, workers] says whether each worker can take from each queue as its own, then by each level (`Reach`); it is
    empty if every worker that searches can always take from all queues.
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
    missed: bool
    between_ps: int
    reach: npt.NDArray[np.uint8]


def compile_idle(spec: IdleSpec | None, plan: StealPlan, join: JoinKind) -> Idle | None:
    """Return the compiled rules of ``spec`` for joins of a kind, or None if there are no rules."""
    if spec is None:
        return None
    sleep = spec.sleep if isinstance(spec.sleep, SleepSpec) else SleepSpec()
    cap, cap_of = _cap(spec.searchers) if isinstance(spec.searchers, SearcherCap) else (0, "count")
    first_ps = ps(sleep.first_ns) if sleep.first_ns is not None else 0
    reach = _reach(plan)
    everybody = _takes_all(plan, reach) and join not in BOUND_JOINS
    finds_all = everybody and _rounds_are_complete(plan)
    return Idle(
        phases=tuple(map(_phase, spec.phases)),
        cap=cap,
        cap_of=cap_of,
        sleeps=isinstance(spec.sleep, SleepSpec),
        recheck="each" if sleep.recheck == "events" and not finds_all else sleep.recheck,
        first_ps=first_ps,
        factor=sleep.factor,
        max_ps=ps(sleep.max_ns) if sleep.max_ns is not None else first_ps,
        at=spec.wake.at,
        whom=spec.wake.whom,
        chain=spec.wake.chain,
        chain_by=spec.wake.chain_by,
        counted=spec.wake.counted,
        cancels=spec.wake.cancel,
        missed=spec.wake.missed,
        between_ps=NEVER_PS if spec.between_ns == "never" else ps(spec.between_ns),
        reach=frozen(np.zeros((0, 0, 0), np.uint8) if everybody else reach),
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
    """Return [1 + steal levels, queues, workers] the `Reach` of workers by their own queues and slots, then by levels.

    A queue counts as within reach if any row of the level names it, also if the rows are those of objects that change
    during a run, such as the last victim. Levels that are probed only between tasks do not count.
    """
    levels = decode_levels(plan)[0]
    sure = [level.index for level in _sure_levels(plan)]
    reach = np.zeros((1 + len(levels), len(plan.queues), plan.workers), np.uint8)
    for worker, own in enumerate(plan.own.tolist()):
        if own != NO_QUEUE:
            reach[0, own, worker] = Reach.ALWAYS
        reach[0, plan.slots & (plan.queues["owner"] == worker), worker] = Reach.ALWAYS
        for level in (each for each in levels if not each.every):
            mine = reach[1 + level.index, :, worker]
            segments = [segment for row in _rows(level, worker) for group in row.groups for segment in group]
            for segment in segments:
                mine[list(segment)] = Reach.SOMETIMES
            for segment in segments if level.index in sure else ():
                mine[list(_found(level, segment))] = Reach.ALWAYS
    return reach


def _sure_levels(plan: StealPlan) -> list[Level]:
    """Return the steal levels by which a worker, while the level is in force, can take any task in the level's queues.

    Such a level has no condition, except ``awake`` (the owner is awake) if owners alone fill their queues: the queue of
    a worker that sleeps is then empty. It leaves no task, has no gate, searches from the worker itself, and does not
    stand behind a level with a chance, since such a level may end the round.
    """
    certain = takewhile(lambda level: level.chance < 0, decode_levels(plan)[0])
    awake = {at for at, bounds in enumerate(plan.watch.tolist()) if bounds[0] == ASLEEP_MARK and _owners_fill(plan)}
    return [
        level
        for level in certain
        if not level.every
        and (level.watch < 0 or level.watch in awake)
        and not level.leave
        and not level.gated
        and level.anchor in (Anchor.ALL, Anchor.ME)
    ]


def _owners_fill(plan: StealPlan) -> bool:
    """Return whether dispatch rules let no worker put a task into another worker's own queue or slot."""
    of_workers = {*plan.own.tolist(), *plan.slots.nonzero()[0].tolist()}
    owner = plan.queues["owner"]
    for rule in decode_levels(plan)[1]:
        for position in range(rule.anchors):
            named = {q for group in rule.row(position).groups for segment in group for q in segment} & of_workers
            if named and (rule.anchor is not Anchor.ME or any(owner[q] != position for q in named)):
                return False
    return True


def _takes_all(plan: StealPlan, reach: npt.NDArray[np.uint8]) -> bool:
    """Return whether every worker can always take from all queues but hidden slots (which wake nobody)."""
    always = [0, *(1 + level.index for level in decode_levels(plan)[0] if level.is_always)]
    return bool((reach[always] == Reach.ALWAYS).any(axis=0)[plan.queues["hidden"] == 0].all())


def _found(level: Level, segment: Segment) -> Segment:
    """Return the queues of a segment (candidates of a level) that must be empty if enough rounds find nothing there."""
    if level.pick is Pick.IN_ORDER:
        return segment[: level.tries]
    if level.pick is Pick.SHORTEST:
        return segment if len(segment) == 1 or level.sample < len(segment) else ()
    by_turns = level.pick in (Pick.AFTER_LAST, Pick.ROUND_ROBIN)
    return () if by_turns and level.tries < len(segment) else segment


def _rounds_are_complete(plan: StealPlan) -> bool:
    """Return whether each worker probes every queue but its own and hidden slots in each round, and takes what is
    there: by levels that are sure (`_sure_levels`), always in force, and probe all their queues in turn.
    """
    levels = [level for level in _sure_levels(plan) if level.is_always]
    for worker, own in enumerate(plan.own.tolist()):
        seen = {own, *plan.queues["hidden"].nonzero()[0].tolist()}
        for level in levels:
            groups = level.row_of(0 if level.anchor is Anchor.ALL else worker, worker).groups
            for segment in (segment for group in groups for segment in group if level.visit is Visit.NEAREST):
                if len(segment) == 1 or (level.pick in IN_TURN and level.tries >= len(segment)):
                    seen.update(segment)
        if len(seen - {NO_QUEUE}) < len(plan.queues):
            return False
    return True


def _rows(level: Level, worker: int) -> list[Row]:
    if level.anchor is Anchor.ME:
        return [level.row_of(worker, worker)]
    count = level.anchors - (level._plan.workers if level.heads else 0)
    return [level.row_of(anchor, worker) for anchor in range(count)]
