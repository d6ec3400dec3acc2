"""The serial time of a workload: worker 0 executes all tasks, every byte is local, nothing costs overhead (model 6).

If the duration of each task follows from its declared bytes alone, the serial time is a sum. With caches, durations
depend on the order of execution: an engine then simulates the graph of tasks on one worker, depth first, and only
ranges (many similar tasks, their items, by one rule) are summed.
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
from numasim.plan.plan import Costs, Keyed, Plan, Run
from numasim.strategy.compile_strategy import compile_strategy
from numasim.strategy.control.task_control import NO_LABELS
from numasim.strategy.dealing import undealt
from numasim.strategy.placement.compile_placement import placement_rules
from numasim.strategy.sync_places import place_words
from numasim.workload.forest_arrays import offsets
from numasim.workload.graph import RangeFamily, Workload
from numasim.workload.one_worker import draws_durations
from numasim.workload.one_worker import serial_ps as declared_serial_ps

Makespan = Callable[[Run], int]

NO_COSTS = replace(Costs(**dict.fromkeys((each.name for each in fields(Costs)), 0)), line="no")  # type: ignore[arg-type]
ANY_SEED = 0  # the seed of a run that draws no durations
DEPTH_FIRST = {"name": "serial", "spawn": "work-first", "steal": [{"from": "others"}]}


def serial_ps(run: Run, work_ps: int, makespan_ps: Makespan) -> int:
    """Return the serial time in ps; ``work_ps`` is the run's work with all bytes local, ``makespan_ps`` simulates."""
    plan = run.plan
    work = undealt(plan.workload, plan.control.dealing)
    if not _known_beforehand(plan):
        # the parts of a plan that determine the serial time
        parts = (work, plan.machine, int(plan.workers.thread[0]), _effects_alone(plan.effects))
        drawn = plan.effects.task_noise_ppm > 0 or draws_durations(plan.workload)
        shared = Keyed(parts, replace(plan, workload=work))
        return _alone_ps(shared, run.seed if drawn else ANY_SEED, makespan_ps)
    local_ps = np.diag(plan.machine.latency_ps)[plan.workers.node]
    alike = bool((local_ps == local_ps[0]).all()) or not plan.workload.moves_bytes
    if alike and not plan.control.dealing:
        return work_ps  # local work takes equally long on every worker
    return declared_serial_ps(work, int(local_ps[0]), run.seed)


def _known_beforehand(plan: Plan) -> bool:
    effects = plan.effects
    plain = effects.cache == "none" and (effects.overlap_ppm, effects.mlp_ppm) == (MILLION, MILLION)
    return not plan.coupled or ((plain or not plan.workload.moves_bytes) and not effects.task_noise_ppm)


@lru_cache(maxsize=16)
def _alone_ps(shared: Keyed[Plan], seed: int, makespan_ps: Makespan) -> int:
    run, work = Run(_plan_alone(shared), seed), shared.value.workload
    total = makespan_ps(run) if any(phase.roots for phase in work.phases) else 0
    for phase, runs in zip(work.phases, work.runs, strict=True):
        if phase.range_family is not None:
            total += _range_ps(run, work.ranges[phase.range_family], runs)
    return total


@lru_cache(maxsize=2)
def _plan_alone(shared: Keyed[Plan]) -> Plan:
    return alone(shared.value)


def alone(plan: Plan) -> Plan:
    """Return the plan with the same graph on worker 0 alone, depth first, without ranges, overhead and synchronisation;
    all bytes are local, and the core is of the fastest kind.
    """
    first = WorkerMap(*(getattr(plan.workers, name)[:1] for name in ("thread", "core", "llc", "node", "socket")))
    strategy = StrategySpec.model_validate(DEPTH_FIRST)
    local = PlacementSpec(policy="bind", node=int(plan.machine.home_of_node[first.node[0]]))
    work = _graph_alone(plan.workload)
    steal = compile_strategy(strategy, RuntimeSpec(), plan.machine, first)
    fastest = np.full(plan.machine.cores, MILLION)
    return replace(
        plan,
        machine=replace(plan.machine, speed_of_core=fastest),
        workers=first,
        workload=work,
        control=replace(plan.control, item_labels=NO_LABELS, item_nodes=NO_LABELS),
        steal=steal,
        words=place_words(strategy, steal, plan.machine, first, work.words),
        placement=placement_rules(local, plan.machine, first, work),
        costs=NO_COSTS,
        join="continuation",
        producer="none",
        poll_ps=0,
        effects=_effects_alone(plan.effects),
        tuning=None,
        helpers=None,
        idle=None,
        skippable=False,  # depth first puts begun tasks into queues, with which no run can skip ahead
    )


def _effects_alone(effects: Effects) -> Effects:
    """Return those of ``effects`` that a worker without other workers has."""
    return Effects(
        cache=effects.cache,
        overlap_ppm=effects.overlap_ppm,
        mlp_ppm=effects.mlp_ppm,
        task_noise_ppm=effects.task_noise_ppm,
    )


def _graph_alone(work: Workload) -> Workload:
    kept = ~work.uses
    return replace(
        work,
        phases=tuple(replace(phase, range_family=None) for phase in work.phases),
        ranges=(),
        op_ptr=offsets(kept)[work.op_ptr],
        op_code=work.op_code[kept],
        op_arg=work.op_arg[kept],
        words=(),
    )


def _range_ps(run: Run, family: RangeFamily, turns: int) -> int:
    from numasim.plan.item_prices import ItemPrices, PricedItems, Seat
    from numasim.plan.resources import resources_of

    plan = run.plan
    seat = Seat(int(plan.workers.node[0]), int(plan.workers.llc[0]), 1)
    prices = ItemPrices(plan, run.placement, resources_of(plan), family, seat)
    items = PricedItems(plan, prices, family, run.seed)
    if not plan.effects.task_noise_ppm:
        return turns * items.local_sum_ps()
    total = 0
    for turn in range(turns):
        items.start_turn(turn)
        total += items.local_sum_ps()
    return total
