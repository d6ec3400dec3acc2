"""A run as a Paje or a Paraver trace: in both formats, events are in the order of time.

In a Paje trace (Schnorr, Paje trace file format, 2016), which ViTE, pajeng and other tools read, the machine contains
NUMA nodes, and the nodes contain workers. A stretch of a worker's time is a state; a state of work also has the task,
the segment and the kernel. A steal is a link from the victim to the thief. Times are seconds with twelve decimals,
which is exact to the picosecond.

A Paraver trace ("Paraver: Tracefile description", BSC, 2001) has three files: NAME.prv with records, NAME.pcf with
names, NAME.row with rows. A NUMA node is a node and a task of the only application, and a worker is a thread of the
task on a processor of its own. A stretch of a worker's time is a state with two events for the executed task and
kernel. A steal is a communication whose size is the number of tasks. Times are picoseconds. The format has no name for
picoseconds, so the head of the file says nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from numasim.engine.observe.watch import ACTOR, BEGIN, COLUMNS, END, I64, KIND, NOBODY, STRETCHES, Watched, Watcher
from numasim.errors import InputError
from numasim.files.writer import writing
from numasim.plan.plan import Plan
from numasim.report.trace.perfetto import text_to

PS_PER_S = 10**12
GATHERED_ROWS = 65_536  # rows that are sorted together
CHUNK_ROWS = 1024  # rows that are converted to Python objects at one time
KINDS = (*STRETCHES, Watched.STEAL)
GONE = -1  # a stretch in which a producer has nothing to do, which no row reports


class State(NamedTuple):
    """A kind of stretch: the alias in Paje, the number in Paraver, and the name and colour in both formats."""

    alias: str
    number: int  # the usual number of the state in Paraver
    name: str
    colour: tuple[int, int, int]  # the colour of the figures


STATES: dict[int, State] = {
    Watched.WORK: State("work", 1, "work", (0, 158, 115)),
    Watched.OVERHEAD: State("overhead", 7, "overhead", (204, 121, 167)),
    Watched.IDLE: State("idle", 0, "waiting for work", (0, 114, 178)),
    Watched.PARKED: State("parked", 9, "asleep", (217, 217, 217)),
    Watched.BARRIER: State("barrier", 5, "waiting at a serial phase", (140, 140, 140)),
    GONE: State("gone", 2, "gone", (255, 255, 255)),
}


class OrderedTrace:
    """A `Watcher` that writes stretches and steals in the order of their beginnings.

    The rows of one worker come in order, and the row of a stretch comes when the stretch ends. Therefore no later row
    begins before the last row of the worker that is furthest behind. Rows that begin earlier are written, and other
    rows wait. Stretches without a length are left out. After the end of a producer, the producer's next row is unknown,
    and all rows of the rest of the run wait.
    """

    def __init__(self, plan: Plan, file: IO[str]) -> None:
        self._file = file
        self._nodes = plan.workers.node.tolist()
        self._workers = len(self._nodes)  # also the number of the producer, if there is a producer
        self._names = [f"worker {worker}" for worker in range(len(self._nodes))]
        if plan.producer == "extra" and plan.workload.ranges:
            self._nodes.append(self._nodes[0])
            self._names.append("producer")
        self._begun = np.zeros(len(self._names), np.int64)  # the begin of the last row of each actor
        self._until = np.zeros(len(self._names), np.int64)
        self._waiting: list[I64] = []
        self._count = 0

    def __call__(self, rows: I64) -> None:
        """Gather rows, and write the rows that no later row precedes."""
        rows = rows[np.isin(rows[:, KIND], KINDS)]
        rows = np.concatenate([self._absences(rows), rows])
        np.maximum.at(self._begun, rows[:, ACTOR], rows[:, BEGIN])
        np.maximum.at(self._until, rows[:, ACTOR], rows[:, END])
        rows = rows[(rows[:, END] > rows[:, BEGIN]) | (rows[:, KIND] == Watched.STEAL)]
        self._waiting.append(rows)
        self._count += len(rows)
        if self._count >= GATHERED_ROWS:
            self._write_before(int(self._begun.min()))

    def close(self) -> None:
        """Write the remaining rows and the end of the file."""
        end_ps = int(self._until.max())  # the makespan
        early = np.flatnonzero(self._until < end_ps)
        self._waiting.append(_gone(early, self._until[early], np.full(len(early), end_ps)))
        self._write_before(end_ps + 1)
        self._end(end_ps)

    def _absences(self, rows: I64) -> I64:
        """Return the stretches of a producer before and between ``rows``, such as a serial phase at the start."""
        mine = rows[rows[:, ACTOR] == self._workers]
        ends = np.append(self._until[self._workers :], mine[:-1, END])[: len(mine)]
        late = mine[:, BEGIN] > ends
        return _gone(mine[late, ACTOR], ends[late], mine[late, BEGIN])

    def _write_before(self, until_ps: int) -> None:
        rows = np.concatenate([np.zeros((0, COLUMNS), np.int64), *self._waiting])
        rows = rows[np.argsort(rows[:, BEGIN], kind="stable")]
        count = int(np.searchsorted(rows[:, BEGIN], until_ps))
        self._waiting, self._count = [rows[count:]], 0
        for at in range(0, count, CHUNK_ROWS):
            chunk = rows[at : min(at + CHUNK_ROWS, count)].tolist()
            self._file.write("".join(self._event(*row) for row in chunk))

    def _event(self, kind: int, actor: int, begin_ps: int, end_ps: int, first: int, second: int, third: int) -> str:
        if kind != Watched.STEAL:
            return self._stretch(kind, actor, begin_ps, end_ps, first, second, third)
        return self._steal(actor, begin_ps, second, first, third) if second not in (NOBODY, actor) else ""

    def _stretch(self, kind: int, actor: int, begin_ps: int, end_ps: int, task: int, segment: int, kernel: int) -> str:
        """Return a stretch as text; only work has a task, a segment and a kernel."""
        raise NotImplementedError

    def _steal(self, thief: int, time_ps: int, victim: int, first: int, tasks: int) -> str:
        """Return a steal as text."""
        raise NotImplementedError

    def _end(self, end_ps: int) -> None:
        """Write the end of the file; ``end_ps`` is the makespan."""
        raise NotImplementedError


def _gone(actors: I64, begin_ps: I64, end_ps: I64) -> I64:
    rows = np.zeros((len(actors), COLUMNS), np.int64)
    rows[:, KIND], rows[:, ACTOR], rows[:, BEGIN], rows[:, END] = GONE, actors, begin_ps, end_ps
    return rows


# ---- Paje ------------------------------------------------------------------------------------------------------------

EVENTS = (  # the events by their numbers in the file: name and fields
    "DefineContainerType Alias Type Name",
    "DefineStateType Alias Type Name",
    "DefineLinkType Alias Type StartContainerType EndContainerType Name",
    "DefineEntityValue Alias Type Name Color",
    "CreateContainer Time Alias Type Container Name",
    "DestroyContainer Time Type Name",
    "SetState Time Type Container Value",
    "SetState Time Type Container Value Task Segment Kernel",
    "StartLink Time Type Container Value StartContainer Key",
    "EndLink Time Type Container Value EndContainer Key",
)
FIELD_TYPES = {"Time": "date", "Color": "color", "Task": "int", "Segment": "int"}  # all other fields are strings


@contextmanager
def paje_to(path: Path, plan: Plan) -> Iterator[Watcher]:
    """Yield a watcher that writes the trace to ``path``, compressed if the name ends in .gz; errors as `trace_to`."""
    with writing(path) as binary, text_to(binary, path.suffix == ".gz") as file:
        writer = PajeTrace(plan, file)
        yield writer
        writer.close()


class PajeTrace(OrderedTrace):
    """Writes a Paje trace to a file of text."""

    def __init__(self, plan: Plan, file: IO[str]) -> None:
        super().__init__(plan, file)
        self._kernels = [quoted(name or "work") for name in plan.workload.kernels]
        self._links = 0
        for number, event in enumerate(EVENTS):
            name, *fields = event.split()
            typed = "".join(f"% {field} {FIELD_TYPES.get(field, 'string')}\n" for field in fields)
            file.write(f"%EventDef Paje{name} {number}\n{typed}%EndEventDef\n")
        file.write('0 M 0 "machine"\n0 N M "NUMA node"\n0 W N "worker"\n1 S W "state of a worker"\n')
        file.write('2 L M W W "steal"\n')
        for state in STATES.values():
            colour = " ".join(f"{part / 255:.2f}" for part in state.colour)
            file.write(f'3 {state.alias} S {quoted(state.name)} "{colour}"\n')
        zero = seconds(0)
        file.write(f"4 {zero} m M 0 {quoted(plan.machine.name)}\n")
        for node in sorted(set(self._nodes)):
            file.write(f'4 {zero} n{node} N m "node {node}"\n')
        for worker, (node, name) in enumerate(zip(self._nodes, self._names, strict=True)):
            file.write(f"4 {zero} w{worker} W n{node} {quoted(name)}\n")

    def _stretch(self, kind: int, actor: int, begin_ps: int, end_ps: int, task: int, segment: int, kernel: int) -> str:
        number, more = (7, f" {task} {segment} {self._kernels[kernel]}") if kind == Watched.WORK else (6, "")
        return f"{number} {seconds(begin_ps)} S w{actor} {STATES[kind].alias}{more}\n"

    def _steal(self, thief: int, time_ps: int, victim: int, first: int, tasks: int) -> str:
        self._links += 1
        ends = ((8, victim), (9, thief))
        return "".join(f"{number} {seconds(time_ps)} L m {tasks} w{each} {self._links}\n" for number, each in ends)

    def _end(self, end_ps: int) -> None:
        workers = [f"W w{worker}" for worker in range(len(self._nodes))]
        nodes = [f"N n{node}" for node in sorted(set(self._nodes))]
        for container in (*workers, *nodes, "M m"):
            self._file.write(f"5 {seconds(end_ps)} {container}\n")


def seconds(time_ps: int) -> str:
    """Return a time as a decimal number of seconds, exactly."""
    return f"{time_ps // PS_PER_S}.{time_ps % PS_PER_S:012d}"


def quoted(text: str) -> str:
    """Return a text as one field: without quotes, and on one line."""
    return '"' + " ".join(text.replace('"', "'").split()) + '"'


# ---- Paraver ---------------------------------------------------------------------------------------------------------

TASK_EVENT, KERNEL_EVENT = 64_000_001, 64_000_002  # value: number of task or kernel + 1, or 0 if nothing runs
DIGITS = 20  # digits of the makespan in the head, which is written last
DATE = "01/01/00 at 00:00"  # the same in all files, so that equal runs have equal files
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
    """Yield a watcher that writes ``path`` and the two files beside it; errors as in `trace_to`."""
    with (
        writing(path) as records,
        text_to(records, packed=False) as file,
        writing(path.with_suffix(".pcf")) as names,
        writing(path.with_suffix(".row")) as rows,
    ):
        if not records.seekable():
            problem = "the makespan stands at the beginning of a Paraver trace"
            raise InputError(problem, place=str(path), expected="a regular file")
        writer = ParaverTrace(plan, file)
        names.write(writer.names().encode())
        rows.write(writer.rows().encode())
        yield writer
        writer.close()


class ParaverTrace(OrderedTrace):
    """Writes the records of a Paraver trace to a file of text."""

    def __init__(self, plan: Plan, file: IO[str]) -> None:
        super().__init__(plan, file)
        self._kernels = [" ".join((name or "work").split()) for name in plan.workload.kernels]
        self._tasks = sorted(set(self._nodes))
        self._threads = [self._nodes.count(node) for node in self._tasks]
        self._order = sorted(range(len(self._nodes)), key=lambda actor: (self._nodes[actor], actor))
        self._place: dict[int, str] = {}  # of each actor: processor, application, task and thread
        for processor, actor in enumerate(self._order, start=1):
            task = self._tasks.index(self._nodes[actor])
            self._place[actor] = f"{processor}:1:{task + 1}:{processor - sum(self._threads[:task])}"
        file.write(self._head(0))

    def _head(self, end_ps: int) -> str:
        processors = ",".join(map(str, self._threads))
        tasks = ",".join(f"{threads}:{number}" for number, threads in enumerate(self._threads, start=1))
        resources = f"{len(self._tasks)}({processors}):1:{len(self._tasks)}({tasks})"
        return f"#Paraver ({DATE}):{end_ps:0{DIGITS}d}_ns:{resources}\n"

    def _stretch(self, kind: int, actor: int, begin_ps: int, end_ps: int, task: int, segment: int, kernel: int) -> str:
        place = self._place[actor]
        task, kernel = (task + 1, kernel + 1) if kind == Watched.WORK else (0, 0)
        state = f"1:{place}:{begin_ps}:{end_ps}:{STATES[kind].number}\n"
        return f"{state}2:{place}:{begin_ps}:{TASK_EVENT}:{task}:{KERNEL_EVENT}:{kernel}\n"

    def _steal(self, thief: int, time_ps: int, victim: int, first: int, tasks: int) -> str:
        ends = (f"{self._place[worker]}:{time_ps}:{time_ps}" for worker in (victim, thief))
        return f"3:{':'.join(ends)}:{tasks}:{first}\n"

    def _end(self, end_ps: int) -> None:
        """Write the makespan into the head."""
        self._file.seek(0)
        self._file.write(self._head(end_ps))

    def names(self) -> str:
        """Return the contents of the file of names."""
        states = sorted((state.number, state) for state in STATES.values())
        parts = [
            OPTIONS,
            "STATES\n",
            *(f"{number}    {state.name}\n" for number, state in states),
            "\nSTATES_COLOR\n",
            *(f"{number}    {{{','.join(map(str, state.colour))}}}\n" for number, state in states),
            f"\nEVENT_TYPE\n0    {TASK_EVENT}    task, its number and 1\n",
            f"\nEVENT_TYPE\n0    {KERNEL_EVENT}    kernel\nVALUES\n0      none\n",
            *(f"{number}      {name}\n" for number, name in enumerate(self._kernels, start=1)),
        ]
        return "".join(parts)

    def rows(self) -> str:
        """Return the contents of the file of rows."""
        names = [self._names[actor] for actor in self._order]
        levels = (("CPU", names), ("NODE", [f"node {node}" for node in self._tasks]), ("THREAD", names))
        return "\n".join(
            f"LEVEL {level} SIZE {len(each)}\n" + "".join(f"{n}\n" for n in each) for level, each in levels
        )
