"""`numasim record`: run a program with the recorder as often as needed, and make a task graph of the recordings.

Each run leaves a recording: the events of all threads, with the times between them. Recordings with the same events are
joined: the joined recording has these events, with the shortest times.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from numasim.errors import CheckError, InputError
from numasim.machine.sysfs import cpu_info, read_sysfs
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.unit_factors import GIGA
from numasim.runtime.calibrated_machine import core_rate, run_probe
from numasim.runtime.record.event_files import Endpoint, Event, Module, ThreadEvents
from numasim.runtime.record.event_times import PieceCosts, TimedEvents, events_digest, shortest, tick_ps, timed
from numasim.runtime.record.event_walk import Step, walk
from numasim.runtime.record.program_runs import OpenmpLibrary, find_openmp, measure_own_costs, recorded_run
from numasim.runtime.record.recorded_data import RecordedData, data_of, require_declared
from numasim.runtime.record.recorded_rows import PartWork, Rows, rows_of
from numasim.runtime.record.recorded_workload import kernel_names, place_names, recorded_workload
from numasim.schema.enumerations import Kind
from numasim.workload.graph import Workload
from numasim.workload.graph_rules import validate
from numasim.workload.recording.core_rates import rate_of, recorded_on
from numasim.workload.recording.recorded import Recorded

# ---- the machine of a recording: the processor, its clock and the speed of its cores ---------------------------------

_NAME = re.compile(r"^(?:model name|cpu model|cpu)\s*: *(\S.*?)\s*$", re.MULTILINE)
LONGEST_NAME = 200


def this_place() -> Recorded:
    """Return the description of the running system. Values that cannot be read or measured are left out."""
    named, clock, rate = _NAME.search(cpu_info()), None, None
    with suppress(InputError):
        clock = read_sysfs().clock
    with suppress(CheckError, InputError):
        rate = core_rate(run_probe(quick=False, cores_alone=True))
    name, clock_hz = named[1][:LONGEST_NAME] if named else "", int(clock.ghz * GIGA) if clock else 0
    return Recorded(name, clock_hz, rate[0] if rate else 0)


# ---- recordings ------------------------------------------------------------------------------------------------------
#
# Some programs divide work by the number of threads. A recording of one thread does not show how several threads would
# divide this work.

MOST = 0.01  # the largest accepted share of divided work, all of which one thread does in the graph
_PS_PER_MS = 10**9


def require_undivided(threads: Sequence[TimedEvents]) -> None:
    """Raise InputError if a team would divide more than `MOST` of the work in a recording of one thread. The message
    names the region with the largest part of this work.
    """
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
# As long as the recordings of a program have taken less than SHORT_PS together (over all threads, waits for turns
# included), the program is recorded up to SHORT_REPEATS times. The reason: the minimum of only three timings of a piece
# is some per cent too long, and with several workers the longest of many pieces determines the time of a loop.
SHORT_REPEATS, SHORT_PS = 15, 10**13
SETTLED = 0.01  # times have not settled if two more recordings shorten the program by at least this share
EVEN = 0.02  # times have settled if the recordings of odd and of even number differ by at most this share


@dataclass(frozen=True)
class Order:
    """A program to record: its command, the number of threads, and the number of runs (None: as many as needed).

    Without ``threads`` the program runs with one thread, and a program that divides work by the number of threads is
    refused. ``on`` is the machine of the recording (None: this machine, whose rate is measured). With ``parallel_part``
    the work between parallel regions is left out. With ``quiet`` the output of the first run is dropped; the output of
    later runs is always dropped.
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
    """A task graph, and information on its recording.

    ``runs`` is the number of runs, and ``joined`` the number of runs with the events of the graph. ``spread`` is the
    remaining disturbance: the relative difference in work between the runs of odd number and the runs of even number;
    None for a single run. ``parts`` has the work of parts of regions, and ``blocked_ps`` the time for which the program
    waited without a processor, both by places in the program. ``left_out_ps`` is the work that ``parallel_part`` left
    out.
    """

    workload: Workload
    openmp: OpenmpLibrary
    threads: int
    runs: int
    joined: int
    spread: float | None
    status: int
    bytes: int
    odd: Counter[str]
    data: RecordedData
    parts: tuple[tuple[str, PartWork], ...] = ()
    blocked_ps: Mapping[str, int] = field(default_factory=dict)
    left_out_ps: int = 0
    chunks: int = 0  # tasks of the graph that are chunks of loops


