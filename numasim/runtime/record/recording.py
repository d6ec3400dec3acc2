"""`numasim record`: a program is run with the recorder, as often as it takes, and becomes a task graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError
from numasim.parts.models.machine_model import MachineSpec
from numasim.runtime.record.event_files import Module, ThreadEvents
from numasim.runtime.record.event_kinds import Endpoint, Event
from numasim.runtime.record.event_times import TimedEvents, events_digest, shortest, tick_ps, timed
from numasim.runtime.record.event_walk import Step, walk
from numasim.runtime.record.kernel_names import kernel_names, place_names
from numasim.runtime.record.openmp_library import OpenmpLibrary, find_openmp
from numasim.runtime.record.own_costs import measure_own_costs
from numasim.runtime.record.piece_costs import PieceCosts
from numasim.runtime.record.program_runs import recorded_run
from numasim.runtime.record.recorded_data import RecordedData, data_of, require_declared
from numasim.runtime.record.recorded_rows import PartWork, Rows, rows_of
from numasim.runtime.record.recorded_workload import workload_of
from numasim.runtime.recording_place import this_place
from numasim.workload.graph import Workload
from numasim.workload.graph_rules import validate
from numasim.workload.recording.core_rates import rate_of, recorded_on
from numasim.workload.recording.recorded import Recorded

# ----------------------------------------------------------------------------------------------------------------------
# Whether a program divides work by the number of its threads: one thread says nothing of how several would do it.

MOST = 0.01  # of the work of the program that a team may divide: the graph then has it as one thread's
_PS_PER_MS = 10**9


def require_undivided(threads: Sequence[TimedEvents]) -> None:
    """InputError where a recording of one thread has more than that: it names the region that has most of it."""
    if not any(np.isin(thread.events.kind, (Event.WORK, Event.TEAM)).any() for thread in threads):
        return
    walked = walk(threads)
    work_ps = sum(step[1] for task in walked.tasks.values() for step in task.steps if step[0] == Step.WORK)
    by_place: dict[int, int] = {}
    for region in walked.regions.values():
        by_place[region.place] = by_place.get(region.place, 0) + region.divided_ps
    if sum(by_place.values()) <= MOST * work_ps:
        return
    place = max(by_place, key=lambda each: by_place[each])
    name = place_names({place}, threads[0].events.modules)[place]
    mine_ms, all_ms = by_place[place] / _PS_PER_MS, work_ps / _PS_PER_MS
    raise InputError(
        f"the parallel region of {name} works {mine_ms:,.3f} ms, of {all_ms:,.3f} ms of the program, in loops or other "
        "code that a team divides among its threads",
        place="--threads",
        expected="as many threads as workers are to be simulated, on however many processors the program is recorded, "
        "such as --threads 16; --threads 1 for a team of one",
    )


MOST_REPEATS = 30
FEWEST_REPEATS = 3
# A program is recorded at least SHORT_REPEATS times as long as its recordings so far have taken less than SHORT_PS,
# over all threads, their waits for turns included. With several workers the longest of many pieces decides how long a
# loop takes, and the minimum of only three timings of a piece is some per cent too long.
SHORT_REPEATS, SHORT_PS = 15, 10**13
SETTLED = 0.01  # two more recordings shorten the program by less than this share
EVEN = 0.02  # every other recording differs from the others by less than this share


@dataclass(frozen=True)
class Order:
    """What is to be recorded: a command, with so many threads, in so many runs (None: as many as it takes).

    ``threads``: None is one, with which a program that divides work by the number of threads is not recorded.
    ``on`` is the machine that it is recorded on (None: the running one, whose rate is measured). ``parallel_part``:
    what the program does between parallel regions is left out. ``quiet``: what the program prints is dropped in the
    first run, too, as it is in all others.
    """

    command: tuple[str, ...]
    threads: int | None = None
    repeats: int | None = None
    openmp: Path | None = None
    name: str = ""
    on: MachineSpec | None = None
    quiet: bool = False
    parallel_part: bool = False


@dataclass(frozen=True)
class Recording:
    """A task graph and how it came about.

    ``runs`` were made, of which ``joined`` had the events of the graph. ``spread`` is the relative difference of the
    work of the graph by the runs of odd and by those of even number: what disturbance is left; None for fewer than two.
    ``parts`` and ``blocked_ps`` are by where in the program that is: what parts of regions do in tasks and else, and
    for how long the program waited without a processor. ``left_out_ps`` is the work that ``parallel_part`` left out.
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
    parts: tuple[tuple[str, PartWork], ...] = ()
    blocked_ps: Mapping[str, int] = field(default_factory=dict)
    left_out_ps: int = 0
    chunks: int = 0  # tasks of the graph that are chunks of loops


