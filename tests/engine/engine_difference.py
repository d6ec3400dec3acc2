"""Comparison of two engines: what differs in their results, and the first event that only one of them has.

Both engines produce the same records for every plan (model 1.3), in batches of any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from numasim.engine.check.deadlock import DeadlockError, TooLongError
from numasim.engine.observe.trace_hash import STEP_RANKS, Listener, Rank, Records
from numasim.engine.result import Result
from numasim.engine.simulate import ENGINES
from numasim.plan.plan import Run

Outcome = Result | str  # the text is that of a DeadlockError or a TooLongError

COSTS = frozenset({"events"})  # the cost of a run, which engines need not agree on
SHOWN = 12
OF_WORKERS = (Rank.SEG_END, Rank.WAKE, Rank.PUT, Rank.LOOK, Rank.POLL)


class Record(NamedTuple):
    """One record of a trace; its order is that of events (model 1.2)."""

    time_ps: int
    rank: int
    actor: int
    first: int
    second: int

    def __str__(self) -> str:
        """Describe the event."""
        return f"at {self.time_ps:,} ps {WORDING[Rank(self.rank)](self.actor, self.first, self.second)}"


def _release(barrier: int, episode: int, _: int) -> str:
    if barrier:
        return f"barrier {barrier - 1} opens, {episode} times before"
    return f"phase {episode} (every run of one counted) ends"


def _look(worker: int, queue: int, tasks: int) -> str:
    return f"worker {worker} probes queue {queue} and takes {tasks} task{'s' * (tasks != 1)}"


def _poll(worker: int, failed: int, remote: int) -> str:
    return f"worker {worker} ends an idle episode of {failed} failed attempts, {remote} of them remote"


Events = Counter[Record]
WORDING: dict[Rank, Callable[[int, int, int], str]] = {
    Rank.SEG_END: "worker {0} ends segment {2} of task {1}".format,
    Rank.GRANT: "lock {0} is granted to worker {2}".format,
    Rank.RELEASE: _release,
    Rank.WAKE: "worker {} wakes up in task {}".format,
    Rank.PUT: "worker or producer {} puts task {} into queue {}".format,
    Rank.LOOK: _look,
    Rank.POLL: _poll,
    Rank.ABORT: "worker {} aborts task {} at object {}".format,
}


@dataclass(frozen=True)
class Disagreement:
    """A quantity that is ``left`` on one engine and ``right`` on the other."""

    name: str
    left: Any
    right: Any


@dataclass(frozen=True)
class EventDifference:
    """The first event that only the engine ``by`` has, and the next event of its actor on the ``other`` engine."""

    by: str
    event: Record
    other: str
    instead: Record | None

    def __str__(self) -> str:
        """One sentence."""
        instead = f"next {self.instead}" if self.instead else "nothing more of this actor"
        return f"{self.event} on {self.by!r} alone; {self.other!r} has instead: {instead}"


@dataclass(frozen=True)
class Difference:
    """The differences of two engines on a plan; as text, a short report."""

    left: str
    right: str
    disagreements: tuple[Disagreement, ...]
    first_event: EventDifference | None
    origin: str

    def __str__(self) -> str:
        """What differs, the first event that does, and how to make the plan again."""
        lines = [f"the engines {self.left!r} and {self.right!r} disagree"]
        lines += [f"  {each.name}: {each.left} and {each.right}" for each in self.disagreements[:SHOWN]]
        if len(self.disagreements) > SHOWN:
            lines.append(f"  and {len(self.disagreements) - SHOWN} quantities more")
        lines.append(f"first event that differs: {self.first_event or 'none, the traces are the same'}")
        lines.append(f"plan: {self.origin}")
        return "\n".join(lines)


def difference(
    run: Run, left: str = "reference", right: str = "native", origin: str | None = None
) -> Difference | None:
    """Simulate ``run`` on two engines of the registry; None where everything but the cost is equal.

    ``origin`` says how to make the run again; by default it lists the parts of the plan, and the seed.
    """
    outcomes = outcome(run, left), outcome(run, right)
    found = tuple(disagreements(*outcomes))
    if not found:
        return None
    hashed = all(isinstance(each, str) or each.counters["event_hash"] is not None for each in outcomes)
    ranks = tuple(Rank) if hashed and not run.plan.skipping else STEP_RANKS
    first_event = first_event_difference(left, events(run, left, ranks), right, events(run, right, ranks))
    return Difference(left, right, found, first_event, origin or description(run))


def outcome(run: Run, engine: str, listener: Listener | None = None) -> Outcome:
    """The result of ``run`` on ``engine``, or why there is none: a deadlock, or times that do not fit."""
    try:
        return ENGINES[engine](run, False, listener)[0]
    except (DeadlockError, TooLongError) as refused:
        return str(refused)


def disagreements(left: Outcome, right: Outcome) -> Iterator[Disagreement]:
    """Every quantity in which two outcomes differ; of an array, the first place."""
    one, other = comparable(left), comparable(right)
    for name in [*one, *(name for name in other if name not in one)]:
        a, b = one.get(name), other.get(name)
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape == b.shape:
            for place in np.argwhere(a != b)[:1].tolist():
                yield Disagreement(f"{name}{place}", a[tuple(place)], b[tuple(place)])
        elif isinstance(a, np.ndarray) or isinstance(b, np.ndarray) or a != b:
            yield Disagreement(name, a, b)


def comparable(found: Outcome) -> dict[str, Any]:
    """The quantities of an outcome that engines have to agree on, by name."""
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
    """The parts of a run, in one line."""
    plan, work = run.plan, run.plan.workload
    return (
        f"{work.name} {work.parameters} under {plan.steal.name!r} with {plan.workers.workers} workers on "
        f"{plan.machine.name!r}, join {plan.join}, producer {plan.producer}, seed {run.seed}, skip {plan.skip}"
    )


# ---- the first event -----------------------------------------------------------------------------------------------


def first_event_difference(left: str, of_left: Events, right: str, of_right: Events) -> EventDifference | None:
    """The first event that is in one trace and not in the other, or None if the traces are the same."""
    only_left, only_right = of_left - of_right, of_right - of_left
    event = min([*only_left, *only_right], default=None)
    if event is None:
        return None
    by, other, there = (left, right, of_right) if event in only_left else (right, left, of_left)
    ranks = OF_WORKERS if event.rank in OF_WORKERS else (event.rank,)
    later = (each for each in there if each.actor == event.actor and each.rank in ranks and each >= event)
    return EventDifference(by, event, other, min(later, default=None))


def events(run: Run, engine: str, ranks: Container[int] = tuple(Rank)) -> Events:
    """The records of ``run`` on ``engine``, of the given ranks."""
    found: Events = Counter()

    def keep(records: Records) -> None:
        found.update(record for record in map(Record._make, records.tolist()) if record.rank in ranks)

    outcome(run, engine, keep)
    return found
