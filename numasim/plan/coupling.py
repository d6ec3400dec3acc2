"""Whether a plan is coupled: whether the duration of work may depend on other workers or on the past of the run, by
caches, bandwidth, shared cores, clocks or random deviations.

A segment is a part of a task that computes and accesses memory. If the plan is not coupled, the duration of a segment
follows from the worker's node (`numasim.plan.segment_times`). Otherwise it is computed at run time by a flow-level
model (`numasim.engine.reference.memory.flows`). A range is many similar tasks, its items, by one rule (a family).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from numasim.parts.unit_factors import MILLION, PS_PER_S
from numasim.plan.effects import Effects, noise_ppm
from numasim.plan.item_prices import ItemPrices, item_prices, seats_of
from numasim.plan.plan import Plan
from numasim.plan.resources import resources_of


def coupled(plan: Plan) -> bool:
    """Return whether ``plan`` is coupled."""
    return any(effect(plan) for effect in EFFECTS)


def _memory(plan: Plan) -> bool:
    effects = plan.effects
    changed = effects.cache != "none" or effects.contention != "none" or effects.queueing != "none"
    return plan.workload.moves_bytes and (changed or (effects.overlap_ppm, effects.mlp_ppm) != (MILLION, MILLION))


def _address_space(plan: Plan) -> bool:
    """Return whether page faults may wait for each other."""
    return plan.effects.contention != "none" and plan.costs.faults_per_s > 0 and bool(plan.placement.dynamic.any())


def _shared_cores(plan: Plan) -> bool:
    smt = plan.machine.smt
    slows = plan.effects.smt != "none" and min(smt.busy_ppm, smt.poll_ppm) < MILLION
    return slows and len(set(plan.workers.core.tolist())) < plan.workers.workers


def priced_by_events(plan: Plan) -> bool:
    """Return whether the waits of a segment depend on the bytes that other segments have moved or move meanwhile, by
    caches, queues of controllers or page faults; for contention see `may_be_scarce`. Waits of items never do so.
    """
    effects = plan.effects
    cached = effects.cache != "none" and len(plan.workload.accesses) > 0
    return cached or (effects.queueing != "none" and plan.workload.moves_bytes) or _address_space(plan)


def noisy(plan: Plan) -> bool:
    """Return whether the times of tasks or the speeds of workers have random deviations."""
    return plan.effects.task_noise_ppm > 0 or plan.effects.worker_spread_ppm > 0


EFFECTS: tuple[Callable[[Plan], bool], ...] = (
    _memory,
    _address_space,
    # items that fault or give back memory keep other threads out of the address space
    lambda plan: any(family.changes_pages for family in plan.workload.ranges),
    _shared_cores,
    lambda plan: plan.effects.clock == "turbo" and len(plan.machine.clock.active) > 0,
    lambda plan: bool((plan.machine.speed_of_core[plan.workers.core] < MILLION).any()),  # slower cores
    noisy,
)


# ---- Whether resources (controllers, links, caches, ...) can ever be scarce; if not, contention has no effect --------
#
# A worker that executes items of a family demands, per second, the mean item's use of a resource over the mean item's
# time on this worker (model 2.5), rounded down. No worker is faster than a worker alone on its core at the highest
# clock, with the largest spread of speeds. The demand of a worker on a resource is therefore at most the demand at this
# highest speed, for the family that uses the resource most; a worker executes one item at a time. If the sum of these
# demands over all workers is at most the capacity of every resource, then
#
#     level = (capacity * 2**48) div asked >= 2**48
#
# for every set of simultaneous demands: no resource holds any worker back (model 2.9), as without contention.
#
# The demands of segments of tasks are not bounded here: they depend on the contents of caches, and pages may move.

HIGHEST_DRAW = (1 << 64) - 1


def may_be_scarce(plan: Plan) -> bool:
    """Return whether workers of ``plan`` may demand more than the capacity of a resource; False if certain."""
    if plan.effects.contention == "none":
        return False
    if len(plan.workload.accesses) or plan.placement.settled is None:
        return True
    resources = resources_of(plan)
    capacity = list(resources.capacity)
    faults, nodes = resources.faults, len(set(plan.workers.node.tolist()))
    if faults >= 0:
        capacity[faults] = resources.faults_capacity(nodes)
    return any(units_per_s > capacity[resource] for resource, units_per_s in most_asked(plan).items())


def most_asked(plan: Plan) -> Counter[int]:
    """Return {resource: units per second} what all workers together demand at most while they run items of ranges; the
    homes of all pages have to be known before the run.
    """
    assert plan.placement.settled is not None
    prices = item_prices(plan, plan.placement.settled)
    asked = Counter[int]()
    for seat, workers in Counter(seats_of(plan.workers)).items():
        for resource, units_per_s in _most_of_one(plan.effects, prices[seat]).items():
            asked[resource] += workers * units_per_s
    return asked


def _most_of_one(effects: Effects, families: Sequence[ItemPrices]) -> Counter[int]:
    """Return {resource: units per second} what one worker demands at most while it runs items of ``families``."""
    most = Counter[int]()
    fastest_ppm = MILLION + noise_ppm(HIGHEST_DRAW, effects.worker_spread_ppm)
    for family in families:
        times_ps = (family.mean.compute_ps, family.mean.wait_ps)
        compute_ps, wait_ps = (-(-each * MILLION // fastest_ppm) for each in times_ps)
        shortest_ps = effects.combined_ps(compute_ps, wait_ps) + family.mean.fault_ps
        for resource, units in family.mean.units.items():
            most[resource] = max(most[resource], units * PS_PER_S // shortest_ps if shortest_ps else 0)
    return most
