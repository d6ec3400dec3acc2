"""Comparison of two engines: what differs in their results, and the first event that only one of them has.

Both engines produce the same records for every plan (model 1.3), in batches of any order. Partial sums over windows of
simulated time show in which window two traces first differ; only the records of that window are kept, sorted and
compared, so that traces of any length fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from numasim.draws import MASK
from numasim.engine.check.deadlock import DeadlockError, TooLongError
from numasim.engine.observe.trace_hash import STEP_RANKS, WORDS, Listener, Rank, Records, WindowSums
from numasim.engine.result import Result
from numasim.engine.simulate import ENGINES
from numasim.plan.plan import Run

Outcome = Result | str  # the text is that of a DeadlockError or a TooLongError
Replay = Callable[[Listener], object]

COSTS = frozenset({"events"})  # the cost of a run, which engines need not agree on
MOST_KEPT = 65_536  # records of one window
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
    first_event = first_event_difference(left, _replay(run, left, ranks), right, _replay(run, right, ranks))
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


# ---- the first event --------------------------------------------------------------------------------------------


def first_event_difference(left: str, replay_left: Replay, right: str, replay_right: Replay) -> EventDifference | None:
    """The first event that is in one trace and not in the other, or None where they are the same.

    A replay is a function that runs an engine from the beginning with the listener that it is given.
    """
    kept = _first_window(replay_left, replay_right)
    if kept is None:
        return None
    only_left, only_right = kept[0] - kept[1], kept[1] - kept[0]
    event = min([*only_left, *only_right])
    if event in only_left:
        return EventDifference(left, event, right, _next_of(event, replay_right))
    return EventDifference(right, event, left, _next_of(event, replay_left))


def _first_window(left: Replay, right: Replay) -> tuple[Counter[Record], Counter[Record]] | None:
    """The records of both traces in the first window of time in which they differ, with their multiplicity."""
    begin_ps, end_ps = 0, MASK
    while True:
        sums = WindowSums(begin_ps, end_ps), WindowSums(begin_ps, end_ps)
        left(sums[0].add)
        right(sums[1].add)
        window = _first_different_window(*sums)
        if window is None:
            return None
        begin_ps, end_ps, records = window
        if records <= MOST_KEPT or end_ps == begin_ps + 1:
            return _records_between(left, begin_ps, end_ps), _records_between(right, begin_ps, end_ps)


def _first_different_window(left: WindowSums, right: WindowSums) -> tuple[int, int, int] | None:
    """(begin, end, records) of the first window with different sums."""
    while left.shift != right.shift:
        min(left, right, key=lambda sums: sums.shift).widen()
    parts = np.flatnonzero((left.totals != right.totals) | (left.counts != right.counts))
    if not len(parts):
        return None
    at = int(parts[0])
    begin = left.begin_ps + (at << left.shift)
    return begin, begin + (1 << left.shift), int(max(left.counts[at], right.counts[at]))


def _records_between(replay: Replay, begin_ps: int, end_ps: int) -> Counter[Record]:
    found: Counter[Record] = Counter()

    def keep(records: Records) -> None:
        inside = (records[:, 0] >= np.uint64(begin_ps)) & (records[:, 0] < np.uint64(end_ps))
        found.update(map(Record._make, records[inside].tolist()))

    replay(keep)
    return found


def _next_of(event: Record, replay: Replay) -> Record | None:
    """The first record of the same actor that is not earlier than ``event``."""
    ranks = OF_WORKERS if event.rank in OF_WORKERS else (Rank(event.rank),)
    candidates: list[Record] = []

    def keep(records: Records) -> None:
        mine = (records[:, 0] >= np.uint64(event.time_ps)) & (records[:, 2] == event.actor)
        later = filter(event.__le__, map(Record._make, _of_ranks(records[mine], ranks).tolist()))
        candidates[:] = sorted([*candidates, *later])[:1]

    replay(keep)
    return candidates[0] if candidates else None


def _replay(run: Run, engine: str, ranks: tuple[Rank, ...]) -> Replay:
    """Simulate ``run`` on ``engine`` and pass on its records of ``ranks``."""

    def replay(listener: Listener) -> Outcome:
        return outcome(run, engine, lambda records: listener(_of_ranks(records, ranks)))

    return replay


def _of_ranks(records: Records, ranks: tuple[Rank, ...]) -> Records:
    return records.reshape(-1, WORDS)[np.isin(records[:, 1], ranks)]
