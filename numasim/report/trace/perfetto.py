"""A run as a trace that Perfetto and chrome://tracing open: Chrome's JSON trace events, written while the run goes on.

A NUMA node is a process, a worker a thread of it, and what a worker does are slices; a steal is an arrow from the slice
of the victim to the next slice of the thief. How many tasks wait and how much of each resource is in use are counters.
Phases have a track of their own. Times are microseconds with six decimals, so that no picosecond is lost.

Slices are written as pairs of begin and end events: Perfetto rounds times to nanoseconds, and slices given by their
duration could then overlap. A slice is written when it ends, and what is held in memory meanwhile is bounded by the
numbers of workers and queues.
"""

from __future__ import annotations

import gzip
import json
import re
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from numasim.engine.observe.watch import I64, NOBODY, Watched, Watcher
from numasim.files.writer import writing
from numasim.parts.unit_factors import GIGA, PS_PER_US
from numasim.plan.plan import Plan
from numasim.plan.resources import BYTES_UNIT, Resource, resources_of
from numasim.workload.phases import steps

MOST_QUEUES = 32  # with a counter each; with more queues, a counter shows the sum of each node
MACHINE = 1  # the process of what belongs to no node; Perfetto gives process 0 a special meaning
GZIP_LEVEL = 1
CHUNK_ROWS = 1024  # rows that are converted to Python objects at one time
ARRIVAL_PS = 1_000

Event = dict[str, Any]


@contextmanager
def trace_to(path: Path, plan: Plan) -> Iterator[Watcher]:
    """Yield a watcher that writes the trace to ``path``, compressed where the name ends in .gz.

    The file appears, complete, only when the block ends without an error. Raises InputError for a path that
    cannot be written.
    """
    with writing(path) as binary, text_to(binary, path.suffix == ".gz") as file:
        writer = TraceWriter(plan, file.write)
        yield writer
        writer.close()


@contextmanager
def text_to(binary: BinaryIO, packed: bool) -> Iterator[IO[str]]:
    """Text that is written to ``binary``, which stays open."""
    with ExitStack() as files:
        if packed:  # no name and no date: the same run gives the same bytes
            binary = cast(BinaryIO, files.enter_context(gzip.GzipFile("", "wb", GZIP_LEVEL, binary, mtime=0)))
        text = TextIOWrapper(binary, encoding="utf-8")
        files.callback(text.detach)
        yield text
        text.flush()


class TraceWriter:
    """A `Watcher` that writes trace events; `close` writes the rest of the file."""

    def __init__(self, plan: Plan, write: Callable[[str], object]) -> None:
        self._write = write
        self._tracks = Tracks(plan)
        self._counters = Counters(self._tracks, resources_of(plan).listed if plan.coupled else (), self._event)
        self._flows = Flows()
        self._kernels = [json.dumps(name or "work") for name in plan.workload.kernels]
        self._names = {
            Watched.OVERHEAD: json.dumps("overhead"),
            Watched.IDLE: json.dumps("idle"),
            Watched.PARKED: json.dumps("parked"),
            Watched.BARRIER: json.dumps("barrier"),
        }
        self._first = True
        self._write('{"displayTimeUnit":"ns","otherData":')
        self._write(json.dumps({"generator": "numasim", "workload": plan.workload.name, "machine": plan.machine.name}))
        self._write(',"traceEvents":[')
        for event in self._tracks.names():
            self._event(json.dumps(event, separators=(",", ":")))

    def __call__(self, rows: I64) -> None:
        """Write the rows [n, COLUMNS]."""
        for at in range(0, len(rows), CHUNK_ROWS):
            self._write_rows(rows[at : at + CHUNK_ROWS])

    def _write_rows(self, rows: I64) -> None:
        for kind, actor, begin_ps, end_ps, first, second, third in rows.tolist():
            if kind == Watched.LENGTH:
                self._counters.length(actor, begin_ps, first)
            elif kind == Watched.WORK:
                arguments = f'{{"task":{first},"segment":{second}}}'
                self._slice(actor, self._kernels[third], begin_ps, end_ps, arguments)
            elif kind == Watched.IDLE:
                self._idle(actor, begin_ps, end_ps, first, second, third)
            elif kind == Watched.STEAL:
                self._steal(actor, begin_ps, second)
            elif kind == Watched.LOAD:
                self._counters.load(actor, begin_ps, first)
            elif kind == Watched.PHASE:
                self._phase(actor, begin_ps, end_ps)
            else:
                self._slice(actor, self._names[kind], begin_ps, end_ps, "{}")

    def close(self) -> None:
        """Write the events that are held back and the end of the file."""
        self._counters.close()
        for worker, at_ps in self._flows.left():
            self._slice(worker, json.dumps("end"), at_ps, at_ps, "{}")
        self._write("\n]}\n")

    def _event(self, text: str) -> None:
        self._write("\n" if self._first else ",\n")
        self._first = False
        self._write(text)

    def _slice(self, worker: int, name: str, begin_ps: int, end_ps: int, arguments: str) -> None:
        track = self._tracks.of_worker(worker)
        self._event(f'{{"ph":"B",{track},"ts":{microseconds(begin_ps)},"name":{name},"args":{arguments}}}')
        for at_ps, text in self._flows.of_slice(worker, begin_ps, end_ps):
            self._event(f'{{{text},{track},"ts":{microseconds(at_ps)}}}')
        self._event(f'{{"ph":"E",{track},"ts":{microseconds(end_ps)}}}')

    def _idle(self, worker: int, begin_ps: int, end_ps: int, failed: int, remote: int, probing_ps: int) -> None:
        if begin_ps == end_ps:
            return
        arguments = f'{{"failed_attempts":{failed},"failed_remote":{remote},"probing_us":{microseconds(probing_ps)}}}'
        self._slice(worker, self._names[Watched.IDLE], begin_ps, end_ps, arguments)

    def _steal(self, thief: int, at_ps: int, victim: int) -> None:
        if victim not in (NOBODY, thief):
            self._flows.add(victim, thief, at_ps)

    def _phase(self, number: int, begin_ps: int, end_ps: int) -> None:
        track, name = self._tracks.phases, json.dumps(self._tracks.phase_name(number))
        self._event(f'{{"ph":"B",{track},"ts":{microseconds(begin_ps)},"name":{name}}}')
        self._event(f'{{"ph":"E",{track},"ts":{microseconds(end_ps)}}}')


