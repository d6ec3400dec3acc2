"""One plan on the reference engine and on every other engine of the registry: equal in everything, or a report."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import get_args

import numpy as np
from engine_setup import SEED, Rows, event_by_event
from random_recipes import RandomRun

from numasim.engine.check.deadlock import DeadlockError
from numasim.engine.check.engine_difference import Outcome, difference, disagreements
from numasim.engine.check.invariants import violations
from numasim.engine.check.too_long import TooLongError
from numasim.engine.collect_result import collect
from numasim.engine.observe.trace_hash import Trace
from numasim.engine.observe.watch import COLUMNS
from numasim.engine.reference.reference import ReferenceEngine, finished, makespan_ps
from numasim.engine.simulate import ENGINES, Log
from numasim.parts.models.locks_model import BarrierName, LockName
from numasim.parts.models.placement_model import PageRule
from numasim.plan.effects import Effects
from numasim.plan.plan import Plan
from numasim.plan.run import Run
from numasim.strategy.placement.compile_placement import Placement
from numasim.workload.graph import Op
from numasim.workload.sync_parameters import Role

REFERENCE = "reference"
OTHERS = tuple(name for name in ENGINES if name != REFERENCE)
REFUSALS = (DeadlockError, TooLongError)  # all engines have to end so, in the same words
MOST_EVENTS = 60_000
MOST_WATCHED_EVENTS = 8_000


class EndlessError(Exception):
    """A plan whose workers pass tasks to and fro, or poll, for longer than a test has time."""


class ImpatientEngine(ReferenceEngine):
    """The reference engine, given up after ``most_events`` events."""

    most_events = MOST_EVENTS

    def flush(self) -> None:
        super().flush()
        if self.clock.events > self.most_events:
            raise EndlessError


@dataclass(frozen=True)
class Verdict:
    """What came of a plan: ``labels`` say what it consists of and how it ended; ``problem`` is what is wrong."""

    labels: tuple[str, ...]
    problem: str | None = None


def judge(random: RandomRun) -> Verdict:
    """Run a plan on all engines; the reference engine's result is held against the invariants as well."""
    labels = tuple(f"{kind}: {value}" for kind, value in features(random))
    try:
        expected, log = _patiently(random)
    except EndlessError:
        return Verdict((*labels, "mode: given up"))
    broken = [] if isinstance(expected, str) else violations(random.plan, expected, log)
    ended = "refused" if isinstance(expected, str) else str(expected.counters["mode"])
    problems = [*broken, *_differences(random, expected, log), *_differences_of_watches(random)]
    return Verdict((*labels, f"mode: {ended}"), "\n".join(problems) or None)


def _patiently(run: Run) -> tuple[Outcome, Log | None]:
    """The outcome on the reference engine and the log of what was executed."""
    engine = ImpatientEngine(run, Trace(), keep_log=True)
    try:
        engine.run()
        return collect(run, finished(engine), makespan_ps), engine.ledger.log
    except REFUSALS as refused:
        return str(refused), None


def _differences(random: RandomRun, expected: Outcome, log: Log | None) -> Iterator[str]:
    """One report for each engine that does not agree; SchemaError where one is not given what the schema says."""
    for other in OTHERS:
        _hold_against_schema(random)
        found, its_log = _on(other, random)
        if any(disagreements(expected, found)):
            report = difference(random, REFERENCE, other, repr(random))
            yield str(report or f"{other} does not give the same twice: {random!r}")
        elif _is_eager(expected) and sorted(log or ()) != sorted(its_log or ()):
            yield f"{other} has executed at other times what came to the same end: {random!r}"


def _hold_against_schema(run: Run) -> None:
    from numasim.engine.native.native_engine import fields

    fields(run)


def _on(engine: str, run: Run) -> tuple[Outcome, Log | None]:
    try:
        return ENGINES[engine](run, True, None)
    except REFUSALS as refused:
        return str(refused), None


def _is_eager(found: Outcome) -> bool:
    """Whether every stretch of a run is logged under its own name."""
    return not isinstance(found, str) and found.counters["mode"] == "eager"


# ---- what a watch sees --------------------------------------------------------------------------------------------


