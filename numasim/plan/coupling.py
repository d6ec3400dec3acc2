"""Whether anything but steals couples the workers of a run: caches, bandwidth, shared cores, clocks, slow cores, noise.

Where nothing does, the duration of a segment depends on its node alone and is known before the run
(`numasim.plan.segment_times`); elsewhere segment durations are computed at run time by a flow-level model
(`numasim.engine.reference.memory.flows`). It is a property of the plan, so that all engines agree.
"""

from __future__ import annotations

from collections.abc import Callable

from numasim.parts.unit_factors import MILLION
from numasim.plan.plan import Plan


def coupled(plan: Plan) -> bool:
    """Whether segment durations are computed at run time."""
    return any(effect(plan) for effect in EFFECTS)


def _moves_bytes(plan: Plan) -> bool:
    work = plan.workload
    return len(work.accesses) > 0 or any(family.moves_bytes for family in work.ranges)


def _memory(plan: Plan) -> bool:
    effects = plan.effects
    changed = effects.cache != "none" or effects.contention != "none" or effects.queueing != "none"
    return _moves_bytes(plan) and (changed or (effects.overlap_ppm, effects.mlp_ppm) != (MILLION, MILLION))


def _address_space(plan: Plan) -> bool:
    """Page faults may wait for each other."""
    return plan.effects.contention != "none" and plan.costs.faults_per_s > 0 and bool(plan.placement.dynamic.any())


def _pages_of_items(plan: Plan) -> bool:
    """Items fault or give back memory, which keeps others out of the address space."""
    return any(family.changes_pages for family in plan.workload.ranges)


def _shared_cores(plan: Plan) -> bool:
    smt = plan.machine.smt
    slows = plan.effects.smt != "none" and min(smt.busy_ppm, smt.poll_ppm) < MILLION
    return slows and len(set(plan.workers.core.tolist())) < plan.workers.workers


def _clock(plan: Plan) -> bool:
    return plan.effects.clock == "turbo" and len(plan.machine.clock.active) > 0


def _kinds_of_cores(plan: Plan) -> bool:
    return bool((plan.machine.speed_of_core[plan.workers.core] < MILLION).any())


def _noise(plan: Plan) -> bool:
    return plan.effects.task_noise_ppm > 0 or plan.effects.worker_spread_ppm > 0


def priced_by_events(plan: Plan) -> bool:
    """Whether what work waits for depends on what other work has moved before, or on how much it moves meanwhile.

    The items of ranges have prices in closed form, so that caches alone do not change them (model 1.8). Whether
    contention has any effect is the question of `numasim.plan.scarcity`.
    """
    effects = plan.effects
    cached = effects.cache != "none" and len(plan.workload.accesses) > 0
    return cached or (effects.queueing != "none" and _moves_bytes(plan)) or _address_space(plan)


def noisy(plan: Plan) -> bool:
    """Whether times or speeds are drawn beyond what the program has."""
    return _noise(plan)


EFFECTS: tuple[Callable[[Plan], bool], ...] = (
    _memory,
    _address_space,
    _pages_of_items,
    _shared_cores,
    _clock,
    _kinds_of_cores,
    _noise,
)
