"""A run as a Paraver trace: three files, NAME.prv with records, NAME.pcf with names, NAME.row with rows.

The format is that of "Paraver: Tracefile description" (BSC, 2001). A NUMA node is a node and a task of the only
application, a worker a thread of it on a processor of its own. A stretch of time is a state, a steal a communication
whose size is the number of tasks; what is executed is two events. Records are in the order of time.

Times are picoseconds, so that none is lost. The format has no name for them: its head says nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from numasim.engine.observe.watch import I64, NOBODY, Watched, Watcher
from numasim.errors import InputError
from numasim.files.writer import writing
from numasim.plan.plan import Plan
from numasim.report.trace.time_order import GONE, TimeOrder

CHUNK_ROWS = 1024  # rows that are converted to Python objects at one time
TASK_EVENT, KERNEL_EVENT = 64_000_001, 64_000_002  # the value is 1 more than the number; 0: nothing is executed
DIGITS = 20  # of the makespan, which is written last
DATE = "01/01/00 at 00:00"  # equal runs have equal files
STATES: dict[
    int, tuple[int, str, tuple[int, int, int]]
] = {  # number, name and colour: the numbers that the states of other programs have in Paraver
    Watched.WORK: (1, "work", (0, 158, 115)),
    Watched.OVERHEAD: (7, "overhead", (204, 121, 167)),
    Watched.IDLE: (0, "waiting for work", (0, 114, 178)),
    Watched.PARKED: (9, "asleep", (217, 217, 217)),
    Watched.BARRIER: (5, "waiting at a serial phase", (140, 140, 140)),
    GONE: (2, "gone", (255, 255, 255)),
}
OPTIONS = """\
DEFAULT_OPTIONS

LEVEL               THREAD
UNITS               NANOSEC
LOOK_BACK           100
SPEED               1
FLAG_ICONS          ENABLED
NUM_OF_STATE_COLORS 1000
YMAX_SCALE          37

DEFAULT_SEMANTIC

THREAD_FUNC         State As Is

"""
UNIT = "counts picoseconds, which Paraver shows as nanoseconds: it has no smaller unit"


@contextmanager
def paraver_to(path: Path, plan: Plan) -> Iterator[Watcher]:
    """Yield a watcher that writes ``path`` and the two files beside it; as `trace_to`."""
    with (
        writing(path) as records,
        writing(path.with_suffix(".pcf")) as names,
        writing(path.with_suffix(".row")) as rows,
    ):
        if not records.seekable():
            problem = "the makespan stands at the beginning of a Paraver trace"
            raise InputError(problem, place=str(path), expected="a regular file")
        writer = ParaverWriter(plan, records)
        names.write(writer.names().encode())
        rows.write(writer.rows().encode())
        order = TimeOrder(writer.actors, writer.take)
        yield order
        order.close()
        writer.close(order.end_ps)


class ParaverWriter:
    """Writes the head, then rows in the order of time."""

    def __init__(self, plan: Plan, file: BinaryIO) -> None:
        self._file = file
        nodes = plan.workers.node.tolist()
        self._names = [f"worker {worker}" for worker in range(len(nodes))]
        if plan.producer == "extra" and plan.workload.ranges:
            nodes.append(nodes[0])
            self._names.append("producer")
        self.actors = len(self._names)
        self._kernels = [" ".join((name or "work").split()) for name in plan.workload.kernels]
        self._nodes = sorted(set(nodes))
        self._order = sorted(range(len(nodes)), key=lambda actor: (nodes[actor], actor))
        self._threads = [nodes.count(node) for node in self._nodes]
        self._place = self._places(nodes)
        self._file.write(self._head(0).encode())

    def _places(self, nodes: list[int]) -> list[str]:
        """[actors] processor, application, task and thread of each."""
        places = [""] * len(nodes)
        seen = dict.fromkeys(self._nodes, 0)
        for processor, actor in enumerate(self._order, start=1):
            node = nodes[actor]
            seen[node] += 1
            places[actor] = f"{processor}:1:{self._nodes.index(node) + 1}:{seen[node]}"
        return places

    def _head(self, end_ps: int) -> str:
        processors = ",".join(map(str, self._threads))
        tasks = ",".join(f"{threads}:{number}" for number, threads in enumerate(self._threads, start=1))
        resources = f"{len(self._nodes)}({processors}):1:{len(self._nodes)}({tasks})"
        return f"#Paraver ({DATE}):{end_ps:0{DIGITS}d}_ns:{resources}\n"

    def take(self, rows: I64) -> None:
        """Write rows in the order of time."""
        for at in range(0, len(rows), CHUNK_ROWS):
            texts = [self._record(*row) for row in rows[at : at + CHUNK_ROWS].tolist()]
            self._file.write("".join(texts).encode())

    def _record(self, kind: int, actor: int, begin_ps: int, end_ps: int, first: int, second: int, third: int) -> str:
        place = self._place[actor]
        if kind == Watched.STEAL:
            if second in (NOBODY, actor):
                return ""
            times = f"{begin_ps}:{begin_ps}"
            return f"3:{self._place[second]}:{times}:{place}:{times}:{third}:{first}\n"
        task, kernel = (first + 1, third + 1) if kind == Watched.WORK else (0, 0)
        state = f"1:{place}:{begin_ps}:{end_ps}:{STATES[kind][0]}\n"
        return f"{state}2:{place}:{begin_ps}:{TASK_EVENT}:{task}:{KERNEL_EVENT}:{kernel}\n"

    def close(self, end_ps: int) -> None:
        """Put the makespan into the head."""
        self._file.seek(0)
        self._file.write(self._head(end_ps).encode())

    def names(self) -> str:
        """The contents of the file of names."""
        states = sorted(STATES.values())
        parts = [
            OPTIONS,
            "STATES\n",
            *(f"{number}    {name}\n" for number, name, _ in states),
            "\nSTATES_COLOR\n",
            *(f"{number}    {{{red},{green},{blue}}}\n" for number, _, (red, green, blue) in states),
            f"\nEVENT_TYPE\n0    {TASK_EVENT}    task, its number and 1\n",
            f"\nEVENT_TYPE\n0    {KERNEL_EVENT}    kernel\nVALUES\n0      none\n",
            *(f"{number}      {name}\n" for number, name in enumerate(self._kernels, start=1)),
        ]
        return "".join(parts)

    def rows(self) -> str:
        """The contents of the file of rows."""
        names = [self._names[actor] for actor in self._order]
        nodes = [f"node {node}" for node in self._nodes]
        levels = (("CPU", names), ("NODE", nodes), ("THREAD", names))
        return "\n".join(
            f"LEVEL {level} SIZE {len(each)}\n" + "".join(f"{n}\n" for n in each) for level, each in levels
        )
