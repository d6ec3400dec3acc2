"""Comparison of two engines: the quantities in which their results differ, and the first event that only one has.

A record describes one event in five numbers (model 1.3). Both engines have to produce the same set of records for every
plan, in any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from typing import Any, NamedTuple

import numpy as np

from numasim.engine.check.deadlock import DeadlockError, TooLongError
from numasim.engine.observe.trace_hash import STEP_RANKS, Listener, Rank, Records
from numasim.engine.result import Result
from numasim.engine.simulate import ENGINES
from numasim.plan.plan import Run

Outcome = Result | str  # the text is that of a DeadlockError or a TooLongError

COSTS = frozenset({"events"})  # counters in which engines may differ: how many events an engine has simulated
SHOWN = 12


class Record(NamedTuple):
    """One record; its fields are in such an order that sorted records are in the order of events (model 1.2)."""

    time_ps: int
    rank: Rank
    actor: int
    first: int
    second: int


def difference(run: Run, left: str = "reference", right: str = "native", origin: str | None = None) -> str | None:
    """Simulate ``run`` on two engines; return a report of the differences, None if all but `COSTS` is equal.

    ``origin`` says how to make the run again; by default the report lists the parts of the plan, and the seed.
    """
    outcomes = outcome(run, left), outcome(run, right)
    found = list(disagreements(*outcomes))
    if not found:
        return None
    hashed = all(isinstance(each, str) or each.counters["event_hash"] is not None for each in outcomes)
    ranks = tuple(Rank) if hashed and not run.plan.skipping else STEP_RANKS
    lines = [f"the engines {left!r} and {right!r} disagree"]
    lines += [f"  {name}: {one} and {other}" for name, one, other in found[:SHOWN]]
    if len(found) > SHOWN:
        lines.append(f"  and {len(found) - SHOWN} quantities more")
    lines.append(first_event_difference({each: events(run, each, ranks) for each in (left, right)}))
    return "\n".join([*lines, f"plan: {origin or description(run)}"])


def outcome(run: Run, engine: str, listener: Listener | None = None) -> Outcome:
    """Return the result of ``run`` on ``engine``, or the text of its error: a deadlock, or a time that is too long."""
    try:
        return ENGINES[engine](run, False, listener)[0]
    except (DeadlockError, TooLongError) as refused:
        return str(refused)


def disagreements(left: Outcome, right: Outcome) -> Iterator[tuple[str, Any, Any]]:
    """Return (name, left, right) of every quantity in which two outcomes differ; of an array only the first entry."""
    one, other = comparable(left), comparable(right)
    for name in [*one, *(name for name in other if name not in one)]:
        a, b = one.get(name), other.get(name)
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape == b.shape:
            for place in np.argwhere(a != b)[:1].tolist():
                yield f"{name}{place}", a[tuple(place)], b[tuple(place)]
        elif isinstance(a, np.ndarray) or isinstance(b, np.ndarray) or a != b:
            yield name, a, b


def comparable(found: Outcome) -> dict[str, Any]:
    """Return the quantities of an outcome in which engines have to agree, by name."""
    if isinstance(found, str):
        return {"refused": found}
    return {
        **{name: value for name, value in found.counters.items() if name not in COSTS},
        **{f"workers.{name}": column for name, column in found.per_worker.items()},
        **{f"sync_objects.{name}": column for name, column in found.sync_objects.items()},
        "node_bytes": found.node_bytes,
        "node_attempts": found.node_attempts,
        "node_success": found.node_success,
        "node_conflicts": found.node_conflicts,
        "object_conflicts": found.object_conflicts,
        **{f"traffic.{kind}": pairs for kind, pairs in found.traffic.items()},
        "node_pages": found.node_pages,
        **{f"phase_rows.{name}": column for name, column in found.phase_rows.items()},
        "passed_items": found.passed_items,
    }


def description(run: Run) -> str:
    """Return the parts of a run, in one line."""
    plan, work = run.plan, run.plan.workload
    return (
        f"{work.name} {work.parameters} under {plan.steal.name!r} with {plan.workers.workers} workers on "
        f"{plan.machine.name!r}, join {plan.join}, producer {plan.producer}, seed {run.seed}, skip {plan.skip}"
    )


def first_event_difference(traces: dict[str, Counter[Record]]) -> str:
    """Return a sentence: the first event that only one of two engines has, and the next event of the other engine."""
    (left, of_left), (right, of_right) = traces.items()
    only = [(each, left, right) for each in of_left - of_right] + [(each, right, left) for each in of_right - of_left]
    if not only:
        return "the traces are the same"
    event, by, other = min(only)
    later = min((each for each in traces[other] if each.actor == event.actor and each >= event), default=None)
    return f"first event that differs: {event} on {by!r} alone; the next of this actor on {other!r}: {later}"


def events(run: Run, engine: str, ranks: Container[Rank] = tuple(Rank)) -> Counter[Record]:
    """Return the records of ``run`` on ``engine``, of the given ranks."""
    found: Counter[Record] = Counter()

    def keep(records: Records) -> None:
        rows = (Record(time_ps, Rank(rank), *rest) for time_ps, rank, *rest in records.tolist())
        found.update(record for record in rows if record.rank in ranks)

    outcome(run, engine, keep)
    return found
