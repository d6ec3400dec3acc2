"""Tasks that StarPU has executed: ``tasks.rec``, which its tool ``starpu_fxt_tool`` writes in the format of recutils.

A record is lines ``Field: value``; records are apart by empty lines. A task waits for the jobs of ``DependsOn``, has
taken ``EndTime`` - ``StartTime`` milliseconds, and accesses the data ``Handles`` by ``Modes``, of ``Sizes`` bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from numasim.workload.imports.read_graph import ReadGraph, shortened
from numasim.workload.imports.time_units import UNITS_PS, number

FORMAT = "StarPU tasks.rec"
MILLISECONDS = Decimal(UNITS_PS["ms"])
_FIELD = re.compile(r"(%?[A-Za-z][A-Za-z0-9_]*):(?:[ \t]+(.*)|$)")
_JOB = re.compile(r"^JobId:", re.MULTILINE)
Record = dict[str, str]


def looks_like_records(text: str) -> bool:
    """Whether the first line is a field of recutils, or a remark, and some record is of a job."""
    first = next((line for line in text.split("\n") if line.strip()), "").rstrip()
    return bool((first.startswith("#") or _FIELD.fullmatch(first)) and _JOB.search(text))


def read_records(text: str, path: str) -> ReadGraph:
    """The graph of the text of a file; InputError with the line for what is wrong."""
    graph = ReadGraph(path, FORMAT, Path(path).stem, MILLISECONDS, "milliseconds", files_order=False)
    waits: list[tuple[int, int, list[str]]] = []
    for line, record in _records(graph, text):
        if "JobId" not in record or record.get("Control", "NormalTask") != "NormalTask":
            continue
        name, model = record["JobId"].strip(), record.get("Model", "")
        task = graph.add_task(record.get("Name") or name, None, line, model or record.get("Name", ""), name)
        graph.times[task] = _time(graph, record, name, line)
        waits.append((line, task, record.get("DependsOn", "").split()))
        _add_accesses(graph, task, record, line)
    for line, task, others in waits:
        for other in others:
            graph.add_edge(graph.task(other, f"the job {shortened(graph.names[task])}", line), task, line)
    return graph.finish()


def _time(graph: ReadGraph, record: Record, name: str, line: int) -> Decimal | None:
    if "StartTime" not in record or "EndTime" not in record:
        return None
    ends = [number(record[key]) for key in ("StartTime", "EndTime")]
    if ends[0] is None or ends[1] is None:
        graph.refuse(f"the job {shortened(name)} starts or ends at no number", "StartTime and EndTime", line)
    return graph.time(ends[1] - ends[0], name, line)


def _add_accesses(graph: ReadGraph, task: int, record: Record, line: int) -> None:
    handles, modes, sizes = (record.get(key, "").split() for key in ("Handles", "Modes", "Sizes"))
    if not modes or not sizes:
        return
    if not len(handles) == len(modes) == len(sizes):
        counts = f"{len(handles)} handles, {len(modes)} modes and {len(sizes)} sizes"
        graph.refuse(f"a job has {counts}", "as many of each", line)
    for handle, mode, size in zip(handles, modes, sizes, strict=True):
        file = graph.file(handle, graph.size(size, f"the data {handle}", line))
        if "R" in mode or "X" in mode:
            file.readers.append(task)
        if "W" in mode or "X" in mode or "S" in mode:
            file.writers.append(task)


def _records(graph: ReadGraph, text: str) -> Iterator[tuple[int, Record]]:
    """(line, fields) of each record; a line that begins with + goes on with the field before."""
    begin, record, last = 0, Record(), ""
    for number_of_line, whole in enumerate((*text.split("\n"), ""), 1):
        line = whole.rstrip()
        if not line:
            if record:
                yield begin, record
            record, last = Record(), ""
        elif line.startswith("+") and last:
            record[last] += "\n" + line[1:].removeprefix(" ")
        elif not line.startswith("#"):
            found = _FIELD.fullmatch(line)
            if not found:
                graph.refuse(f"the line {shortened(line)} is no field", "Field: value", number_of_line)
            begin = begin if record else number_of_line
            last = found[1]
            record[last] = found[2] or ""