def record(order: Order, costs: PieceCosts | None = None) -> Recording:
    """Record a program; ``costs`` (default: measured now) are taken out of its times.

    InputError where that cannot be done, or the program does what no graph can say.
    """
    if order.on is not None:
        rate_of(order.on)  # before the runs, not after them
    openmp = find_openmp(order.openmp)
    asked = order.threads or 1
    costs = costs or measure_own_costs(openmp, asked)
    runs = _Runs(costs)
    while runs.more(order):
        threads, status = recorded_run(order.command, openmp, asked, quiet=order.quiet or runs.count > 0)
        runs.add(threads, status)
        if runs.count == 1 and order.threads is None:
            require_undivided(runs.chosen())
    chosen = runs.chosen()
    walked = walk(chosen)
    rows = rows_of(walked, costs, parallel_part=order.parallel_part)
    data = data_of(rows, walked, chosen)
    require_declared(order.command[0], data)
    modules = chosen[0].events.modules
    kernels = kernel_names(rows, modules)
    workload = workload_of(rows, data, kernels, order.name or Path(order.command[0]).name)
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
        parts=_parts(rows, modules),
        blocked_ps=_blocked(rows, kernels),
        chunks=len(rows.chunks),
        left_out_ps=rows.serial_ps if order.parallel_part else 0,
    )


def _parts(rows: Rows, modules: Sequence[Module]) -> tuple[tuple[str, PartWork], ...]:
    names = place_names({part.place for part in rows.parts}, modules)
    return tuple((f"{part.name}, {names[part.place]}", part) for part in rows.parts)


def _blocked(rows: Rows, kernels: Sequence[str]) -> Counter[str]:
    phase_of = {root: phase.name for phase in rows.phases for root in phase.roots}
    found: Counter[str] = Counter()
    for row, blocked_ps in rows.blocked_ps.items():
        found[f"in {kernels[row]}" if kernels[row] else phase_of.get(row, "in a task")] += blocked_ps
    return found


class _Runs:
    """The recordings so far: those with the same events are joined."""

    def __init__(self, costs: PieceCosts) -> None:
        self._costs = costs
        self._kept: list[tuple[TimedEvents, ...]] = []
        self._digests: list[bytes] = []
        self._work: list[int] = []  # of the joined recording, after each run, in ps
        self.count = 0
        self.status = 0

    def add(self, threads: Sequence[ThreadEvents], status: int) -> None:
        """Keep a recording."""
        each = tick_ps(threads)
        self._kept.append(tuple(timed(thread, each, self._costs.allocate_ps) for thread in threads))
        self._digests.append(events_digest(self._kept[-1]))
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
            return False  # there is nothing to join
        if self.count < SHORT_REPEATS and self.count * self._work[-1] < SHORT_PS:
            return True
        gain = self._work[-3] - self._work[-1]
        spread = self.spread()
        settled = gain <= SETTLED * self._work[-1] and spread is not None and spread <= EVEN
        return self.count < MOST_REPEATS and not settled

    def _alike(self) -> list[tuple[TimedEvents, ...]]:
        """The most recordings that have the same events, if there are at least two runs like each other."""
        groups: dict[bytes, list[tuple[TimedEvents, ...]]] = {}
        for digest, each in zip(self._digests, self._kept, strict=True):
            groups.setdefault(digest, []).append(each)
        found = max(groups.values(), key=len, default=[])
        return found if len(found) > 1 or len(self._kept) == 1 else []

    @property
    def joined(self) -> int:
        """How many recordings the graph is made of."""
        return len(self._alike()) or 1

    def chosen(self) -> tuple[TimedEvents, ...]:
        """The joined recording; where no two have the same events, the one with the least work."""
        alike = self._alike()
        return _joined(alike) if alike else min(self._kept, key=_work)

    def spread(self) -> float | None:
        """The relative difference between the work of every other recording joined and of the others joined."""
        alike = self._alike()
        if len(alike) < 2:
            return None
        halves: list[int] = [_work(_joined(alike[first::2])) for first in (0, 1)]
        return abs(halves[0] - halves[1]) / max(1, min(halves))


def _joined(recordings: Sequence[tuple[TimedEvents, ...]]) -> tuple[TimedEvents, ...]:
    return tuple(shortest(threads) for threads in zip(*recordings, strict=True))


def _work(threads: Sequence[TimedEvents]) -> int:
    """The time of all threads from the begin of the program on, in ps, but for what they wait in OpenMP."""
    return int(sum(np.sum((thread.gap_ps * _works(thread.events))[_begin(thread) :]) for thread in threads))


def _works(events: ThreadEvents) -> npt.NDArray[np.bool_]:
    """[events] whether the thread may have worked before the event."""
    ends = np.isin(events.kind, (Event.SYNC, Event.SYNC_WAIT)) & (events.argument & 3 == Endpoint.END)
    found: npt.NDArray[np.bool_] = ~(ends | np.isin(events.kind, (Event.IMPLICIT, Event.IMPLICIT_END)))
    found[1:] &= events.kind[:-1] != Event.IMPLICIT_END
    return found


def _begin(thread: TimedEvents) -> int:
    """The first event that ends a piece of the program."""
    found = np.flatnonzero(thread.events.kind == Event.START)
    return int(found[0]) + 1 if len(found) else 1
