"""Task graphs of other programs' files as workloads; the format is told by what stands in the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import numpy as np

from numasim.errors import InputError
from numasim.files.writer import csv_text
from numasim.workload.graph import I64, Workload
from numasim.workload.imports.formats_by_content import read_any
from numasim.workload.imports.grain_workload import grain_workload
from numasim.workload.imports.import_choices import Choices, whole_ps
from numasim.workload.imports.plain_workload import plain_workload
from numasim.workload.imports.read_graph import ReadGraph, shortened
from numasim.workload.imports.readers.grain_graph import Grains
from numasim.workload.json_form.graph_models import MOST_KERNELS
from numasim.workload.size.totals import MOST_PS

MOST_NAMES = 1_000  # among which the nearest one is looked for
OWN = "task graph of numasim"


@dataclass(frozen=True)
class Imported:
    """A graph that was read: its workload, the name of its format, the names of its tasks, and what is to be said."""

    workload: Workload
    format: str
    names: Sequence[str]
    remarks: Sequence[str]

    @property
    def foreign(self) -> bool:
        """Whether another program's format was read."""
        return self.format != OWN

    @property
    def dependences(self) -> int:
        """Number of dependences: edges, and children that their parents wait for."""
        return len(self.workload.successor) + int(np.count_nonzero(self.workload.parent >= 0))

    def names_as_csv(self) -> str:
        """A heading, and a line for each task: its number, and its name in the file."""
        return csv_text(("task", "name"), enumerate(self.names))


def imported(path: Path, choices: Choices) -> Imported:
    """The graph in a file; InputError with file and place for anything that is wrong, or has to be chosen."""
    found = read_any(path, choices)
    if isinstance(found, Workload):
        choices.refuse_all(str(path), "a task graph of numasim says everything")
        return Imported(found, OWN, [], [])
    graph = found.graph if isinstance(found, Grains) else found
    if len(kinds := set(graph.kinds)) > MOST_KERNELS:
        graph.remarks.append(f"{len(kinds):,} kernels are more than {MOST_KERNELS}: tasks have none")
    times = _times_ps(graph, choices)
    workload = (
        grain_workload(found, times) if isinstance(found, Grains) else plain_workload(found, times, choices.memory)
    )
    return Imported(workload, graph.format, graph.names, graph.remarks)


def _times_ps(graph: ReadGraph, choices: Choices) -> I64:
    """[tasks] the times in whole picoseconds; InputError where a unit or a time is missing or too long."""
    unit_ps = choices.unit_ps or graph.unit_ps
    chosen = _chosen(graph, choices.times)
    open_ = [task for task in range(len(graph.times)) if task not in chosen]
    said = [task for task in open_ if graph.times[task] is not None]
    if said and choices.unit_ps is not None and graph.unit_ps is not None:
        raise InputError(
            f"the times of this {graph.format} are {graph.unit_means}", place=graph.path, expected="no --unit"
        )
    usual_ps = choices.usual_ps
    if usual_ps is None and not said and choices.unit_ps is not None:
        usual_ps = choices.unit_ps
        graph.remarks.append("the file has no times: each task takes one unit")
    if len(said) < len(open_) and usual_ps is None:
        _refuse_missing(graph, [task for task in open_ if graph.times[task] is None], bool(said))
    if said and unit_ps is None:
        raise InputError(
            f"the times of a {graph.format} have no unit of their own",
            place=graph.path,
            expected=f"--unit with {graph.unit_means}, such as --unit 1us",
        )
    found = np.zeros(len(graph.times), np.int64)
    total = 0
    for task, time in enumerate(graph.times):
        if task in chosen:
            product = whole_ps(Decimal(1), chosen[task])
        elif time is None:
            product = whole_ps(Decimal(1), usual_ps or Decimal(0))
        else:
            product = whole_ps(time, unit_ps or Decimal(0))
        if product is None or total + product > MOST_PS:
            what = f"the time {shortened(time)} of task {shortened(graph.names[task])}"
            expected = f"all tasks together at most {MOST_PS:,} ps, or a smaller --unit"
            graph.refuse(f"{what} is too long", expected, graph.places[task])
        found[task] = product
        total += product
    return found


def _chosen(graph: ReadGraph, times: Mapping[str, Decimal]) -> dict[int, Decimal]:
    """The times in ps of tasks by their numbers: those that the user gives by name, label or kernel, and 0 of tasks
    without work; InputError for a name that no task has.
    """
    chosen = dict.fromkeys(graph.still, Decimal(0))
    called = list(zip(graph.names, graph.labels, graph.kinds, strict=True))
    for name, time in times.items():
        found = [task for task, names in enumerate(called) if name in names]
        if not found:
            raise InputError(
                f"no task has the name, label or kernel {name!r} of --time",
                place=graph.path,
                expected="one of this file",
                value=name,
                known=dict.fromkeys(
                    each for names in reversed(called[-MOST_NAMES:]) for each in reversed(names) if each
                ),
            )
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