def _differences_of_watches(random: RandomRun) -> Iterator[str]:
    """One sentence for each engine that tells a watch anything else, in content or order."""
    run = Run(event_by_event(random.plan), random.seed)
    try:
        expected = watched(run, REFERENCE)
    except EndlessError:
        return
    for other in OTHERS:
        found = watched(run, other)
        if not np.array_equal(expected, found):
            pairs = zip(expected.tolist(), found.tolist(), strict=False)
            at = next((i for i, (one, two) in enumerate(pairs) if one != two), min(len(expected), len(found)))
            rows = expected[at : at + 1].tolist(), found[at : at + 1].tolist()
            yield f"row {at} of what {other} tells a watch is {rows[1]} instead of {rows[0]}: {random!r}"


def watched(run: Run, engine: str) -> Rows:
    """[n, COLUMNS] what ``engine`` tells a watch of ``run``, up to where it is refused if it is."""
    batches: list[Rows] = []
    with suppress(*REFUSALS):
        if engine == REFERENCE:
            watching = ImpatientEngine(run, Trace(watcher=batches.append))
            watching.most_events = MOST_WATCHED_EVENTS
            try:
                watching.run()
            finally:
                watching.recorder.trace.hashes()
        else:
            ENGINES[engine](run, False, None, batches.append)
    return np.concatenate([np.zeros((0, COLUMNS), np.int64), *batches])


# ---- what a plan consists of ---------------------------------------------------------------------------------------


def features(random: RandomRun) -> Iterator[tuple[str, str]]:
    """(kind, value) pairs by which a set of plans is counted; a value of a kind is on one line of the coverage."""
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
    for name, has in FEATURES.items():
        if has(plan):
            yield "with", name


def placement_of(plan: Plan) -> Placement:
    """The placement of a run."""
    return plan.placement.drawn(SEED)


def rules_of(plan: Plan) -> list[PageRule]:
    """What is done with pages during a run, stage by stage."""
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
    "page faults that wait": lambda plan: plan.coupled and plan.costs.faults_per_s > 0,
    "calls": lambda plan: bool((plan.workload.op_code == Op.CALL).any()),
    "dependences": lambda plan: len(plan.workload.successor) > 0,
    "first touch while running": lambda plan: bool(plan.placement.dynamic.any()),
    "pages that may migrate": lambda plan: _moves_pages(plan) and any(rule.migrates for rule in rules_of(plan)),
    "memory that is scanned": lambda plan: _moves_pages(plan) and any(rule.scan_period_ps for rule in rules_of(plan)),
    "placement that changes": lambda plan: _moves_pages(plan) and len(rules_of(plan)) > 1,
    "reads that place nothing": lambda plan: _moves_pages(plan) and not rules_of(plan)[0].reads_place,
    "memory that is full": _is_full,
    "pages decided one by one": lambda plan: _moves_pages(plan) and 1 in _units(plan),
    "ranges": lambda plan: len(plan.workload.ranges) > 0,
    "ranges with accesses": lambda plan: any(len(family.accesses) for family in plan.workload.ranges),
    "repeated phases": lambda plan: any(phase.repeat > 1 for phase in plan.workload.phases),
    "loops": lambda plan: len(plan.workload.loops) > 0,
    "loops over several phases": lambda plan: any(loop.end - loop.first > 1 for loop in plan.workload.loops),
    "nested loops": lambda plan: any(
        loop.first < around.end for around, loop in zip(plan.workload.loops, plan.workload.loops[1:], strict=False)
    ),
    "roots of several phases": lambda plan: (
        len(plan.workload.trees) < sum(len(phase.roots) for phase in plan.workload.phases)
    ),
    "several phases": lambda plan: len(plan.workload.phases) > 1,
    "serial phases": lambda plan: any(phase.serial for phase in plan.workload.phases),
    "work-first": lambda plan: plan.steal.work_first,
    "refill": lambda plan: plan.steal.refill != 0,
    "chances": lambda plan: len(plan.steal.chance) > 0,
    "watches": lambda plan: len(plan.steal.watch) > 0,
    "bounded queues": lambda plan: bool(plan.steal.queues["capacity"].any()),
    "shared queues": lambda plan: not np.array_equal(np.sort(plan.steal.own), np.arange(len(plan.steal.queues))),
    "back-off after probes": lambda plan: plan.steal.backoff.after == "probe",
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
