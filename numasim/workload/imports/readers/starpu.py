"""Tasks that StarPU has executed: ``tasks.rec``, which ``starpu_fxt_tool`` writes in the format of recutils.

A record has lines ``Field: value``; empty lines separate records. A task waits for the jobs of ``DependsOn``, takes
``EndTime`` - ``StartTime`` milliseconds, and accesses the data ``Handles`` by ``Modes``, of ``Sizes`` bytes. If some
records have times, a record without times is a task that never ran. Such a task is left out, unless a task that ran
depends on it: then the task stays, takes no time and accesses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path

from numasim.workload.imports.read_graph import UNITS_PS, ReadGraph, number, shortened

FORMAT = "StarPU tasks.rec"
MILLISECONDS = Decimal(UNITS_PS["ms"])
_FIELD = re.compile(r"(%?[A-Za-z][A-Za-z0-9_]*):(?:[ \t]+(.*)|$)")
_JOB = re.compile(r"^JobId:", re.MULTILINE)
Record = dict[str, str]
TIMES = ("StartTime", "EndTime")
USED = {"JobId", "Name", "Model", "Control", "DependsOn", "Handles", "Modes", "Sizes", *TIMES}
NOT_KNOWN = "where data lay; the time of a task is that of the worker that ran the task, be it a processor or a GPU"


def looks_like_records(text: str) -> bool:
    """Return whether the first line is a field of recutils or a remark, and some line is the field ``JobId``."""
    first = next((line for line in text.split("\n") if line.strip()), "").rstrip()
    return bool((first.startswith("#") or _FIELD.fullmatch(first)) and _JOB.search(text))


def read_records(text: str, path: str) -> ReadGraph:
    """Return the graph of the text of a file; raise InputError with the line for mistakes."""
    graph = ReadGraph(path, FORMAT, Path(path).stem, MILLISECONDS, "milliseconds", NOT_KNOWN, files_order=False)
    waits: list[tuple[int, int, list[str]]] = []
    records = list(_tasks(graph, text))
    never = _never_ran(records)
    for line, record in records:
        if never.get(record["JobId"].strip()) == DROPPED:
            continue
        graph.take(record, USED)
        name, model = record["JobId"].strip(), record.get("Model", "")
        task = graph.add_task(record.get("Name") or name, None, line, model or record.get("Name", ""), name)
        graph.times[task] = _time(graph, record, name, line)
        waits.append((line, task, record.get("DependsOn", "").split()))
        if name in never:
            graph.still.add(task)
        else:
            _add_accesses(graph, task, record, line)
    graph.left_out.update(f"tasks that never ran, {what}" for what in never.values())
    for line, task, others in waits:
        for other in others:
            graph.add_edge(graph.task(other, f"the job {shortened(graph.names[task])}", line), task, line)
    return graph.finish()


DROPPED, KEPT = "with nothing behind them", "which order others and take no time"


def _tasks(graph: ReadGraph, text: str) -> Iterator[tuple[int, Record]]:
    """Yield (line, record) of each task; records that are no tasks are counted as left out."""
    for line, record in _records(graph, text):
        if "JobId" not in record:
            graph.take(["records without JobId"], ())
        elif (control := record.get("Control", "NormalTask")) != "NormalTask":
            graph.take([f"records of Control {control}"], ())
        else:
            yield line, record


def _never_ran(records: Sequence[tuple[int, Record]]) -> dict[str, str]:
    """Return `DROPPED` or `KEPT` for each job that never ran; a job is kept if a job that ran depends on the job.

    If no job has times, the result is empty.
    """
    before = {record["JobId"].strip(): record.get("DependsOn", "").split() for _, record in records}
    ran = {record["JobId"].strip() for _, record in records if all(key in record for key in TIMES)}
    never = before.keys() - ran if ran else set()
    kept: set[str] = set()
    waiting = [other for job in ran for other in before[job]] if never else []
    while waiting:
        job = waiting.pop()
        if job in never and job not in kept:
            kept.add(job)
            waiting += before[job]
    return {job: KEPT if job in kept else DROPPED for job in before if job in never}


def _time(graph: ReadGraph, record: Record, name: str, line: int) -> Decimal | None:
    if not all(key in record for key in TIMES):
        return None
    ends = [number(record[key]) for key in TIMES]
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
    """Yield (line, fields) of each record; a line that begins with + continues the field before."""
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
