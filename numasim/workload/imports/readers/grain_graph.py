"""Tables of grain graphs: the tasks of OpenMP programs, called grains, recorded by the runtime system MIR.

A line is a task. It has the task's parent, the task's number among the parent's children, the join (wait) at which the
parent waits for the task, and the task's work in processor cycles. Columns are found by their names. In tables of
chunks of loops, ``chunk_lineage`` begins with the number of the loop. Source: A. Muddukrishna et al., "Grain Graphs:
OpenMP Performance Analysis Made Easy", PPoPP 2016.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from numasim.workload.imports.read_graph import ReadGraph, number, shortened

FORMAT = "table of grain graphs"
UNIT_MEANS = "the length of a processor cycle"
NONE = {"", "NA", "na", "NaN"}
KINDS = ("source_line", "outline_function", "tag")
LINEAGES = ("lineage", "chunk_lineage")
CYCLES = ("exec_cycles", "work_cycles", "overhead_cycles")
USED = {"task", "parent", "joins_at", "child_number", "create_instant", "wait_instants", *CYCLES, *KINDS, *LINEAGES}
Row = dict[str, str]


@dataclass
class Grain:
    """A task of the table: its parent, the join at which the parent waits for it, and recorded times in cycles."""

    parent: str
    join: int
    order: int
    created: int | None
    waits: list[int]
    executed: int | None
    overhead: int
    children: list[int] = field(default_factory=list)  # in the order of creation


@dataclass
class Grains:
    """All tasks as a tree."""

    graph: ReadGraph
    grains: list[Grain]


def looks_like_grains(text: str) -> bool:
    """Return whether the first line that is no remark is a heading with the columns task and parent."""
    heading = next((line for line in text.split("\n", 100) if line.strip() and not line.startswith("#")), "")
    return {"task", "parent"} <= {word.strip().strip('"') for word in heading.split(",")}


def read_grains(text: str, path: str) -> Grains:
    """Return the tasks of a table; raise InputError with the line for mistakes."""
    graph = ReadGraph(path, FORMAT, Path(path).stem, None, UNIT_MEANS, "which memory tasks access")
    grains: list[Grain] = []
    for line, row in _rows(graph, text):
        if row["parent"] in NONE:
            graph.take(["rows without a parent, which are the runtime's own"], ())
            continue
        graph.take(row, USED)
        grains.append(_grain(graph, row, line))
    for task, grain in enumerate(grains):
        if grain.parent in graph.numbers:
            grains[graph.numbers[grain.parent]].children.append(task)
    for grain in grains:
        grain.children.sort(key=lambda child: (grains[child].join, grains[child].order))
    graph.finish()
    return Grains(graph, grains)


def _rows(graph: ReadGraph, text: str) -> Iterator[tuple[int, Row]]:
    reader = csv.reader((line for line in text.split("\n") if not line.startswith("#")), strict=True)
    remarks = [number for number, line in enumerate(text.split("\n"), 1) if line.startswith("#")]
    heading: list[str] = []
    line = 0
    try:
        for words in reader:
            line = reader.line_num + sum(each <= reader.line_num for each in remarks)
            if not heading:
                heading = [word.strip() for word in words]
            elif words:
                if len(words) != len(heading):
                    graph.refuse(f"a line has {len(words)} values", f"{len(heading)}, one for each column", line)
                yield line, {key: word.strip() for key, word in zip(heading, words, strict=True)}
    except csv.Error as error:
        graph.refuse(f"this is no CSV: {error}", "a table of grain graphs", line + 1)


def _grain(graph: ReadGraph, row: Row, line: int) -> Grain:
    executed, overhead = _whole(graph, row, "exec_cycles", line), _whole(graph, row, "overhead_cycles", line)
    work: object = row.get("work_cycles")
    if work is None or work in NONE:
        work = None if executed is None else max(0, executed - (overhead or 0))
    kind = next((row[key] for key in KINDS if row.get(key, "") not in NONE), "")
    name = next((row[key] for key in LINEAGES if row.get(key, "") not in NONE), row["task"])
    graph.add_task(name, work, line, kind, row["task"])
    chunk = row.get("chunk_lineage", "").partition("-")[0]
    graph.phases.append(int(chunk) if chunk.isdecimal() and len(chunk) < 10 else 0)
    waits = [number(each) for each in row.get("wait_instants", "").strip("[]").split(";")]
    return Grain(
        row["parent"],
        _whole(graph, row, "joins_at", line) or 0,
        _whole(graph, row, "child_number", line) or 0,
        _whole(graph, row, "create_instant", line),
        [int(each) for each in waits if each is not None and each > 0],
        executed,
        overhead or 0,
    )


def _whole(graph: ReadGraph, row: Row, key: str, line: int) -> int | None:
    if row.get(key, "") in NONE:
        return None
    found = number(row[key])
    if found is None or found < 0 or found > Decimal(2**62):
        graph.refuse(f"{key} is {shortened(row[key])}", "a number of at least 0", line)
    return int(found)
