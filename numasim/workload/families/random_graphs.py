"""Random task graphs for measuring and testing: fork-join trees, and layers of tasks that depend on each other.

The random numbers follow from the seed of the graph alone (class-8 streams, model 1.4), not from the seed of a run, so
a graph is the same in every run. Each task has a stream, a sequence of random numbers of its own.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from numasim.draws import DrawClass, U64Array, base_array, below, below_array, draw, draw_array
from numasim.parts.base import Bytes, Seed, ps
from numasim.workload.builder import Draft, Shape, made_of
from numasim.workload.graph import I64, Mode, Op, Region, Workload
from numasim.workload.parameters import Family, Size, TaskCount, TimedParameters
from numasim.workload.totals import Totals, access, memory, segment, task

STRUCTURE, FORK, JOIN, FIRST_EDGE = range(4)  # a task's random numbers: parent, both times, and the first dependence
FORK_KERNEL, JOIN_KERNEL = range(2)


class RandomForkJoinParameters(TimedParameters):
    """A random tree: the parent of a task is a uniformly drawn earlier task, which waits for its children.

    Each task reads ``task_bytes`` bytes of its own.
    """

    name: Literal["random-fork-join"] = Field(description="The name of this workload.")
    tasks: TaskCount = Field(description="Number of tasks, the root included.")
    graph_seed: Seed = Field(0, description="Seed of the tree and the times, the same in all runs and repeats.")
    task_bytes: Bytes = Field(0, description="Bytes of own memory that each task reads.")

    def totals(self) -> Totals:
        """Return the size of the program if every task takes the longest possible times and waits for children."""
        work = segment(ps(self.high_ns))
        one = task(segment(ps(self.high_ns), *[access(self.task_bytes)] * bool(self.task_bytes)), work, ops=2)
        return one.times(self.tasks) + memory(self.tasks * self.task_bytes)


class RandomLayeredParameters(TimedParameters):
    """``layers`` layers of ``width`` tasks; each task depends on up to ``degree`` random tasks of the layer before.

    Each task reads ``task_bytes`` bytes of its own.
    """

    name: Literal["random-layered"] = Field(description="The name of this workload.")
    layers: Size = Field(description="Number of layers, one after the other.")
    width: Size = Field(description="Tasks of each layer.")
    degree: Size = Field(
        2, description="Drawn tasks of the layer before for which a task waits; a task drawn twice counts once."
    )
    graph_seed: Seed = Field(0, description="Seed of the dependences and the times, the same in all runs and repeats.")
    task_bytes: Bytes = Field(0, description="Bytes of own memory that each task reads.")

    def totals(self) -> Totals:
        """Return the size if all tasks take the longest time; each drawn predecessor counts as a row, to limit them."""
        tasks = self.layers * self.width
        one = task(segment(ps(self.high_ns), *[access(self.task_bytes)] * bool(self.task_bytes)), ops=1)
        draws = Totals(rows=tasks * (self.degree - 1))
        return one.times(tasks) + draws + task(ops=1) + memory(tasks * self.task_bytes)


def random_fork_join(parameters: RandomForkJoinParameters) -> Workload:
    """Return a random recursive tree: a task works, spawns its children, waits for the children, and works again."""
    streams = _streams(parameters.graph_seed, parameters.tasks)
    parent = np.array([-1] + [below(draw(s, STRUCTURE), i + 1) for i, s in enumerate(streams[1:].tolist())])
    children = np.bincount(parent[1:], minlength=parameters.tasks)
    counts, reads = np.unique(children), int(parameters.task_bytes > 0)
    leaf = Shape((Op.RUN,), (FORK_KERNEL,), (reads,))
    shapes = [
        Shape((Op.RUN, *[Op.SPAWN] * count, Op.WAIT, Op.RUN), (FORK_KERNEL, JOIN_KERNEL), (reads, 0)) if count else leaf
        for count in counts.tolist()
    ]
    draft = Draft(parent, np.searchsorted(counts, children), shapes)
    for shape, count in enumerate(counts.tolist()):
        ids = draft.tasks(shape)
        draft.compute(shape, _times_ps(parameters, streams[ids], FORK))
        _read_own(draft, shape, ids, parameters.task_bytes)
        if count:
            draft.compute(shape, _times_ps(parameters, streams[ids], JOIN), run=1)
    return draft.finish(
        **made_of(parameters),
        kernels=("fork", "join"),
        regions=_data(parameters.tasks, parameters.task_bytes),
        facts={"tasks": parameters.tasks},
    )


def random_layered(parameters: RandomLayeredParameters) -> Workload:
    """Return a root that spawns all tasks and waits; a task starts after its drawn predecessors have finished."""
    tasks = parameters.layers * parameters.width
    streams = _streams(parameters.graph_seed, tasks)
    parent = np.zeros(tasks + 1, np.int64)
    parent[0] = -1
    shape = np.minimum(np.arange(tasks + 1), 1)
    leaf = Shape((Op.RUN,), (0,), (int(parameters.task_bytes > 0),))
    shapes = (Shape([*[Op.SPAWN] * tasks, Op.WAIT]), leaf)
    draft = Draft(parent, shape, shapes)
    ids = draft.tasks(1) - 1
    draft.compute(1, _times_ps(parameters, streams[ids], FORK))
    _read_own(draft, 1, ids, parameters.task_bytes)
    source, target = _edges(parameters, streams)
    return draft.finish(
        **made_of(parameters),
        kernels=("task",),
        regions=_data(tasks, parameters.task_bytes),
        edges=(1 + source, 1 + target),
        facts={"tasks": tasks + 1, "edges": len(source)},
    )


def _edges(parameters: RandomLayeredParameters, streams: U64Array) -> tuple[I64, I64]:
    """Return distinct (predecessor, successor) pairs; a repeated pair counts once."""
    width, tasks = parameters.width, parameters.layers * parameters.width
    later = np.arange(width, tasks)
    first = (later // width - 1) * width
    pairs = [
        (first + _choices(draw_array(streams[later], FIRST_EDGE + edge), width)) * tasks + later
        for edge in range(parameters.degree)
    ]
    return np.divmod(np.unique(np.concatenate(pairs)), tasks)


def _streams(graph_seed: int, tasks: int) -> U64Array:
    return base_array(graph_seed, DrawClass.ARRIVAL, np.arange(tasks))


def _choices(numbers: U64Array, count: int) -> I64:
    return below_array(numbers, count).astype(np.int64)


def _times_ps(parameters: TimedParameters, streams: U64Array, number: int) -> I64:
    """Return [tasks] compute times, uniform between the two bounds."""
    low, high = ps(parameters.low_ns), ps(parameters.high_ns)
    return low + _choices(draw_array(streams, number), high - low + 1)


def _read_own(draft: Draft, shape: int, tasks: I64, task_bytes: int) -> None:
    """Let task i read the i-th ``task_bytes`` bytes of the data region, if ``task_bytes`` is not 0."""
    if task_bytes:
        draft.access(shape, 0, region=0, offset=tasks * task_bytes, row_bytes=task_bytes, mode=Mode.READ)


def _data(tasks: int, task_bytes: int) -> tuple[Region, ...]:
    return (Region("data", tasks * task_bytes, True),) if task_bytes else ()


SMALL = {"low_ns": 100, "high_ns": 2000, "task_bytes": 5000}
TREE, LAYERS = {**SMALL, "tasks": 25}, {**SMALL, "layers": 3, "width": 6}
TIMES = {"low_ns": 500, "high_ns": 1500}  # parameters of both benchmarks
FAMILIES = (
    Family(RandomForkJoinParameters, random_fork_join, TREE, {"tasks": 20_000, **TIMES}),
    Family(RandomLayeredParameters, random_layered, LAYERS, {"layers": 60, "width": 200, **TIMES}),
)
