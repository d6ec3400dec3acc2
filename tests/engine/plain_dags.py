"""Plain DAGs: tasks and edges between them, without spawns, so that all tasks are roots of one phase."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random

from numasim.workload.graph import Workload
from numasim.workload.json_form.graph_io import unchecked

NS = 1000


@dataclass(frozen=True)
class Dag:
    """[tasks] times, and the tasks that wait for each; tasks are in a topological order."""

    times_ps: Sequence[int]
    then: Sequence[Sequence[int]]

    @property
    def work_ps(self) -> int:
        """Return the time of all tasks."""
        return sum(self.times_ps)

    def longest_ps(self, extra_ps: int = 0) -> int:
        """Return the longest path, with ``extra_ps`` in front of every task."""
        begins = [0] * len(self.times_ps)
        ends = [0] * len(self.times_ps)
        for task, time in enumerate(self.times_ps):
            ends[task] = begins[task] + extra_ps + time
            for later in self.then[task]:
                begins[later] = max(begins[later], ends[task])
        return max(ends, default=0)

    def workload(self) -> Workload:
        """Return the program as a user writes it in JSON: tasks and edges, without phases."""
        tasks = [{"ops": [["run", task]], "then": list(then)} for task, then in enumerate(self.then)]
        segments = [{"compute_ps": time} for time in self.times_ps]
        return unchecked({"name": "dag", "tasks": tasks, "segments": segments})


def one_task(chance: Random) -> Dag:
    return Dag([chance.randint(0, 5000) * NS], [[]])


def random_dag(chance: Random) -> Dag:
    """Each task waits for up to three of those before it."""
    count = chance.randint(2, 300)
    before = [[chance.randrange(task) for _ in range(chance.randint(0, 3))] if task else [] for task in range(count)]
    return _from_predecessors(chance, before)


def layered(chance: Random) -> Dag:
    """Layers, of which each task waits for up to three of the layer before."""
    layers, width = chance.randint(2, 8), chance.randint(1, 60)
    before = [
        [(layer - 1) * width + chance.randrange(width) for _ in range(chance.randint(1, 3))] if layer else []
        for layer in range(layers)
        for _ in range(width)
    ]
    return _from_predecessors(chance, before)


SHAPES: tuple[Callable[[Random], Dag], ...] = (random_dag, layered, one_task)


def dags(count: int) -> list[Dag]:
    """Return ``count`` DAGs, of every shape in turn."""
    chance = Random("plain DAGs")
    return [SHAPES[number % len(SHAPES)](chance) for number in range(count)]


def _from_predecessors(chance: Random, before: Sequence[Iterable[int]]) -> Dag:
    then: list[list[int]] = [[] for _ in before]
    for task, earlier in enumerate(before):
        for each in sorted(set(earlier)):
            then[each].append(task)
    return Dag([chance.randint(5_000, 15_000) * NS for _ in before], then)
