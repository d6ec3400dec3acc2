"""Import: task graphs in files of other programs become workloads; the contents of a file tell its format.

A kernel is the name of a kind of work, such as ``potrf``. A grain is a task of an OpenMP program, as a line of a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np

from numasim.errors import InputError
from numasim.files.bounded_json import parse_json
from numasim.files.bounded_xml import parse_xml
from numasim.files.reader import OTHER_GRAPH, PACKED_GRAPH, read_foreign_text
from numasim.files.writer import csv_text
from numasim.schema.enumerations import MOST_MOVED, Mode, Op
from numasim.workload.builder import depth_first, plain_workload, workload_of
from numasim.workload.forest_arrays import offsets
from numasim.workload.graph import I64, U8, Phase, Region, Workload
from numasim.workload.graph_forms import kind_of, read_graph
from numasim.workload.imports.read_graph import Choices, ReadGraph, file_edges, shortened, whole_ps
from numasim.workload.imports.readers.dax import local
from numasim.workload.imports.readers.grain_graph import Grain, Grains
from numasim.workload.json_form.graph_io import MOST_ENTRIES, of_text
from numasim.workload.json_form.graph_models import MOST_KERNELS
from numasim.workload.span import cycle_of
from numasim.workload.totals import MOST_PS

MOST_NAMES = 1_000  # names; an error that suggests the nearest name looks at so many
OWN = "task graph of numasim"


@dataclass(frozen=True)
class Imported:
    """An imported graph: the workload, the name of the format, the names of tasks, and remarks."""

    workload: Workload
    format: str
    names: Sequence[str]
    remarks: Sequence[str]

    @property
    def foreign(self) -> bool:
        """Whether the file had another program's format instead of a form of numasim."""
        return self.format != OWN

    @property
    def dependences(self) -> int:
        """Number of dependences: edges, and children whose end a parent waits for."""
        return len(self.workload.successor) + int(np.count_nonzero(self.workload.parent >= 0))

    def names_as_csv(self) -> str:
        """Return a CSV text: a heading, and for each task a line with its number and its name in the file.

        A graph in a form of numasim has no names, so its text is the heading alone.
        """
        return csv_text(("task", "name"), enumerate(self.names))


def imported(path: Path, choices: Choices) -> Imported:
    """Return the graph in a file; raise InputError with file and place for mistakes and missing choices."""
    found = read_any(path, choices)
    if isinstance(found, Workload):
        choices.refuse_all(str(path), "a task graph of numasim says everything")
        return Imported(found, OWN, [], [])
    graph = found.graph if isinstance(found, Grains) else found
    if len(kinds := set(graph.kinds)) > MOST_KERNELS:
        graph.remarks.append(f"{len(kinds):,} kernels are more than {MOST_KERNELS}: tasks have none")
    times = _times_ps(graph, choices)
    workload = (
        grain_workload(found, times) if isinstance(found, Grains) else read_workload(graph, times, choices.memory)
    )
    return Imported(workload, graph.format, graph.names, graph.remarks)


def _times_ps(graph: ReadGraph, choices: Choices) -> I64:
    """Return [tasks] the times in whole picoseconds; raise InputError if a unit or a time is missing or too long."""
    unit_ps = choices.unit_ps or graph.unit_ps
    chosen = _chosen(graph, choices.times)
    open_ = [task for task in range(len(graph.times)) if task not in chosen]
    said = [task for task in open_ if graph.times[task] is not None]
    if said and choices.unit_ps is not None and graph.unit_ps is not None:
        graph.refuse(f"the times of this {graph.format} are {graph.unit_means}", "no --unit")
    usual_ps = choices.usual_ps
    if usual_ps is None and not said and choices.unit_ps is not None:
        usual_ps = choices.unit_ps
        graph.remarks.append("the file has no times: each task takes one unit")
    if len(said) < len(open_) and usual_ps is None:
        _refuse_missing(graph, [task for task in open_ if graph.times[task] is None], bool(said))
    if said and unit_ps is None:
        expected = f"--unit with {graph.unit_means}, such as --unit 1us"
        graph.refuse(f"the times of a {graph.format} have no unit of their own", expected)
    found = np.zeros(len(graph.times), np.int64)
    total = 0
    for task, time in enumerate(graph.times):
        count, each_ps = Decimal(1), chosen.get(task, usual_ps)
        if time is not None and task not in chosen:
            count, each_ps = time, unit_ps
        product = whole_ps(count, each_ps or Decimal(0))
        if product is None or total + product > MOST_PS:
            what = f"the time {shortened(time)} of task {shortened(graph.names[task])}"
            expected = f"all tasks together at most {MOST_PS:,} ps, or a smaller --unit"
            graph.refuse(f"{what} is too long", expected, graph.places[task])
        found[task] = product
        total += product
    return found


