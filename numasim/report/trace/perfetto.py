"""A run as a trace for Perfetto and chrome://tracing: Chrome's JSON trace events, written while the run goes on.

A NUMA node is a process, a worker is a thread of the process, and the activities of a worker are slices. A steal is an
arrow from the slice of the victim to the next slice of the thief. Counters show the lengths of queues and the use of
each resource. Phases have their own track. Times are microseconds with six decimals, which is exact to the
picosecond.

Slices are written as pairs of begin and end events, because Perfetto rounds times to nanoseconds and slices with a
duration could then overlap. A slice is written when it ends. The memory for unwritten events is bounded by the numbers
of workers and queues.
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
from typing import IO, BinaryIO, cast

from numasim.engine.observe.watch import I64, NOBODY, Watched, Watcher
from numasim.files.writer import writing
from numasim.parts.unit_factors import GIGA, PS_PER_US
from numasim.plan.plan import Plan
from numasim.plan.resources import BYTES_UNIT, Resource, resources_of
from numasim.workload.phases import steps

MOST_QUEUES = 32  # most queues with a counter each; for more queues, one counter shows the sum of each node
MACHINE = 1  # the process of all things that belong to no node; Perfetto gives process 0 a special meaning
GZIP_LEVEL = 1
CHUNK_ROWS = 1024  # rows that are converted to Python objects at one time
ARRIVAL_PS = 1_000
NAMES: dict[int, str] = {
    Watched.OVERHEAD: '"overhead"',
    Watched.IDLE: '"idle"',
    Watched.PARKED: '"parked"',
    Watched.BARRIER: '"barrier"',
}


@contextmanager
def trace_to(path: Path, plan: Plan) -> Iterator[Watcher]:
    """Yield a watcher that writes the trace to ``path``, compressed if the name ends in .gz.

    The file appears, complete, only if the block ends without an error. Raises InputError for a path that cannot be
    written.
    """
    with writing(path) as binary, text_to(binary, path.suffix == ".gz") as file:
        writer = TraceWriter(plan, file.write)
        yield writer
        writer.close()


@contextmanager
def text_to(binary: BinaryIO, packed: bool) -> Iterator[IO[str]]:
    """Yield a file of text whose contents are written to ``binary``, which stays open."""
    with ExitStack() as files:
        if packed:  # without a name and a date, so that the same run gives the same bytes
            binary = cast(BinaryIO, files.enter_context(gzip.GzipFile("", "wb", GZIP_LEVEL, binary, mtime=0)))
        text = TextIOWrapper(binary, encoding="utf-8")
        files.callback(text.detach)
        yield text
        text.flush()


class TraceWriter:
    """A `Watcher` that writes trace events; `close` writes the rest of the file."""

    def __init__(self, plan: Plan, write: Callable[[str], object]) -> None:
        self._write = write
        self._first = True
        self._phases = plan.workload.phases
        self._steps = steps(plan.workload.phases, plan.workload.loops)
        self._kernels = [json.dumps(name or "work") for name in plan.workload.kernels]
        nodes = [*plan.workers.node.tolist(), int(plan.workers.node[0])]  # the nodes of the workers, then of a producer
        self._tracks = [f'"pid":{_process(node)},"tid":{actor + 1}' for actor, node in enumerate(nodes)]
        self._phase_track = f'"pid":{MACHINE},"tid":{len(nodes) + 1}'
        self._counters = Counters(plan, resources_of(plan).listed if plan.coupled else (), self._event)
        self._flows = Flows()
        self._write('{"displayTimeUnit":"ns","otherData":')
        self._write(json.dumps({"generator": "numasim", "workload": plan.workload.name, "machine": plan.machine.name}))
        self._write(',"traceEvents":[')
        self._name("process", MACHINE, 0, plan.machine.name, 0)
        self._name("thread", MACHINE, len(nodes) + 1, "phases", 0)
        for node in range(plan.machine.nodes):
            name = f"node {node} (socket {plan.machine.socket_of_node[node]})"
            self._name("process", _process(node), 0, name, node + 1)
        actors = nodes if plan.producer == "extra" and plan.workload.ranges else nodes[:-1]
        for actor, node in enumerate(actors):
            name = f"worker {actor}" if actor < len(nodes) - 1 else "producer"
            self._name("thread", _process(node), actor + 1, name, actor)

    def _name(self, kind: str, process: int, thread: int, name: str, order: int) -> None:
        """Write the name of a process or thread, and the place in the order of processes or threads."""
        place = {"ph": "M", "pid": process, "tid": thread}
        for event in (
            {**place, "name": f"{kind}_name", "args": {"name": name}},
            {**place, "name": f"{kind}_sort_index", "args": {"sort_index": order}},
        ):
            self._event(json.dumps(event, separators=(",", ":")))

    def __call__(self, rows: I64) -> None:
        """Write the rows [n, COLUMNS]."""
        for at in range(0, len(rows), CHUNK_ROWS):
            for row in rows[at : at + CHUNK_ROWS].tolist():
                self._write_row(*row)

    def _write_row(
        self, kind: int, actor: int, begin_ps: int, end_ps: int, first: int, second: int, third: int
    ) -> None:
        if kind == Watched.LENGTH:
            self._counters.length(actor, begin_ps, first)
        elif kind == Watched.WORK:
            self._slice(actor, self._kernels[third], begin_ps, end_ps, f'{{"task":{first},"segment":{second}}}')
        elif kind == Watched.IDLE:
            if begin_ps < end_ps:
                probing = microseconds(third)
                arguments = f'{{"failed_attempts":{first},"failed_remote":{second},"probing_us":{probing}}}'
                self._slice(actor, NAMES[kind], begin_ps, end_ps, arguments)
        elif kind == Watched.STEAL:
            if second not in (NOBODY, actor):
                self._flows.add(victim=second, thief=actor, at_ps=begin_ps)
        elif kind == Watched.LOAD:
            self._counters.load(actor, begin_ps, first)
        elif kind == Watched.PHASE:
            phase = self._phases[next(self._steps).phase]  # phases come in their order
            name = json.dumps(f"{phase.name or ('serial phase' if phase.serial else 'phase')} {actor}")
            self._event(f'{{"ph":"B",{self._phase_track},"ts":{microseconds(begin_ps)},"name":{name}}}')
            self._event(f'{{"ph":"E",{self._phase_track},"ts":{microseconds(end_ps)}}}')
        else:
            self._slice(actor, NAMES[kind], begin_ps, end_ps, "{}")

    def close(self) -> None:
        """Write the events that are held back, and the end of the file."""
        self._counters.close()
        for worker, at_ps in self._flows.left():
            self._slice(worker, '"end"', at_ps, at_ps, "{}")
        self._write("\n]}\n")

    def _event(self, text: str) -> None:
        self._write("\n" if self._first else ",\n")
        self._first = False
        self._write(text)

    def _slice(self, worker: int, name: str, begin_ps: int, end_ps: int, arguments: str) -> None:
        track = self._tracks[worker]
        self._event(f'{{"ph":"B",{track},"ts":{microseconds(begin_ps)},"name":{name},"args":{arguments}}}')
        for at_ps, text in self._flows.of_slice(worker, begin_ps, end_ps):
            self._event(f'{{{text},{track},"ts":{microseconds(at_ps)}}}')
        self._event(f'{{"ph":"E",{track},"ts":{microseconds(end_ps)}}}')


class Counters:
    """The counter tracks of a trace. Of several values of a track at one time, the last value is written."""

    def __init__(self, plan: Plan, resources: Sequence[Resource], event: Callable[[str], None]) -> None:
        self._event = event
        self._pending: dict[str, tuple[int, str]] = {}  # time and value of each track, not yet written
        self._process = [MACHINE if home < 0 else _process(home) for home in plan.steal.queues["home"].tolist()]
        self._lengths = [0] * len(self._process)
        self._totals: dict[int, int] = defaultdict(int)
        owner = {int(queue): worker for worker, queue in enumerate(plan.steal.own)}
        queues = range(len(self._process))
        names = [f"queue of worker {owner[each]}" if each in owner else f"shared queue {each}" for each in queues]
        self._queue = [
            f'"pid":{process},"name":{json.dumps(name)}'
            for process, name in zip(self._process, in_order(names), strict=True)
        ]
        of_resources = in_order([resource.name for resource in resources])
        self._resource = [f'"pid":{MACHINE},"name":{json.dumps(name)}' for name in of_resources]
        self._unit = [resource.kind.unit for resource in resources]

    def length(self, queue: int, at_ps: int, tasks: int) -> None:
        """Record that ``queue`` has ``tasks`` from ``at_ps`` on."""
        if len(self._process) <= MOST_QUEUES:
            self._set(self._queue[queue], at_ps, f'{{"tasks":{tasks}}}')
            return
        process = self._process[queue]
        self._totals[process] += tasks - self._lengths[queue]
        self._lengths[queue] = tasks
        self._set(f'"pid":{process},"name":"queues"', at_ps, f'{{"tasks":{self._totals[process]}}}')

    def load(self, resource: int, at_ps: int, used: int) -> None:
        """Record that ``used`` units of ``resource`` per second, such as bytes, are in use from ``at_ps`` on."""
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
    """The ends of arrows that wait for the slice of the victim or thief in which the ends lie.

    An arrow takes `ARRIVAL_PS`: Perfetto takes events of one nanosecond in the order of the file, and the slice of a
    thief may be written before the slice of the victim.
    """

    def __init__(self) -> None:
        self._count = 0
        self._waiting: dict[int, list[tuple[int, int, str]]] = defaultdict(list)  # by worker: time, arrow, text

    def add(self, victim: int, thief: int, at_ps: int) -> None:
        """Add an arrow from one worker to another."""
        self._count += 1
        common = f'"cat":"steal","name":"steal","id":{self._count}'
        insort(self._waiting[victim], (at_ps, self._count, f'"ph":"s",{common}'))
        insort(self._waiting[thief], (at_ps + ARRIVAL_PS, self._count, f'"ph":"f","bp":"e",{common}'))

    def of_slice(self, worker: int, begin_ps: int, end_ps: int) -> Iterator[tuple[int, str]]:
        """Yield, in order, the time and text of the ends that lie in a slice."""
        waiting = self._waiting[worker]
        count = bisect_left(waiting, (max(end_ps, begin_ps + 1),))
        for at_ps, _, text in waiting[:count]:
            yield max(at_ps, begin_ps), text
        del waiting[:count]

    def left(self) -> list[tuple[int, int]]:
        """Return worker and time of the last waiting end of an arrow, for each worker with waiting ends."""
        return [(worker, ends[-1][0]) for worker, ends in sorted(self._waiting.items()) if ends]


def microseconds(time_ps: int) -> str:
    """Return a time as a decimal number of microseconds, exactly."""
    return f"{time_ps // PS_PER_US}.{time_ps % PS_PER_US:06d}"


def in_order(names: Sequence[str]) -> list[str]:
    """Return ``names`` with zeros before their numbers, because Perfetto lists counters in alphabetical order."""
    digits = max((len(number) for name in names for number in re.findall(r"\d+", name)), default=0)
    return [re.sub(r"\d+", lambda number: number[0].zfill(digits), name) for name in names]


def _process(node: int) -> int:
    return MACHINE + 1 + node
