"""Compilation of a strategy, a runtime and the places of the workers to the tables that engines interpret.

A steal level is an entry of the strategy's list of places to steal from, a dispatch rule one of its list of choices of
a queue for a new task. An extra producer is a thread that makes tasks but executes none.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from numasim.errors import InputError
from numasim.machine.topology import Machine, WorkerMap
from numasim.parts.base import ppm, ps
from numasim.parts.models.runtime_model import BackoffSpec, FractionRule, RuntimeSpec
from numasim.parts.models.search_model import DispatchSpec
from numasim.parts.models.strategy_model import StrategySpec, ThresholdSpec
from numasim.parts.models.strategy_terms import LiveSpec
from numasim.schema.enumerations import EVERY_TIER, Anchor, Tier
from numasim.strategy.levels import LevelTable
from numasim.strategy.queue_families import Units, build_families, own_queues, queue_lines, queue_records
from numasim.strategy.steal_plan import Adaptive, Backoff, StealPlan, Thresholds, decode_levels
from numasim.workload.builder import frozen

# ---- The default dispatch rules, for a strategy and a runtime without rules ------------------------------------------
#
# A worker puts the tasks that it spawns into its own queue. An extra producer has no queue and deals its tasks to all
# queues in turn. With ``on_full: next`` (Vikranth's thesis, chapter 3) a worker whose queue is full does so, too.


def dispatch_rules(spec: StrategySpec, runtime: RuntimeSpec) -> list[tuple[DispatchSpec, bool]]:
    """Return the strategy's dispatch rules, else the default ones, each with whether it is the producer's alone."""
    if spec.dispatch is not None:
        return [(rule, False) for rule in spec.dispatch]
    rules = [(DispatchSpec.model_construct(target="own"), False)]
    if runtime.on_full == "next" or runtime.producer == "extra":
        around = DispatchSpec.model_construct(target="any", pick="round-robin")
        rules.append((around, runtime.on_full != "next"))
    return rules


def effective_runtime(spec: StrategySpec, runtime: RuntimeSpec) -> RuntimeSpec:
    """Return ``runtime`` with the join, the back-off and the rules for idle workers of the strategy, if it has them."""
    given = {"join": spec.join, "backoff": spec.backoff, "idle": spec.idle}
    return runtime.model_copy(update={key: value for key, value in given.items() if value is not None})


def compile_strategy(
    spec: StrategySpec, runtime: RuntimeSpec, machine: Machine, workers: WorkerMap, task_ps: int | None = None
) -> StealPlan:
    """Return ``spec`` compiled; ``task_ps`` is the mean duration of a task, None if it is unknown before a run: the
    first wait of a back-off with ``first_ns: task``.

    Raises InputError for a queue that tasks can enter but not leave, for a full queue whose half may find no room, and
    if an extra producer has no dispatch rule.
    """
    runtime = effective_runtime(spec, runtime)
    units = Units(machine, workers)
    families = build_families(spec, units)
    table = LevelTable(spec, machine, units, families)
    for level in spec.search:
        table.add_level(level)
    for rule, for_producer in dispatch_rules(spec, runtime):
        table.add_rule(rule, for_producer)
    rates = None if isinstance(spec.spawn, str) else spec.spawn.adaptive
    adaptive = Adaptive(rates.stack, rates.every, rates.steals, rates.first == "work-first") if rates else None
    # [workers] the unit of each worker by which gates count subtrees; numbered from 0 without gaps below
    gate_unit = workers.unit(spec.live.per if isinstance(spec.live, LiveSpec) else "machine")
    plan = StealPlan(
        name=spec.name,
        workers=workers.workers,
        steal_levels=len(spec.search),
        **table.arrays(),
        node=frozen(units.of["node"].astype(np.int32)),
        domains=frozen(np.flatnonzero(np.bincount(workers.node)).astype(np.int32)),
        latency_ps=machine.latency_ps,
        queues=frozen(queue_records(spec, runtime, units, families)),
        own=frozen(own_queues(spec, families, workers.workers)),
        lines=frozen(queue_lines(spec, families)),
        families=tuple(spec.queues),
        refill=None if spec.refill == "min" else int(spec.refill),
        work_first_tiers=_work_first_tiers(spec),
        adaptive=adaptive,
        thresholds=_thresholds(spec, runtime),
        backoff=_backoff(runtime.backoff, task_ps),
        gate=frozen(np.unique(gate_unit, return_inverse=True)[1].astype(np.int32)),
        live_most=spec.live.most if isinstance(spec.live, LiveSpec) else 0,
        switches=spec.switches,
    )
    _check_every_task_can_leave(plan)
    _check_spills_find_room(plan)
    if runtime.producer == "extra":
        _check_producer_can_dispatch(plan)
    return plan


def _work_first_tiers(spec: StrategySpec) -> int:
    if isinstance(spec.spawn, str):
        return EVERY_TIER if spec.spawn == "work-first" else 0
    if spec.spawn.adaptive is not None:
        return EVERY_TIER
    return sum(int(tier) for tier in Tier if getattr(spec.spawn, tier.name.lower()) == "work-first")


def _thresholds(spec: StrategySpec, runtime: RuntimeSpec) -> Thresholds:
    given = spec.thresholds if isinstance(spec.thresholds, ThresholdSpec) else ThresholdSpec()
    rule = given.rule or runtime.s_rule
    fraction = rule.fraction if isinstance(rule, FractionRule) else None
    return Thresholds(
        max_tasks=given.max if isinstance(given.max, int) else None,
        min_tasks=given.min if isinstance(given.min, int) else None,
        rule=rule if isinstance(rule, str) else "fraction",
        fraction_ppm=ppm(fraction) if fraction is not None else 0,
        when=given.when,
    )


def _backoff(spec: BackoffSpec, task_ps: int | None) -> Backoff:
    return Backoff(
        first_ps=task_ps if spec.first_ns == "task" else ps(spec.first_ns),
        factor=spec.factor,
        max_ps=None if spec.max_ns == "none" else ps(spec.max_ns),
        after=spec.after,
        empty=spec.empty,
    )


def _check_every_task_can_leave(plan: StealPlan) -> None:
    taken = np.zeros(len(plan.queues), bool)
    taken[plan.own[plan.own < len(taken)]] = True
    split = int(plan.seg[plan.row[plan.level["row"][plan.steal_levels]]])  # the first queue of a dispatch rule
    taken[plan.slots] = True
    for level, behind in pairwise(plan.level[: plan.steal_levels + 1]):
        # levels by LAST only return to queues of other levels; levels that are probed between tasks may never be
        if level["anchor"] != Anchor.LAST and not level["every"]:
            first, end = (int(plan.seg[plan.row[each["row"]]]) for each in (level, behind))
            taken[plan.queue[first:end]] = True
    filled = plan.queue[split:]
    lost = filled[~taken[filled]]
    if len(lost):
        queue = plan.queues[lost.min()]
        raise InputError(
            f"a task put into the {plan.families[queue['family']]} of worker {queue['owner']} would stay there, "
            "because no worker takes from it",
            path=("steal",),
            expected="a steal level that reaches every queue that dispatch fills",
        )


def _check_spills_find_room(plan: StealPlan) -> None:
    """Raise InputError if half of a full queue may find no room in the queues of later dispatch rules."""
    seg = plan.seg[plan.row[[*plan.level["row"][plan.steal_levels :], len(plan.row) - 1]]]
    rules = [plan.queue[first:end] for first, end in pairwise(seg.tolist())]
    for at, queues in enumerate(rules):
        spilling = queues[plan.spills[queues]]
        if len(spilling) and any(plan.queues["capacity"][later].any() for later in rules[at + 1 :]):
            family = plan.families[plan.queues["family"][spilling[0]]]
            raise InputError(
                f"half of a full {family} leaves it for the queues of later rules",
                path=("dispatch", at),
                expected="later rules whose queues have no capacity",
            )


def _check_producer_can_dispatch(plan: StealPlan) -> None:
    for rule in decode_levels(plan)[1]:
        if rule.anchor is Anchor.LABEL or rule.copies or not rule.is_always:
            continue
        asked = rule.data
        # the producer makes range items, which have no predecessor
        takes_items = asked is None or (asked.source and not (asked.looks or asked.uneven or asked.here))
        if takes_items and (rule.anchor is not Anchor.ME or rule.row(plan.workers).groups):
            return
    problem = "the runtime's extra producer has no queue of its own, so no dispatch rule finds a queue for its tasks"
    raise InputError(problem, path=("dispatch",), expected="a rule such as {to: any, pick: round-robin}")