def record(order: Order, costs: PieceCosts | None = None) -> Recording:
    """Record a program. ``costs`` (default: measured now) are subtracted from its times.

    Raise InputError if the program cannot be recorded, or uses constructs that a graph cannot express.
    """
    if order.on is not None:
        rate_of(order.on)  # reports a missing rate before the runs
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
    workload = recorded_workload(rows, data, kernels, order.name or Path(order.command[0]).name)
    place, sizes = this_place() if order.on is None else Recorded(), sum(map(len, data.accesses.values()))
    workload = replace(workload, recorded=replace(place, sizes=sizes, guessed_sizes=data.guessed))
    workload = workload if order.on is None else recorded_on(workload, order.on)
    validate(workload)
    return Recording(
        workload=workload,
        openmp=openmp,
        threads=len(chosen),
        runs=runs.count,
        joined=runs.joined,
        spread=runs.spread(),
        status=runs.status,
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
    """The recordings of one program so far."""

    def __init__(self, costs: PieceCosts) -> None:
        self._costs = costs
        self._groups: dict[bytes, list[tuple[TimedEvents, ...]]] = {}  # the recordings, by the digest of the events
        self._work: list[int] = []  # for each run, the work of the joined recording after the run, in ps
        self.count = 0
        self.status = 0

    def add(self, threads: Sequence[ThreadEvents], status: int) -> None:
        """Keep a recording."""
        each = tick_ps(threads)
        kept = tuple(timed(thread, each, self._costs.allocate_ps) for thread in threads)
        self._groups.setdefault(events_digest(kept), []).append(kept)
        self.count += 1
        self.status = self.status or status
        self._work.append(_work(self.chosen()))

    def more(self, order: Order) -> bool:
        """Return whether another run is needed."""
        if order.repeats is not None:
            return self.count < order.repeats
        if self.count < FEWEST_REPEATS:
            return True
        if not self._alike():
            return False  # no two recordings have the same events
        if self.count < SHORT_REPEATS and self.count * self._work[-1] < SHORT_PS:
            return True
        gain = self._work[-3] - self._work[-1]
        spread = self.spread()
        settled = gain <= SETTLED * self._work[-1] and spread is not None and spread <= EVEN
        return self.count < MOST_REPEATS and not settled

    def _alike(self) -> list[tuple[TimedEvents, ...]]:
        """Return the largest group of recordings with the same events; an empty list if no two recordings are alike."""
        found = max(self._groups.values(), key=len, default=[])
        return found if len(found) > 1 or self.count == 1 else []

    @property
    def joined(self) -> int:
        """Return the number of recordings that the graph is made of."""
        return len(self._alike()) or 1

    def chosen(self) -> tuple[TimedEvents, ...]:
        """Return the joined recording; if no two recordings have the same events, the recording with the least work."""
        alike = self._alike()
        return _joined(alike) if alike else min((group[0] for group in self._groups.values()), key=_work)

    def spread(self) -> float | None:
        """Return the relative difference in work between the joined recordings of odd number and of even number."""
        alike = self._alike()
        if len(alike) < 2:
            return None
        halves: list[int] = [_work(_joined(alike[first::2])) for first in (0, 1)]
        return abs(halves[0] - halves[1]) / max(1, min(halves))


def _joined(recordings: Sequence[tuple[TimedEvents, ...]]) -> tuple[TimedEvents, ...]:
    return tuple(shortest(threads) for threads in zip(*recordings, strict=True))


def _work(threads: Sequence[TimedEvents]) -> int:
    """Return the time of all threads from the begin of the program on, in ps, without their waits in OpenMP."""
    return int(sum(np.sum((thread.gap_ps * _works(thread.events))[_begin(thread) :]) for thread in threads))


def _works(events: ThreadEvents) -> npt.NDArray[np.bool_]:
    """Return [events] whether the thread may have worked just before the event."""
    ends = np.isin(events.kind, (Event.SYNC, Event.SYNC_WAIT)) & (events.argument & 3 == Endpoint.END)
    found: npt.NDArray[np.bool_] = ~(ends | np.isin(events.kind, (Event.IMPLICIT, Event.IMPLICIT_END)))
    found[1:] &= events.kind[:-1] != Event.IMPLICIT_END
    return found


def _begin(thread: TimedEvents) -> int:
    """Return the index of the first event that ends a piece of the program."""
    found = np.flatnonzero(thread.events.kind == Event.START)
    return int(found[0]) + 1 if len(found) else 1


# ---- the command's text about a recording ----------------------------------------------------------------------------

MOST_NAMED = 5
SMALL = 0.01  # parts of regions with at least this share of the program's work are named


def lines_of(found: Recording) -> Iterator[str]:
    """Yield the command's text about a recording, line by line, the most important line first."""
    work = found.workload
    tasks = int(np.count_nonzero(work.kind == Kind.TASK))
    calls = int(np.count_nonzero(work.kind == Kind.CALL))
    total_ms = int(work.segment_compute_ps.sum()) / _PS_PER_MS
    chunks = f" (of which {found.chunks:,} are chunks of loops)" if found.chunks else ""
    yield f"{tasks:,} tasks{chunks}, {calls:,} calls, {len(work.phases)} phases, {total_ms:,.3f} ms of work"
    yield f"recorded with {found.threads} {'thread' if found.threads == 1 else 'threads'} through {found.openmp}"
    yield _runs_line(found)
    if work.recorded:
        unknown = "" if work.recorded.core_steps_per_s else "; how fast its cores compute was not measured"
        yield f"recorded on {work.recorded.place}{unknown}"
    if found.status:
        yield f"the program ended with status {found.status}"
    yield from _without_tasks_lines(found, total_ms)
    yield from _blocked_lines(found)
    if found.left_out_ps:
        yield f"left out: {found.left_out_ps / _PS_PER_MS:,.3f} ms of work between the parallel regions"
    yield _data_line(found)
    for what, count in sorted(found.odd.items()):
        yield f"not in the graph as in the program: {count:,} {what}"


def _without_tasks_lines(found: Recording, total_ms: float) -> Iterator[str]:
    """Yield a line for each part of a region that works for long without any task, the longest part first."""
    long = [(name, each) for name, each in found.parts if not each.tasks]
    long = [(name, each) for name, each in long if each.body_ps > SMALL * total_ms * _PS_PER_MS]
    for name, each in sorted(long, key=lambda pair: -pair[1].body_ps)[:MOST_NAMED]:
        shares = "the share of its only thread" if each.team == 1 else f"the shares of its {each.team} threads"
        own = f"{each.body_ps / _PS_PER_MS:,.3f} ms without any task"
        yield f"{name}: {own}, {shares}, of which no other worker takes any"
    if len(long) > MOST_NAMED:
        yield f"and {len(long) - MOST_NAMED:,} more parts of regions without any task"


def _blocked_lines(found: Recording) -> Iterator[str]:
    total_ps = sum(found.blocked_ps.values())
    if total_ps:
        most = sorted(found.blocked_ps.items(), key=lambda pair: -pair[1])[:MOST_NAMED]
        where = ", ".join(f"{ps / _PS_PER_MS:,.3f} ms {name}" for name, ps in most)
        yield (
            f"no work of the graph: {total_ps / _PS_PER_MS:,.3f} ms for which the program waited without a processor, "
            f"as for files or a time to pass ({where})"
        )


def _data_line(found: Recording) -> str:
    data = found.data
    if not data.source:
        return (
            "the graph has no accesses to memory, so that simulations of it say nothing about memory: "
            "declare them with numasim/record.h"
        )
    count = sum(map(len, data.accesses.values()))
    moved = sum(access.row_bytes * access.rows for each in data.accesses.values() for access in each)
    said = f"{count:,} accesses to {moved:,} bytes in {len(data.regions):,} regions, by {data.source}"
    if not data.guessed:
        return said
    lines = f", {data.unknown:,} addresses in no block as a cache line each" if data.unknown else ""
    return (
        f"{said}; {data.guessed:,} of {count:,} sizes are guesses{lines}, made of the addresses of dependences: "
        "declare accesses with numasim/record.h (ns_record_access, ns_record_tile)"
    )


def _runs_line(found: Recording) -> str:
    if found.spread is None:
        return (
            f"{found.runs} {'run' if found.runs == 1 else 'runs'}, of which one was taken: its times hold disturbances"
        )
    left = f"a spread of {100 * found.spread:.1f} % is left"
    return f"{found.runs} runs, of which {found.joined} had the same events and were joined; {left}"
