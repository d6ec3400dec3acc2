"""Graphs of tasks that no task spawns, from arrays: a million tasks without an object for each; pipelines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError
from numasim.schema.enumerations import LONGEST_PS, MOST_BYTES, Mode
from numasim.workload.builder import plain_workload
from numasim.workload.graph import I64, Region, Workload
from numasim.workload.span import cycle_of

Array = npt.NDArray[Any]


def is_whole(given: Any) -> bool:
    """Return whether ``given`` is a whole number of Python or numpy, and no truth value."""
    return isinstance(given, int | np.integer) and not isinstance(given, bool)


def costs_ps(costs_ns: Any, tasks: int | None = None) -> I64:
    """Return [tasks] costs in whole picoseconds, rounded; a single number is the cost of each of ``tasks``."""
    given = np.asarray(costs_ns)
    if given.dtype == object or given.dtype.kind not in "iuf":
        try:
            given = given.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError("the costs are no numbers", expected="ns, one for each task") from None
    if given.ndim == 0 and tasks is not None:
        given = np.full(tasks, given)
    if given.ndim != 1 or (tasks is not None and len(given) != tasks):
        expected = f"{tasks} costs, one for each task" if tasks is not None else "a cost for each task"
        raise InputError(f"the costs have the shape {given.shape}", expected=expected)
    most_ns = LONGEST_PS // 1000
    wrong = np.flatnonzero(~((given >= 0) & (given <= most_ns)))
    if len(wrong):
        raise InputError(f"the cost of task {wrong[0]} is {given[wrong[0]]} ns", expected=f"0 to {most_ns} ns")
    whole = given.dtype.kind in "iu"
    return given.astype(np.int64) * 1000 if whole else np.rint(given * 1000).astype(np.int64)


def edge_columns(edges: Any, tasks: int) -> tuple[I64, I64]:
    """Return (sources, targets) of an array of edges [edges, 2]; InputError for tasks that do not exist."""
    given = np.asarray(edges)
    if given.size == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        problem = f"the edges are an array of {given.dtype} with the shape {given.shape}"
        expected = "whole numbers with the shape (edges, 2): the task before and the task after"
        raise InputError(problem, expected=expected)
    wrong = np.flatnonzero(((given < 0) | (given >= tasks)).any(axis=1))
    if len(wrong):
        a, b = given[wrong[0]].tolist()
        raise InputError(f"edge {wrong[0]} leads from task {a} to task {b}", expected=f"tasks 0 to {tasks - 1}")
    return given[:, 0].astype(np.int64), given[:, 1].astype(np.int64)


def plain_graph(name: str, compute_ps: I64, edges: tuple[I64, I64], **rest: Any) -> Workload:
    """Return `plain_workload` of these arguments; InputError for a graph without tasks or with a cycle."""
    if not len(compute_ps):
        raise InputError(f"the graph {name!r} has no tasks", expected="at least one")
    check_acyclic(*edges, len(compute_ps))
    return plain_workload(name, compute_ps, edges, **rest)


def check_acyclic(source: I64, target: Array, tasks: int) -> None:
    """Raise InputError with the tasks of a cycle, if tasks wait for each other in a cycle."""
    circle = cycle_of(source, target.astype(np.int64), tasks)
    if len(circle) == 1:
        raise InputError(f"task {circle[0]} waits for itself", expected="a graph without cycles")
    if circle:
        text = " after ".join(map(str, [*circle[:8], circle[0]]))
        raise InputError(f"tasks wait for each other in a cycle: {text}", expected="a graph without cycles")


# ---- Pipelines: items that go through serial and parallel stages ----------------


@dataclass(frozen=True)
class Stage:
    """One stage of a pipeline. ``cost_ns`` is the cost of each item: one number, or a number for each item.

    A ``serial`` stage works on one item at a time, in order. A parallel stage works on any number of items at once.
    """

    cost_ns: Any
    serial: bool = False
    name: str = ""


def pipeline(
    stages: Sequence[Any], items: int, name: str, item_bytes: int = 0, most_items: int | None = None
) -> Workload:
    """Return a task for each item and stage, numbered item by item; InputError for wrong numbers."""
    made = [each if isinstance(each, Stage) else Stage(each) for each in stages]
    count = len(made)
    if not (count and is_whole(items) and items >= 1):
        raise InputError(f"got {count} stages and {items!r} items", expected="at least one of each")
    if most_items is not None and not (is_whole(most_items) and most_items >= 1):
        raise InputError(f"at most {most_items!r} items are under way", expected="at least one, or None for any number")
    if not 0 <= item_bytes * items <= MOST_BYTES:
        raise InputError(f"{items} items have {item_bytes} bytes each", expected=f"0 to {MOST_BYTES} bytes in all")
    costs = np.stack([costs_ps(stage.cost_ns, items) for stage in made], axis=1)
    task = np.arange(items * count).reshape(items, count)
    edges = [(task[:, :-1], task[:, 1:])]
    edges += [(task[:-1, number], task[1:, number]) for number, stage in enumerate(made) if stage.serial]
    if most_items is not None:
        edges.append((task[:-most_items, -1], task[most_items:, 0]))
    source, target = (np.concatenate([each[side].ravel() for each in edges]) for side in (0, 1))
    names = tuple(dict.fromkeys(stage.name for stage in made))
    kernel = np.tile([names.index(stage.name) for stage in made], items)
    memory: dict[str, Any] = {}
    if item_bytes:
        offset = np.repeat(np.arange(items) * item_bytes, count)
        mode = np.tile([Mode.WRITE, *[Mode.READ_WRITE] * (count - 1)], items)
        columns = {"offset": offset, "row_bytes": item_bytes, "mode": mode}
        memory["regions"] = (Region("items", items * item_bytes, False),)
        memory["accesses"] = np.arange(items * count + 1), columns
    return plain_graph(name, costs.ravel(), (source, target), kernels=names, kernel=kernel, **memory)