class Tracks:
    """Which process and thread every worker and counter belongs to, and their names."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._workers = plan.workers.workers
        nodes = [*plan.workers.node.tolist(), int(plan.workers.node[0])]  # of the workers, then of a producer
        self._track = [f'"pid":{_process(node)},"tid":{worker + 1}' for worker, node in enumerate(nodes)]
        self.phases = f'"pid":{MACHINE},"tid":{len(nodes) + 1}'
        self._steps = steps(plan.workload.phases, plan.workload.loops)
        self.queue_process = [MACHINE if home < 0 else _process(home) for home in plan.steal.queues["home"].tolist()]
        owner = {int(queue): worker for worker, queue in enumerate(plan.steal.own)}
        self.queue_name = in_order(
            [
                f"queue of worker {owner[queue]}" if queue in owner else f"shared queue {queue}"
                for queue in range(len(plan.steal.queues))
            ]
        )

    def of_worker(self, worker: int) -> str:
        """Process and thread of a worker, or of the producer, as part of an event."""
        return self._track[worker]

    def phase_name(self, number: int) -> str:
        """The name of the next phase, which has that number where each run counts; they come in their order."""
        phase = self._plan.workload.phases[next(self._steps).phase]
        return f"{phase.name or ('serial phase' if phase.serial else 'phase')} {number}"

    def names(self) -> Iterator[Event]:
        """The events that give processes and threads their names and order."""
        machine = self._plan.machine
        yield from _named("process", MACHINE, 0, machine.name, 0)
        yield from _named("thread", MACHINE, len(self._track) + 1, "phases", 0)
        for node in range(machine.nodes):
            name = f"node {node} (socket {machine.socket_of_node[node]})"
            yield from _named("process", _process(node), 0, name, node + 1)
        for worker, node in enumerate(self._plan.workers.node.tolist()):
            yield from _named("thread", _process(node), worker + 1, f"worker {worker}", worker)
        if self._plan.producer == "extra" and self._plan.workload.ranges:
            node = int(self._plan.workers.node[0])
            yield from _named("thread", _process(node), self._workers + 1, "producer", self._workers)


class Counters:
    """Counter tracks; of several values at one time the last one is written."""

    def __init__(self, tracks: Tracks, resources: Sequence[Resource], event: Callable[[str], None]) -> None:
        self._event = event
        self._pending: dict[str, tuple[int, str]] = {}
        process = tracks.queue_process
        self._lengths = [0] * len(process)
        self._by_queue = len(process) <= MOST_QUEUES
        self._totals: dict[int, int] = defaultdict(int)
        self._process = process
        self._queue = [f'"pid":{p},"name":{json.dumps(n)}' for p, n in zip(process, tracks.queue_name, strict=True)]
        names = in_order([resource.name for resource in resources])
        self._resource = [f'"pid":{MACHINE},"name":{json.dumps(name)}' for name in names]
        self._unit = [resource.kind.unit for resource in resources]

    def length(self, queue: int, at_ps: int, tasks: int) -> None:
        """From ``at_ps`` on there are ``tasks`` in ``queue``."""
        if self._by_queue:
            self._set(self._queue[queue], at_ps, f'{{"tasks":{tasks}}}')
            return
        process = self._process[queue]
        self._totals[process] += tasks - self._lengths[queue]
        self._lengths[queue] = tasks
        self._set(f'"pid":{process},"name":"queues"', at_ps, f'{{"tasks":{self._totals[process]}}}')

    def load(self, resource: int, at_ps: int, used: int) -> None:
        """From ``at_ps`` on ``used`` bytes, or of what else it has, per second of ``resource`` are in use."""
        unit = self._unit[resource]
        value = f'"GB/s":{used // GIGA}.{used % GIGA:09d}' if unit == BYTES_UNIT else f'"{unit}":{used}'
        self._set(self._resource[resource], at_ps, f"{{{value}}}")

    def close(self) -> None:
        """Write the last values."""
        for track, (at_ps, values) in self._pending.items():
            self._write(track, at_ps, values)
        self._pending.clear()

    def _set(self, track: str, at_ps: int, values: str) -> None:
        before = self._pending.get(track)
        if before and before[0] != at_ps:
            self._write(track, *before)
        self._pending[track] = at_ps, values

    def _write(self, track: str, at_ps: int, values: str) -> None:
        self._event(f'{{"ph":"C",{track},"ts":{microseconds(at_ps)},"args":{values}}}')


class Flows:
    """Ends of arrows that wait for the slice, of victim or thief, in which they lie.

    An arrow arrives `ARRIVAL_PS` after it leaves: Perfetto takes events of one nanosecond in the order of the file, and
    the slice of a thief may be written before that of its victim.
    """

    def __init__(self) -> None:
        self._count = 0
        self._waiting: dict[int, list[tuple[int, int, str]]] = defaultdict(list)

    def add(self, victim: int, thief: int, at_ps: int) -> None:
        """An arrow from one worker to another."""
        self._count += 1
        common = f'"cat":"steal","name":"steal","id":{self._count}'
        insort(self._waiting[victim], (at_ps, self._count, f'"ph":"s",{common}'))
        insort(self._waiting[thief], (at_ps + ARRIVAL_PS, self._count, f'"ph":"f","bp":"e",{common}'))

    def of_slice(self, worker: int, begin_ps: int, end_ps: int) -> Iterator[tuple[int, str]]:
        """(time, text) of the ends that lie in the slice, in order."""
        waiting = self._waiting[worker]
        count = bisect_left(waiting, (max(end_ps, begin_ps + 1),))
        for at_ps, _, text in waiting[:count]:
            yield max(at_ps, begin_ps), text
        del waiting[:count]

    def left(self) -> list[tuple[int, int]]:
        """(worker, time) of the last end of each worker whose slices are all over before it."""
        return [(worker, ends[-1][0]) for worker, ends in sorted(self._waiting.items()) if ends]


def microseconds(time_ps: int) -> str:
    """A time as a decimal number of microseconds, exactly."""
    return f"{time_ps // PS_PER_US}.{time_ps % PS_PER_US:06d}"


def in_order(names: Sequence[str]) -> list[str]:
    """``names`` with zeros before their numbers: Perfetto lists counters in the order of the alphabet."""
    digits = max((len(number) for name in names for number in re.findall(r"\d+", name)), default=0)
    return [re.sub(r"\d+", lambda number: number[0].zfill(digits), name) for name in names]


def _process(node: int) -> int:
    return MACHINE + 1 + node


def _named(kind: str, process: int, thread: int, name: str, order: int) -> Iterator[Event]:
    place = {"ph": "M", "pid": process, "tid": thread}
    yield {**place, "name": f"{kind}_name", "args": {"name": name}}
    yield {**place, "name": f"{kind}_sort_index", "args": {"sort_index": order}}
