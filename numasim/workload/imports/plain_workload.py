"""A graph that was read becomes a workload: every task computes once, and accesses the memory behind its files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from numasim.schema.enumerations import MOST_MOVED, Mode, Op
from numasim.workload.algorithms.groups import cycle_of
from numasim.workload.builder import workload_of
from numasim.workload.forest_arrays import offsets
from numasim.workload.graph import I64, U8, Phase, Region, Workload
from numasim.workload.imports.read_graph import ReadGraph, file_edges, shortened
from numasim.workload.json_form.graph_io import MOST_ENTRIES
from numasim.workload.json_form.graph_models import MOST_KERNELS

MOST_SHOWN = 8  # tasks of a cycle that an error names
TOGETHER = "files"  # the one region of a graph with more files than a graph may have regions


def plain_workload(graph: ReadGraph, times_ps: I64, memory: bool) -> Workload:
    """The workload of ``graph``, whose tasks take ``times_ps``; without ``memory`` files are edges alone.

    InputError, with the names of its tasks, for a cycle.
    """
    count = len(graph.names)
    successor_ptr, successor = _successors(graph)
    kernels, kernel = kernels_of(graph.kinds)
    regions, accesses = _memory(graph) if memory else ((), None)
    return workload_of(
        graph.name,
        kernels=kernels,
        regions=regions,
        phases=(Phase(roots=roots) for roots in _phases(graph)),
        op_ptr=np.arange(count + 1),
        op_code=np.full(count, Op.RUN),
        op_arg=np.arange(count),
        compute_ps=times_ps,
        kernel=kernel,
        accesses=accesses,
        successors=(successor_ptr, successor),
    )


def edges_of(graph: ReadGraph) -> tuple[I64, I64]:
    """(sources, targets) of all dependences, each once, in ascending order; InputError for a cycle."""
    count = len(graph.names)
    pairs = np.array([*graph.edges, *file_edges(graph)], np.int64).reshape(-1, 2)
    once = np.unique(pairs[:, 0] * count + pairs[:, 1])
    source, target = once // count, once % count
    refuse_cycles(graph, source, target)
    return source, target


def refuse_cycles(graph: ReadGraph, source: I64, target: I64) -> None:
    """InputError with the names of the tasks of a cycle, if there is one."""
    circle = cycle_of(source, target, len(graph.names))
    if circle:
        shown = [shortened(graph.names[task]) for task in circle[:MOST_SHOWN]]
        more = [f"{len(circle) - MOST_SHOWN:,} others"] if len(circle) > MOST_SHOWN else []
        text = " after ".join([*shown, *more, shown[0]])
        graph.refuse(f"tasks wait for each other in a cycle: {text}", "a graph without cycles", graph.places[circle[0]])


def _successors(graph: ReadGraph) -> tuple[I64, I64]:
    source, target = edges_of(graph)
    if graph.phases:
        phase = np.array(graph.phases, np.int64)
        within = phase[source] == phase[target]
        source, target = source[within], target[within]
    return offsets(np.bincount(source, minlength=len(graph.names))), target


def _phases(graph: ReadGraph) -> Iterator[tuple[int, ...]]:
    if not graph.phases:
        yield tuple(range(len(graph.names)))
        return
    begins = [0, *(np.flatnonzero(np.diff(graph.phases)) + 1).tolist(), len(graph.names)]
    for low, high in pairwise(begins):
        yield tuple(range(low, high))


def kernels_of(kinds: list[str]) -> tuple[tuple[str, ...], U8]:
    """The kinds of work, and the number of each task's; one without a name where there are too many."""
    numbers = {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}
    if len(numbers) > MOST_KERNELS:
        return ("",), np.zeros(len(kinds), np.uint8)
    return tuple(numbers), np.array([numbers[kind] for kind in kinds], np.uint8)


def _memory(graph: ReadGraph) -> tuple[tuple[Region, ...], tuple[I64, dict[str, I64]]]:
    """Return the regions, and the accesses of all tasks as `workload_of` takes them."""
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
