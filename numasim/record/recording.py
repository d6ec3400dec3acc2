"""`numasim record`: a program is run with the recorder, as often as it takes, and becomes a task graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from numasim.parts.models.machine_model import MachineSpec
from numasim.record.declared_marks import require_declared
from numasim.record.event_files import ThreadEvents
from numasim.record.event_kinds import Event
from numasim.record.event_times import TimedEvents, same_events, shortest, tick_ps, timed
from numasim.record.event_walk import walk
from numasim.record.kernel_names import kernel_names
from numasim.record.openmp_library import OpenmpLibrary, find_openmp
from numasim.record.own_costs import measure_own_costs
from numasim.record.piece_costs import PieceCosts
from numasim.record.program_runs import recorded_run
from numasim.record.recorded_data import RecordedData, data_of
from numasim.record.recorded_rows import rows_of
from numasim.record.recorded_workload import workload_of
from numasim.runtime.recording_place import this_place
from numasim.workload.graph import Workload
from numasim.workload.graph_rules import validate
from numasim.workload.recording.core_rates import rate_of, recorded_on
from numasim.workload.recording.recorded import Recorded

MOST_REPEATS = 30
FEWEST_REPEATS = 3
SETTLED = 0.01  # two more recordings shorten the program by less than this share
EVEN = 0.02  # every other recording differs from the others by less than this share


@dataclass(frozen=True)
class Order:
    """What is to be recorded: a command, with so many threads, in so many runs (None: as many as it takes).

    ``on`` is the machine that it is recorded on (None: the running one, whose rate is measured).
    ``quiet``: what the program prints is dropped in the first run, too, as it is in all others.
    """

    command: tuple[str, ...]
    threads: int = 1
    repeats: int | None = None
    openmp: Path | None = None
    name: str = ""
    on: MachineSpec | None = None
    quiet: bool = False


@dataclass(frozen=True)
class Recording:
    """A task graph and how it came about.

    ``runs`` were made, of which ``joined`` had the events of the graph. ``spread`` is the relative difference of the
    work of the graph by the runs of odd and by those of even number: what disturbance is left; None for fewer than two.
    """

    workload: Workload
    openmp: OpenmpLibrary
    threads: int
    runs: int
    joined: int
    spread: float | None
    status: int
    events: int
    bytes: int
    odd: Counter[str]
    data: RecordedData


def record(order: Order, costs: PieceCosts | None = None) -> Recording:
    """Record a program; ``costs`` (default: measured now) are taken out of its times.

    InputError where that cannot be done, or the program does what no graph can say.
    """
    if order.on is not None:
        rate_of(order.on)  # before the runs, not after them
    openmp = find_openmp(order.openmp)
    costs = costs or measure_own_costs(openmp)
    runs = _Runs(costs)
    while runs.more(order):
        threads, status = recorded_run(order.command, openmp, order.threads, quiet=order.quiet or runs.count > 0)
        runs.add(threads, status)
    chosen = runs.chosen()
    walked = walk(chosen)
    rows = rows_of(walked, costs)
    data = data_of(rows, walked, chosen)
    require_declared(order.command[0], data)
    workload = workload_of(rows, data, kernel_names(rows, walked), order.name or Path(order.command[0]).name)
    workload = replace(workload, recorded=data.counted(this_place() if order.on is None else Recorded()))
    workload = workload if order.on is None else recorded_on(workload, order.on)
    validate(workload)
    events = sum(len(thread.events) for thread in chosen)
    return Recording(
        workload=workload,
        openmp=openmp,
        threads=len(chosen),
        runs=runs.count,
        joined=runs.joined,
        spread=runs.spread(),
        status=runs.status,
        events=events,
        bytes=8 * sum(len(thread.events) + len(thread.events.operands) for thread in chosen),
        odd=+rows.odd,
        data=data,
    )


class _Runs:
    """The recordings so far: those of one thread with the same events are joined."""

    def __init__(self, costs: PieceCosts) -> None:
        self._costs = costs
        self._kept: list[tuple[TimedEvents, ...]] = []
        self._work: list[int] = []  # of the joined recording, after each run, in ps
        self.count = 0
        self.status = 0

    def add(self, threads: Sequence[ThreadEvents], status: int) -> None:
        """Keep a recording."""
        each = tick_ps(threads)
        self._kept.append(tuple(timed(thread, each, self._costs.allocate_ps) for thread in threads))
        self.count += 1
        self.status = self.status or status
        self._work.append(_work(self.chosen()))

    def more(self, order: Order) -> bool:
        """Whether another run is needed."""
        if order.repeats is not None:
            return self.count < order.repeats
        if self.count < FEWEST_REPEATS:
            return True
        if not self._alike():
            return False  # recordings of several threads are not joined
        gain = self._work[-3] - self._work[-1]
        spread = self.spread()
        settled = gain <= SETTLED * self._work[-1] and spread is not None and spread <= EVEN
        return self.count < MOST_REPEATS and not settled

    def _alike(self) -> list[TimedEvents]:
        """The most recordings of a single thread that have the same events."""
        single = [threads[0] for threads in self._kept if len(threads) == 1]
        groups = [[other for other in single if same_events(one, other)] for one in single]
        return max(groups, key=len, default=[])

    @property
    def joined(self) -> int:
        """How many recordings the graph is made of."""
        return len(self._alike()) or 1

    def chosen(self) -> tuple[TimedEvents, ...]:
        """The joined recording; of several threads, the one with the least work."""
        alike = self._alike()
        return (shortest(alike),) if alike else min(self._kept, key=_work)

    def spread(self) -> float | None:
        """The relative difference between the work of every other recording joined and of the others joined."""
        alike = self._alike()
        if len(alike) < 2:
            return None
        halves: list[int] = [_work((shortest(alike[first::2]),)) for first in (0, 1)]
        return abs(halves[0] - halves[1]) / max(1, min(halves))


def _work(threads: Sequence[TimedEvents]) -> int:
    """The time of all threads from the begin of the program on, in ps."""
    return int(sum(np.sum(thread.gap_ps[_begin(thread) :]) for thread in threads))


def _begin(thread: TimedEvents) -> int:
    """The first event that ends a piece of the program."""
    found = np.flatnonzero(thread.events.kind == Event.START)
    return int(found[0]) + 1 if len(found) else 1
