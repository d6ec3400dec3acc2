"""The features of a plan, such as "has transactions". Reports of tests count the plans that have each feature."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
from engine_setup import SEED, shipped_strategy
from random_graphs import Document
from random_recipes import RandomRun

from numasim.parts.models.placement_model import DistributionName, PageRule
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.models.strategy_terms import BarrierName, LockName, UnitName
from numasim.plan.effects import Effects
from numasim.plan.plan import Plan
from numasim.plan.resources import holds_lock
from numasim.schema.enumerations import ALL32, FLAG_OWN_FIRST, FLAG_TIERS, NONE8, Anchor, Full, Tier
from numasim.strategy.control.task_control import label_unit
from numasim.strategy.placement.compile_placement import Placement
from numasim.workload.graph import Op, RangeFamily
from numasim.workload.sync_parameters import Role


def features(random: RandomRun) -> Iterator[tuple[str, str]]:
    """Yield (kind, value) pairs of a plan, such as its strategy; reports of tests count the plans of each value."""
    plan, strategy = random.plan, random.recipe["strategy"]
    yield "join", plan.join
    yield "producer", plan.producer
    yield "skip", "may skip ahead" if plan.skipping else "auto" if plan.skip else "off"
    if plan.skipping and plan.coupled:
        yield "skip", "may skip ahead where speeds change"
    yield "strategy", strategy if isinstance(strategy, str) else strategy["name"]
    yield "program", random.recipe["workload"]["name"]
    yield "placement", plan.placement.spec.policy
    for effect in dataclasses.fields(Effects):
        value = getattr(plan.effects, effect.name)
        if value != effect.default:
            yield "effect", f"{effect.name} {value}" if isinstance(value, str) else effect.name
    for name in features_of(random):
        yield "with", name


def features_of(random: RandomRun) -> Iterator[str]:
    """Yield the names of all features in `FEATURES`, `LEARNING` and `DEALT` that a plan has."""
    yield from (name for name, has in (FEATURES | LEARNING).items() if has(random.plan))
    if len(random.plan.control.item_labels):
        spec = strategy_of(random.recipe)
        yield from (name for name, is_so in DEALT.items() if is_so(random.plan, spec))


def strategy_of(recipe: Document) -> StrategySpec:
    """Return the strategy of a recipe (plain data that determines a plan), which has the strategy or a shipped name."""
    given = recipe["strategy"]
    return shipped_strategy(given) if isinstance(given, str) else StrategySpec.model_validate(given)


def placement_of(plan: Plan) -> Placement:
    """Return the placement of a run."""
    return plan.placement.drawn(SEED)


def rules_of(plan: Plan) -> list[PageRule]:
    """Return the page policies of a plan in the order in which they come into force."""
    return [stage.rule for stage in placement_of(plan).stages]


def _moves_pages(plan: Plan) -> bool:
    return bool(plan.placement.dynamic[plan.workload.accesses.region].any())


def _is_full(plan: Plan) -> bool:
    capacity = placement_of(plan).capacity
    return capacity is not None and bool((capacity.free < len(plan.workload.regions)).any())


def _units(plan: Plan) -> list[int]:
    return [placement_of(plan).unit_pages(r) for r in np.flatnonzero(plan.placement.dynamic).tolist()]


FEATURES: dict[str, Callable[[Plan], bool]] = {
    "coupled workers": lambda plan: plan.coupled,
    "last-level caches": lambda plan: plan.coupled and plan.machine.caches.llc_bytes > 0,
    "caches that hand on clean lines": lambda plan: (
        plan.effects.cache != "none" and plan.machine.caches.forwards and plan.machine.cache_domains > 1
    ),
    "page faults that wait": lambda plan: plan.coupled and plan.costs.faults_per_s > 0,
    "calls": lambda plan: bool((plan.workload.op_code == Op.CALL).any()),
    "dependences": lambda plan: len(plan.workload.successor) > 0,
    "groups": lambda plan: plan.workload.groups,
    "first touch while running": lambda plan: bool(plan.placement.dynamic.any()),
    "pages that may migrate": lambda plan: _moves_pages(plan) and any(rule.migrates for rule in rules_of(plan)),
    "memory that is scanned": lambda plan: _moves_pages(plan) and any(rule.scan_period_ps for rule in rules_of(plan)),
    "placement that changes": lambda plan: _moves_pages(plan) and len(rules_of(plan)) > 1,
    "reads that place nothing": lambda plan: _moves_pages(plan) and not rules_of(plan)[0].reads_place,
    "memory that is full": _is_full,
    "pages decided one by one": lambda plan: _moves_pages(plan) and 1 in _units(plan),
    "ranges": lambda plan: len(plan.workload.ranges) > 0,
    "ragged ranges": lambda plan: any(
        family.compute or family.node_accesses or family.fresh or family.freed for family in plan.workload.ranges
    ),
    "ranges of unlike times": lambda plan: any(family.compute for family in plan.workload.ranges),
    "ranges with bytes on nodes": lambda plan: any(family.node_accesses for family in plan.workload.ranges),
    "ranges that touch fresh memory": lambda plan: any(family.fresh for family in plan.workload.ranges),
    "ranges that give memory back": lambda plan: any(family.freed for family in plan.workload.ranges),
    "ranges that give memory back where it is": lambda plan: any(
        access.returned_ppm for family in plan.workload.ranges for access in family.node_accesses
    ),
    "giving back memory takes time": holds_lock,
    "ranges with accesses": lambda plan: any(len(family.accesses) for family in plan.workload.ranges),
    "repeated phases": lambda plan: any(phase.repeat > 1 for phase in plan.workload.phases),
    "loops over several phases": lambda plan: any(loop.end - loop.first > 1 for loop in plan.workload.loops),
    "several phases": lambda plan: len(plan.workload.phases) > 1,
    "serial phases": lambda plan: any(phase.serial for phase in plan.workload.phases),
    "work-first": lambda plan: plan.steal.work_first,
    "refill": lambda plan: plan.steal.refill != 0,
    "chances": lambda plan: len(plan.steal.chance) > 0,
    "watches": lambda plan: len(plan.steal.watch) > 0,
    "bounded queues": lambda plan: bool(plan.steal.queues["capacity"].any()),
    "shared queues": lambda plan: not np.array_equal(np.sort(plan.steal.own), np.arange(len(plan.steal.queues))),
    "back-off after probes": lambda plan: plan.steal.backoff.after == "probe",
    "slots": lambda plan: bool(plan.steal.slots.any()),
    "slots that nobody steals from": lambda plan: bool(plan.steal.queues["hidden"].any()),
    "queues that spill": lambda plan: bool((plan.steal.queues["full"] > Full.DISPLACE).any()),
    "polls": lambda plan: plan.steal.polls,
    "yields between tasks": lambda plan: bool(plan.costs.yield_ps),
    "lines that move": lambda plan: plan.costs.line,
    "more than four workers": lambda plan: plan.workers.workers > 4,
    "more than 64 workers": lambda plan: plan.workers.workers > 64,
    "dispatch by data": lambda plan: plan.steal.looks_at_data,
    "dispatch by data that is placed while running": lambda plan: (
        plan.steal.looks_at_data and bool(plan.placement.dynamic[plan.workload.accesses.region].any())
    ),
    "dispatch by the data of items": lambda plan: (
        plan.steal.looks_at_data and any(len(family.accesses) for family in plan.workload.ranges)
    ),
    "attempts": lambda plan: bool((plan.workload.op_code == Op.BEGIN).any()),
    "followers": lambda plan: plan.helpers is not None,
    "folded programs": lambda plan: plan.workload.folded,
    "locks held in a search": lambda plan: len(plan.words.level_lock) > 0,
    "locked queues": lambda plan: len(plan.words.queue_lock) > 0,
    **{
        f"{role.name.lower()} words": lambda plan, role=role: any(word.role == role for word in plan.workload.words)
        for role in Role
    },
    **{
        f"locks of kind {kind}": lambda plan, kind=kind: plan.words.kind == kind and Role.LOCK in plan.words.role
        for kind in get_args(LockName)
    },
    **{
        f"barriers of kind {kind}": lambda plan, kind=kind: (
            plan.words.barrier == kind and Role.BARRIER in plan.words.role
        )
        for kind in get_args(BarrierName)
    },
}


def _steal_levels(plan: Plan) -> npt.NDArray[Any]:
    return plan.steal.level[: plan.steal.steal_levels]


def _rules(plan: Plan) -> npt.NDArray[Any]:
    return plan.steal.level[plan.steal.steal_levels :]


def _ask_for_iterations(levels: npt.NDArray[Any]) -> bool:
    return bool(((levels["first_iteration"] > 0) | (levels["last_iteration"] < ALL32)).any())


def _controller(plan: Plan) -> str | None:
    return None if plan.tuning is None else "Python" if plan.tuning.file else plan.tuning.name


LEARNING: dict[str, Callable[[Plan], bool]] = {  # features of programs that iterate, and of strategies for them
    "loops": lambda plan: len(plan.workload.loops) > 0,
    "nested loops": lambda plan: any(
        loop.first < around.end for around, loop in zip(plan.workload.loops, plan.workload.loops[1:], strict=False)
    ),
    "roots of several phases": lambda plan: (
        len(plan.workload.trees) < sum(len(phase.roots) for phase in plan.workload.phases)
    ),
    "tiers": lambda plan: len(plan.control.tiers) > 0,
    "labels": lambda plan: len(plan.control.labels) > 0,
    "rules to: label": lambda plan: bool((_rules(plan)["anchor"] == Anchor.LABEL).any()),
    "rules by tier": lambda plan: bool((_rules(plan)["flags"] & FLAG_TIERS).any()),
    "levels by iteration": lambda plan: _ask_for_iterations(_steal_levels(plan)),
    "rules by iteration": lambda plan: _ask_for_iterations(_rules(plan)),
    "levels by switch": lambda plan: bool((_steal_levels(plan)["toggle"] != NONE8).any()),
    "rules by switch": lambda plan: bool((_rules(plan)["toggle"] != NONE8).any()),
    "gated levels": lambda plan: plan.steal.counts_live,
    "gates behind own subtrees": lambda plan: bool((plan.steal.level["flags"] & FLAG_OWN_FIRST).any()),
    "copies": lambda plan: plan.steal.copies,
    "leapfrogging": lambda plan: plan.join == "leapfrog",
    "adaptive spawn order": lambda plan: plan.steal.adaptive is not None,
    "spawn order by tier": lambda plan: (
        plan.steal.adaptive is None and plan.steal.work_first_tiers not in (0, sum(Tier))
    ),
    "controllers": lambda plan: plan.tuning is not None,
    "controllers of Python": lambda plan: _controller(plan) == "Python",
    "controller fastest": lambda plan: _controller(plan) == "fastest",
    "controller packing": lambda plan: _controller(plan) == "packing",
    "policies that a controller chooses": lambda plan: plan.tuning is not None and bool(plan.tuning.program.placements),
    "profiling that takes time": lambda plan: plan.tuning is not None and plan.tuning.profile_ps > 0,
    "noise": lambda plan: plan.effects.task_noise_ppm > 0,
    "caches": lambda plan: plan.effects.cache != "none",
    "contention": lambda plan: plan.effects.contention != "none",
}

# Features of plans (and their strategies) whose items get labels from a distribution, which names a worker or unit.
DEALT: dict[str, Callable[[Plan, StrategySpec], bool]] = {
    **{
        f"items dealt by {name}": lambda plan, spec, name=name: spec.distribution.deal == name
        for name in get_args(DistributionName)
    },
    **{
        f"items dealt to a queue per {unit}": lambda plan, spec, unit=unit: label_unit(spec) == unit
        for unit in get_args(UnitName)
    },
    "items dealt to several units": lambda plan, spec: len(np.unique(plan.control.item_labels)) > 1,
    "items dealt in some time": lambda plan, spec: plan.control.dealing > 0,
    "items dealt with bytes on nodes": lambda plan, spec: any(f.node_accesses for f in plan.workload.ranges),
    "items dealt whose times are drawn": lambda plan, spec: any(_draws_times(f) for f in plan.workload.ranges),
    "items dealt again in loops": lambda plan, spec: len(plan.workload.loops) > 0,
    "items dealt to where nobody steals": lambda plan, spec: not spec.steal,
    "items dealt to locked queues": lambda plan, spec: any(
        spec.queues[name].lock for rule in spec.labelled_rules for name in spec.families(rule)
    ),
    "items dealt under controllers": lambda plan, spec: plan.tuning is not None,
}
NAMES = (*FEATURES, *LEARNING, *DEALT)


def _draws_times(family: RangeFamily) -> bool:
    return family.compute.drawn if family.compute else family.low_ps < family.high_ps
