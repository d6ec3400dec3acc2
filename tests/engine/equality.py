"""One plan on the reference engine and on every other engine: a report of all differences in their outcomes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Set
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from completeness import complete
from engine_difference import Outcome, difference, disagreements
from engine_setup import Rows, event_by_event, found
from plan_features import features
from random_recipes import RandomRun

from numasim.engine.check.deadlock import DeadlockError, TooLongError
from numasim.engine.check.invariants import violations
from numasim.engine.collect_result import collect
from numasim.engine.observe.trace_hash import Trace
from numasim.engine.observe.watch import COLUMNS, Watcher
from numasim.engine.reference.actors import Worker
from numasim.engine.reference.polling import Shortcut
from numasim.engine.reference.reference import ReferenceEngine, finished, makespan_ps
from numasim.engine.reference.run_state import RunState
from numasim.engine.simulate import ENGINES, Log
from numasim.plan.plan import Run
from numasim.schema.plan_fields import PLAN

REFERENCE = "reference"
OTHERS = tuple(name for name in ENGINES if name != REFERENCE)
# The native engine is compared with the reference engine. Sanitizers check only compiled code, so in a build with
# sanitizers the native engine is compared with itself, which takes less time.
EXPECTED = OTHERS[0] if "NUMASIM_TEST_SANITIZED" in os.environ else REFERENCE
REFUSALS = (DeadlockError, TooLongError)  # all engines have to end with the same error, in the same words
MOST_EVENTS = 60_000
MOST_PASSED_OVER = 20_000_000  # probes
MOST_WATCHED_EVENTS = 8_000


class EndlessError(Exception):
    """The workers of a plan pass tasks to and fro, or poll, for longer than a test may take."""


class ImpatientEngine(ReferenceEngine):
    """The reference engine, which raises EndlessError after ``most_events`` events, or after `MOST_PASSED_OVER` probes
    that are no events.
    """

    most_events = MOST_EVENTS

    def _connect(self, state: RunState, taken: Set[Shortcut]) -> None:
        super()._connect(state, taken)
        pass_over = self.thief._pass_over

        def impatiently(w: Worker, now_ps: int, until_ps: int) -> int:
            if sum(w.steal_attempts for w in self.workers) > MOST_PASSED_OVER:
                raise EndlessError
            return pass_over(w, now_ps, until_ps) if pass_over else 0

        self.thief._pass_over = pass_over and impatiently

    def flush(self) -> None:
        super().flush()
        if self.clock.events > self.most_events:
            raise EndlessError


@dataclass(frozen=True)
class Verdict:
    """The outcome of a plan: ``labels`` name its parts and how its run ended; ``problem`` says what is wrong."""

    labels: tuple[str, ...]
    problem: str | None = None


def judge(random: RandomRun) -> Verdict:
    """Run a plan on all engines; the result of the reference engine is also checked against the invariants."""
    labels = tuple(f"{kind}: {value}" for kind, value in features(random))
    try:
        expected, log = _patiently(random)
    except EndlessError:
        return Verdict((*labels, "mode: given up"))
    broken = [] if isinstance(expected, str) else violations(random, expected, log)
    ended = "refused" if isinstance(expected, str) else str(expected.counters["mode"])
    problems = [*broken, *_differences(random, expected, log), *_differences_event_by_event(random, expected)]
    return Verdict((*labels, f"mode: {ended}"), "\n".join(problems) or None)


def _patiently(run: Run, most_events: int = MOST_EVENTS, watcher: Watcher | None = None) -> tuple[Outcome, Log | None]:
    """Return the outcome on the reference engine and the log of executed stretches."""
    engine = ImpatientEngine(run, Trace(watcher=watcher), keep_log=True)
    engine.most_events = most_events
    try:
        engine.run()
        return collect(run, finished(engine), makespan_ps), engine.ledger.log
    except REFUSALS as refused:
        return str(refused), None
    finally:
        engine.recorder.trace.hashes()


def _differences(random: RandomRun, expected: Outcome, log: Log | None) -> Iterator[str]:
    """Return one report for each engine that does not agree; raise SchemaError if the fields of an engine differ from
    the schema.
    """
    for other in OTHERS:
        from numasim.engine.native.native_engine import fields  # only if the native engine is built

        complete(PLAN, fields(random))
        result, its_log = _on(other, random)
        if any(disagreements(expected, result)):
            report = difference(random, REFERENCE, other, repr(random))
            yield report or f"{other} does not give the same twice: {random!r}"
        elif _is_eager(expected) and sorted(log or ()) != sorted(its_log or ()):
            yield f"{other} has executed at other times what came to the same end: {random!r}"


def _on(engine: str, run: Run) -> tuple[Outcome, Log | None]:
    try:
        return ENGINES[engine](run, True, None)
    except REFUSALS as refused:
        return str(refused), None


def _is_eager(outcome: Outcome) -> bool:
    """Return whether the engine has simulated every executed stretch as an event of its own, so that all are logged."""
    return not isinstance(outcome, str) and outcome.counters["mode"] == "eager"


# ---- event by event ------------------------------------------------------------------------------------------------


def _differences_event_by_event(random: RandomRun, expected: Outcome) -> Iterator[str]:
    """Return a sentence if shortcuts change the outcome, and one for each engine that gives a watch other rows."""
    run, batches = Run(event_by_event(random.plan), random.seed), list[Rows]()
    try:
        slow, _ = _patiently(run, MOST_WATCHED_EVENTS, batches.append)
    except EndlessError:
        return
    if _end(slow) != _end(expected):
        yield f"shortcuts change what comes of {random!r}"
    rows = _rows(batches)
    for other in OTHERS:
        told = watched(run, other)
        if not np.array_equal(rows, told):
            pairs = zip(rows.tolist(), told.tolist(), strict=False)
            at = next((i for i, (one, two) in enumerate(pairs) if one != two), min(len(rows), len(told)))
            both = rows[at : at + 1].tolist(), told[at : at + 1].tolist()
            yield f"row {at} of what {other} tells a watch is {both[1]} instead of {both[0]}: {random!r}"


def _end(outcome: Outcome) -> object:
    return outcome if isinstance(outcome, str) else found(outcome)


def watched(run: Run, engine: str) -> Rows:
    """Return [n, COLUMNS] the rows that a watch gets from ``run`` on ``engine``, up to the error if the run fails."""
    batches: list[Rows] = []
    if engine == REFERENCE:
        _patiently(run, MOST_WATCHED_EVENTS, batches.append)
    else:
        with suppress(*REFUSALS):
            ENGINES[engine](run, False, None, batches.append)
    return _rows(batches)


def _rows(batches: list[Rows]) -> Rows:
    return np.concatenate([np.zeros((0, COLUMNS), np.int64), *batches])