def _chosen(graph: ReadGraph, times: Mapping[str, Decimal]) -> dict[int, Decimal]:
    """Return times in ps by number of task: the user's ``times`` (by name, label or kernel), 0 for tasks without work.

    Raise InputError for a name that no task has.
    """
    chosen = dict.fromkeys(graph.still, Decimal(0))
    called = list(zip(graph.names, graph.labels, graph.kinds, strict=True))
    for name, time in times.items():
        found = [task for task, names in enumerate(called) if name in names]
        if not found:
            problem = f"no task has the name, label or kernel {name!r} of --time"
            last = (each for names in reversed(called[-MOST_NAMES:]) for each in reversed(names) if each)
            graph.refuse(problem, "one of this file", value=name, known=dict.fromkeys(last))
        chosen |= dict.fromkeys(found, time)
        graph.remarks.append(f"--time {name} is the time of {len(found):,} tasks")
    return chosen


def _refuse_missing(graph: ReadGraph, missing: Sequence[int], some: bool) -> None:
    first, count = missing[0], len(missing)
    others = f", nor have {count - 1:,} others" if count > 1 else ""
    problem = f"the task {shortened(graph.names[first])} has no time{others}" if some else "no task has a time"
    unit = "" if some else ", or --unit alone, of which each takes one"
    expected = f"a time for each task, or --usual with that of the tasks without one, such as --usual 1us{unit}"
    graph.refuse(problem, expected, graph.places[first])


# ---- A graph as a workload: every task has one compute time, and accesses the memory that stands for its files -------

MOST_SHOWN = 8  # most tasks of a cycle, and most columns, that an error names
TOGETHER = "files"  # name of the one region for all files, if a graph may not have so many regions


def read_workload(graph: ReadGraph, times_ps: I64, memory: bool) -> Workload:
    """Return the workload of ``graph``; task i computes for ``times_ps[i]``. With ``memory``, tasks access their files.

    Raise InputError with the names of tasks for a cycle.
    """
    count = len(graph.names)
    pairs = np.array([*graph.edges, *file_edges(graph)], np.int64).reshape(-1, 2)
    source, target = np.divmod(np.unique(pairs[:, 0] * count + pairs[:, 1]), count)
    refuse_cycles(graph, source, target)
    kernels, kernel = kernels_of(graph.kinds)
    regions, accesses = _memory(graph) if memory else ((), None)
    return plain_workload(
        graph.name, times_ps, (source, target), kernels=kernels, kernel=kernel, regions=regions, accesses=accesses
    )


def refuse_cycles(graph: ReadGraph, source: I64, target: I64) -> None:
    """Raise InputError with the names of tasks if tasks wait for each other in a cycle."""
    circle = cycle_of(source, target, len(graph.names))
    if circle:
        shown = [shortened(graph.names[task]) for task in circle[:MOST_SHOWN]]
        more = [f"{len(circle) - MOST_SHOWN:,} others"] if len(circle) > MOST_SHOWN else []
        text = " after ".join([*shown, *more, shown[0]])
        graph.refuse(f"tasks wait for each other in a cycle: {text}", "a graph without cycles", graph.places[circle[0]])


def kernels_of(kinds: list[str]) -> tuple[tuple[str, ...], U8]:
    """Return (names of kernels, [tasks] number of the kernel); one kernel without a name if there are too many."""
    numbers = {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}
    if len(numbers) > MOST_KERNELS:
        return ("",), np.zeros(len(kinds), np.uint8)
    return tuple(numbers), np.array([numbers[kind] for kind in kinds], np.uint8)


