"""The serial time of a plan's workload: all of it on worker 0 alone, every byte local, no overhead (model 6).

Where durations follow from the declared bytes alone, it is a sum. With caches they depend on the order of execution:
then one worker runs the graph, depth first, and only ranges are summed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from functools import lru_cache

import numpy as np

from numasim.machine.topology import WorkerMap
from numasim.parts.models.placement_model import PlacementSpec
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.unit_factors import MILLION
from numasim.plan.effects import Effects
from numasim.plan.plan import Costs, Plan
from numasim.strategy.compile_strategy import compile_strategy
from numasim.strategy.placement.compile_placement import place
from numasim.strategy.sync_places import place_words
from numasim.workload.forest_arrays import offsets
from numasim.workload.graph import FIRST_SHARED, RangeFamily, Workload
from numasim.workload.one_worker import serial_ps as declared_serial_ps

Makespan = Callable[[Plan], int]

NO_COSTS = replace(Costs(**dict.fromkeys((each.name for each in fields(Costs)), 0)), line=False)  # type: ignore[arg-type]
DEPTH_FIRST = {"name": "serial", "spawn": "work-first", "steal": [{"from": "others"}]}


def serial_ps(plan: Plan, work_ps: int, makespan_ps: Makespan) -> int:
    """Serial time in picoseconds; ``work_ps`` is the local work of the present run, ``makespan_ps`` runs a plan."""
    if not _known_beforehand(plan):
        return _alone_ps(_Program(plan), makespan_ps)
    local_ps = np.diag(plan.machine.latency_ps)[plan.workers.node]
    if (local_ps == local_ps[0]).all() or not _moves_bytes(plan.workload):
        return work_ps  # local work takes equally long on every worker
    return declared_serial_ps(plan.workload, int(local_ps[0]), seed=plan.seed)


def _moves_bytes(work: Workload) -> bool:
    return len(work.accesses) > 0 or any(len(family.accesses) for family in work.ranges)


def _known_beforehand(plan: Plan) -> bool:
    effects = plan.effects
    plain = effects.cache == "none" and (effects.overlap_ppm, effects.mlp_ppm) == (MILLION, MILLION)
    return not plan.coupled or ((plain or not _moves_bytes(plan.workload)) and not effects.task_noise_ppm)


class _Program:
    """The parts of a plan that determine its serial time; equal for plans of the same program on the same machine."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        effects = plan.effects
        seed = plan.seed if effects.task_noise_ppm or plan.workload.ranges else 0
        parts = (id(plan.workload), id(plan.machine), int(plan.workers.thread[0]), seed)
        self._key = (*parts, effects.cache, effects.overlap_ppm, effects.mlp_ppm, effects.task_noise_ppm)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Program) and self._key == other._key


@lru_cache(maxsize=16)
def _alone_ps(program: _Program, makespan_ps: Makespan) -> int:
    plan = alone(program.plan)
    total = makespan_ps(plan) if any(phase.roots for phase in plan.workload.phases) else 0
    work = program.plan.workload
    for phase in work.phases:
        if phase.range_family is not None:
            total += phase.repeat * _range_ps(plan, work.ranges[phase.range_family])
    return total


def alone(plan: Plan) -> Plan:
    """The same graph on worker 0 alone, depth first, without overhead and synchronisation, all bytes local."""
    first = WorkerMap(*(getattr(plan.workers, name)[:1] for name in ("thread", "core", "llc", "node", "socket")))
    strategy = StrategySpec.model_validate(DEPTH_FIRST)
    local = PlacementSpec(policy="bind", node=int(first.node[0]))
    effects, work = plan.effects, _graph_alone(plan.workload)
    steal = compile_strategy(strategy, RuntimeSpec(), plan.machine, first)
    return replace(
        plan,
        workers=first,
        workload=work,
        steal=steal,
        words=place_words(strategy, steal, first, work.words),
        placement=place(local, plan.machine, first, work),
        costs=NO_COSTS,
        join="continuation",
        producer="none",
        poll_ps=0,
        effects=Effects(
            cache=effects.cache,
            overlap_ppm=effects.overlap_ppm,
            mlp_ppm=effects.mlp_ppm,
            task_noise_ppm=effects.task_noise_ppm,
        ),
    )


def _graph_alone(work: Workload) -> Workload:
    """The tasks of a program without its ranges and its synchronisation ops."""
    kept = work.op_code < FIRST_SHARED
    return replace(
        work,
        phases=tuple(replace(phase, range_family=None) for phase in work.phases),
        ranges=(),
        op_ptr=offsets(kept)[work.op_ptr],
        op_code=work.op_code[kept],
        op_arg=work.op_arg[kept],
        words=(),
    )


def _range_ps(plan: Plan, family: RangeFamily) -> int:
    from numasim.plan.item_prices import ItemPrices, Seat
    from numasim.plan.resources import resources_of

    seat = Seat(int(plan.workers.node[0]), int(plan.workers.llc[0]), 1)
    return ItemPrices(plan, resources_of(plan), family, seat).local_sum_ps()
