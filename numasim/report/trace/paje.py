"""A run as a Paje trace, which ViTE, pajeng and other tools read (Schnorr, Paje trace file format, 2016).

The machine contains NUMA nodes, and these workers. What a worker does is its state, one for each part of the time split
that is a stretch of time; a state of work also says which task, segment and kernel. A steal is a link from the victim
to the thief. Times are seconds with twelve decimals, so that no picosecond is lost, and never go back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from numasim.engine.observe.watch import I64, NOBODY, Watched, Watcher
from numasim.files.writer import writing
from numasim.plan.plan import Plan
from numasim.report.trace.perfetto import text_to
from numasim.report.trace.time_order import GONE, TimeOrder

PS_PER_S = 10**12
CHUNK_ROWS = 1024  # rows that are converted to Python objects at one time

FIELDS = {  # by the number of the event in the file: name, and its fields with their types
    0: ("PajeDefineContainerType", (("Alias", "string"), ("Type", "string"), ("Name", "string"))),
    1: ("PajeDefineStateType", (("Alias", "string"), ("Type", "string"), ("Name", "string"))),
    2: (
        "PajeDefineLinkType",
        (
            ("Alias", "string"),
            ("Type", "string"),
            ("StartContainerType", "string"),
            ("EndContainerType", "string"),
            ("Name", "string"),
        ),
    ),
    3: ("PajeDefineEntityValue", (("Alias", "string"), ("Type", "string"), ("Name", "string"), ("Color", "color"))),
    4: (
        "PajeCreateContainer",
        (("Time", "date"), ("Alias", "string"), ("Type", "string"), ("Container", "string"), ("Name", "string")),
    ),
    5: ("PajeDestroyContainer", (("Time", "date"), ("Type", "string"), ("Name", "string"))),
    6: ("PajeSetState", (("Time", "date"), ("Type", "string"), ("Container", "string"), ("Value", "string"))),
    7: (
        "PajeSetState",
        (
            ("Time", "date"),
            ("Type", "string"),
            ("Container", "string"),
            ("Value", "string"),
            ("Task", "int"),
            ("Segment", "int"),
            ("Kernel", "string"),
        ),
    ),
    8: (
        "PajeStartLink",
        (
            ("Time", "date"),
            ("Type", "string"),
            ("Container", "string"),
            ("Value", "string"),
            ("StartContainer", "string"),
            ("Key", "string"),
        ),
    ),
    9: (
        "PajeEndLink",
        (
            ("Time", "date"),
            ("Type", "string"),
            ("Container", "string"),
            ("Value", "string"),
            ("EndContainer", "string"),
            ("Key", "string"),
        ),
    ),
}
STATES: dict[int, tuple[str, str, str]] = {  # alias, name and colour: those of the figures
    Watched.WORK: ("work", "work", "0.00 0.62 0.45"),
    Watched.OVERHEAD: ("overhead", "overhead", "0.80 0.47 0.65"),
    Watched.IDLE: ("idle", "waiting for work", "0.00 0.45 0.70"),
    Watched.PARKED: ("parked", "asleep", "0.85 0.85 0.85"),
    Watched.BARRIER: ("barrier", "waiting at a serial phase", "0.55 0.55 0.55"),
    GONE: ("gone", "gone", "1.00 1.00 1.00"),
}


@contextmanager
def paje_to(path: Path, plan: Plan) -> Iterator[Watcher]:
    """Yield a watcher that writes the trace to ``path``, compressed where the name ends in .gz; as `trace_to`."""
    with writing(path) as binary, text_to(binary, path.suffix == ".gz") as file:
        writer = PajeWriter(plan, file.write)
        order = TimeOrder(writer.actors, writer.take)
        yield order
        order.close()
        writer.close(order.end_ps)


class PajeWriter:
    """Writes the head, then rows in the order of time, then the end."""

    def __init__(self, plan: Plan, write: Callable[[str], object]) -> None:
        self._write = write
        self._nodes = plan.workers.node.tolist()
        self._names = [f"worker {worker}" for worker in range(len(self._nodes))]
        if plan.producer == "extra" and plan.workload.ranges:
            self._nodes.append(self._nodes[0])
            self._names.append("producer")
        self.actors = len(self._names)
        self._kernels = [quoted(name or "work") for name in plan.workload.kernels]
        self._links = 0
        self._head(plan)

    def _head(self, plan: Plan) -> None:
        for number, (event, fields) in FIELDS.items():
            lines = [f"%EventDef {event} {number}", *(f"% {name} {kind}" for name, kind in fields), "%EndEventDef"]
            self._write("".join(f"{line}\n" for line in lines))
        self._write('0 M 0 "machine"\n0 N M "NUMA node"\n0 W N "worker"\n1 S W "state of a worker"\n')
        self._write('2 L M W W "steal"\n')
        for alias, name, colour in STATES.values():
            self._write(f'3 {alias} S {quoted(name)} "{colour}"\n')
        zero = seconds(0)
        self._write(f"4 {zero} m M 0 {quoted(plan.machine.name)}\n")
        for node in sorted(set(self._nodes)):
            self._write(f'4 {zero} n{node} N m "node {node}"\n')
        for worker, (node, name) in enumerate(zip(self._nodes, self._names, strict=True)):
            self._write(f"4 {zero} w{worker} W n{node} {quoted(name)}\n")

    def take(self, rows: I64) -> None:
        """Write rows in the order of time."""
        for at in range(0, len(rows), CHUNK_ROWS):
            for row in rows[at : at + CHUNK_ROWS].tolist():
                self._row(*row)

    def _row(self, kind: int, actor: int, begin_ps: int, _end_ps: int, first: int, second: int, third: int) -> None:
        time = seconds(begin_ps)
        if kind == Watched.STEAL:
            if second not in (NOBODY, actor):
                self._links += 1
                self._write(f"8 {time} L m {third} w{second} {self._links}\n")
                self._write(f"9 {time} L m {third} w{actor} {self._links}\n")
        elif kind == Watched.WORK:
            self._write(f"7 {time} S w{actor} work {first} {second} {self._kernels[third]}\n")
        else:
            self._write(f"6 {time} S w{actor} {STATES[kind][0]}\n")

    def close(self, end_ps: int) -> None:
        """Write that everything ends at the makespan."""
        time = seconds(end_ps)
        for worker in range(len(self._nodes)):
            self._write(f"5 {time} W w{worker}\n")
        for node in sorted(set(self._nodes)):
            self._write(f"5 {time} N n{node}\n")
        self._write(f"5 {time} M m\n")


def seconds(time_ps: int) -> str:
    """A time as a decimal number of seconds, exactly."""
    return f"{time_ps // PS_PER_S}.{time_ps % PS_PER_S:012d}"


def quoted(text: str) -> str:
    """A text as one field: without quotes, and in one line."""
    return '"' + " ".join(text.replace('"', "'").split()) + '"'