def _memory(graph: ReadGraph) -> tuple[tuple[Region, ...], tuple[I64, dict[str, I64]]]:
    """Return (regions, accesses of all tasks in the form of `workload_of`)."""
    files = [each for each in graph.files.values() if each.bytes > 0]
    alone = len(files) <= MOST_ENTRIES
    starts = [0] * len(files) if alone else offsets(np.array([each.bytes for each in files])).tolist()
    rows: list[list[tuple[int, int, int, int]]] = [[] for _ in graph.names]
    for number, each in enumerate(files):
        modes: dict[int, int] = {}
        for tasks, mode in ((each.writers, int(Mode.WRITE)), (each.readers, int(Mode.READ))):
            for task in tasks:
                modes[task] = modes.get(task, 0) | mode
        for task, mode in modes.items():
            for offset in range(0, each.bytes, MOST_MOVED):
                size = min(MOST_MOVED, each.bytes - offset)
                rows[task].append((number if alone else 0, starts[number] + offset, size, mode))
    if alone:
        regions = tuple(Region(each.name, each.bytes, initialised=False) for each in files)
    else:
        regions = (Region(TOGETHER, starts[-1], initialised=False),)
    accesses = np.array([row for own in rows for row in own], np.int64).reshape(-1, 4)
    columns = dict(zip(("region", "offset", "row_bytes", "mode"), accesses.T, strict=True))
    return regions, (offsets(np.array([len(own) for own in rows])), columns)


# ---- A table of grain graphs as a workload: tasks spawn their children, and wait for the children at joins -----

WAIT = -1  # a step of a task that waits; the other steps are numbers of children to spawn


def grain_workload(found: Grains, times_ps: I64) -> Workload:
    """Return the workload of ``found`` with times ``times_ps`` of tasks; InputError if a task is its own ancestor."""
    graph, grains = found.graph, found.grains
    above = np.array([graph.numbers.get(grain.parent, -1) for grain in grains], np.int64)
    below = np.flatnonzero(above >= 0)
    refuse_cycles(graph, above[below], below)
    order, position, parent = depth_first(above)
    kernels, kernel = kernels_of(graph.kinds)
    codes: list[int] = []
    arguments: list[int] = []
    segments: list[int] = []
    segment_kernel: list[int] = []
    lengths: list[int] = []
    for task in order.tolist():
        before = len(codes)
        for code, value in _program(grains, task, int(times_ps[task])):
            codes.append(code)
            if code == Op.RUN:
                arguments.append(len(segments))
                segments.append(value)
                segment_kernel.append(int(kernel[task]))
            else:
                arguments.append(int(position[value]) if code == Op.SPAWN else value)
        lengths.append(len(codes) - before)
    return workload_of(
        graph.name,
        kernels=kernels,
        phases=(Phase(roots=roots) for roots in _roots(graph.phases, above, position)),
        op_ptr=offsets(np.array(lengths)),
        op_code=codes,
        op_arg=arguments,
        parent=parent,
        compute_ps=segments,
        kernel=np.array(segment_kernel),
    )


def _roots(phases: Sequence[int], parent: I64, position: I64) -> Iterator[tuple[int, ...]]:
    """Yield, for each loop of the recorded program, the tasks that have no parent in the table."""
    roots = np.flatnonzero(parent < 0)
    of_root = np.array(phases, np.int64)[roots]
    for loop in np.unique(of_root).tolist():
        yield tuple(np.sort(position[roots[of_root == loop]]).tolist())


def _program(grains: list[Grain], task: int, work_ps: int) -> Iterator[tuple[int, int]]:
    """Yield (op, argument) of a task: RUN ops between spawns and joins; the argument of a RUN is its time in ps."""
    steps: list[int] = []
    for _, joined in groupby(grains[task].children, key=lambda child: grains[child].join):
        steps += [*joined, WAIT]
    parts = _split(work_ps, _fragments(grains, task, steps), len(steps))
    for step, part in zip((*steps, None), parts, strict=True):
        if part or not (steps or part):
            yield int(Op.RUN), part
        if step is not None:
            yield (int(Op.WAIT), 0) if step == WAIT else (int(Op.SPAWN), step)


def _fragments(grains: list[Grain], task: int, steps: list[int]) -> list[int]:
    """Return the recorded cycles before each step and after the last step; an empty list if the cycles are unknown.

    Of a wait, the table has the end. The cycles before a wait therefore include the waiting time.
    """
    grain = grains[task]
    waits = iter(grain.waits)
    instants = [next(waits, None) if step == WAIT else grains[step].created for step in steps]
    if grain.executed is None or any(instant is None for instant in instants):
        return []
    ends = [0, *(instant or 0 for instant in instants), max(grain.executed, 0)]
    lengths = [after - before for before, after in pairwise(ends)]
    if min(lengths) < 0:
        return []
    waited = [at for at, step in enumerate(steps) if step == WAIT]
    idle = sum(lengths[at] for at in waited)
    taken = min(grain.overhead, idle)
    for at in waited:
        lengths[at] -= taken * lengths[at] // max(idle, 1)
    return lengths


def _split(work_ps: int, lengths: list[int], steps: int) -> list[int]:
    """Divide ``work_ps`` in proportion to ``lengths``; if there are no lengths, the first part gets everything."""
    total = sum(lengths)
    if not total:
        return [work_ps, *[0] * steps]
    before, parts, done = 0, [], 0
    for length in lengths:
        before += length
        parts.append(work_ps * before // total - done)
        done += parts[-1]
    return parts


# ---- The format of a file, which the contents of the file tell -------------------------------------------------------

MOST_LINES = 3  # most lines at the beginning of a file that an error about an unknown format looks at
MOST_ELEMENTS = 4_000_000  # most elements of an XML file
_WORKFLOW = re.compile(r'"workflow"\s*:')


def read_any(path: Path, choices: Choices) -> ReadGraph | Workload | Grains:
    """Return the graph that the reader of the file's format makes; raise InputError for an unknown format."""
    if kind_of(path) is PACKED_GRAPH:
        return read_graph(path)
    text = read_foreign_text(path, OTHER_GRAPH)
    name, begin = str(path), text.lstrip()[:1]
    if begin == "{":
        return _read_json(text, name)
    if begin == "<":
        return _read_xml(text, name, choices)
    return _read_lines(text, name, choices)


def _read_json(text: str, name: str) -> ReadGraph | Workload:
    from decimal import Decimal

    from numasim.workload.imports.readers.wfformat import looks_like_wfformat, read_wfformat

    if _WORKFLOW.search(text):
        document = parse_json(text, name, OTHER_GRAPH.name, decimal=Decimal)
        if looks_like_wfformat(document):
            return read_wfformat(document, name)
    return of_text(text, name)


def _read_xml(text: str, name: str, choices: Choices) -> ReadGraph:
    from numasim.workload.imports.readers import dax, graphml

    root = parse_xml(text, name, OTHER_GRAPH.name, MOST_ELEMENTS)
    if local(root) == dax.ROOT:
        return dax.read_dax(root, name)
    if local(root) == graphml.ROOT:
        return graphml.read_graphml(root, name, choices)
    problem = f"this is not JSON, and the root element of this XML is {local(root)[:40]!r}"
    raise InputError(problem, place=f"{name}:{root.line}:1", expected=OTHER_GRAPH.name)


def _read_lines(text: str, name: str, choices: Choices) -> ReadGraph | Workload | Grains:
    from numasim.workload.imports.readers import dot, grain_graph, starpu, stg

    if stg.looks_like_stg(text):
        return stg.read_stg(text, name)
    if dot.looks_like_dot(text):
        return dot.read_dot(text, name, choices)
    if grain_graph.looks_like_grains(text):
        return grain_graph.read_grains(text, name)
    if starpu.looks_like_records(text):
        return starpu.read_records(text, name)
    if text.lstrip()[:1] in ("[", '"') or text.strip() in ("null", "true", "false"):  # JSON without an object
        return of_text(text, name)
    raise _unknown(text, name)


def _unknown(text: str, name: str) -> InputError:
    """Return the error for a text of an unknown format; it shows the columns of a table, or the first line."""
    lines = [line.strip() for line in text.split("\n", 100) if line.strip()]
    if not lines:
        return InputError("the file is empty", place=name, expected=OTHER_GRAPH.name)
    place = f"{name}:{text[: text.index(lines[0])].count(chr(10)) + 1}:1"
    for sign, kind in ((",", "commas"), (";", "semicolons"), ("\t", "tabs")):
        columns = [column.strip().strip('"') for column in lines[0].split(sign)]
        if len(columns) > 1 and all(line.count(sign) >= len(columns) - 1 for line in lines[:MOST_LINES]):
            shown = ", ".join(columns[:MOST_SHOWN]) + (", ..." if len(columns) > MOST_SHOWN else "")
            problem = f"this is a table with {kind}, of the columns {shown}: it has no dependences between tasks"
            expected = f"{OTHER_GRAPH.name}, which has the columns task and parent"
            return InputError(problem, place=place, expected=expected)
    problem = f"this is not JSON, and no other format begins with the line {shortened(lines[0])}"
    return InputError(problem, place=place, expected=OTHER_GRAPH.name)
