"""The 0-1 knapsack problem by branch and bound, as in the example of Cilk and in BOTS; a CPU-bound program of LAWS.

Items are in the order of value per weight, the best item first. A task decides on the next item: the task spawns the
search without the item and the search with the item, and waits for both. A task ends at once in three cases: the weight
is above the capacity; no item or no capacity is left; or the remaining capacity, filled at the next item's value per
weight, cannot reach the best value found so far. In a parallel program this best value depends on the order of
execution. Here it is the best value of a serial run, which searches without the item first. The tree is therefore
always the same.

Weights and values are drawn from 1 to 100 (class-8 streams); the knapsack holds half of the weight of all items.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

from numasim.draws import DrawClass, base_array, below_array, draw_array
from numasim.parts.base import Nanoseconds, Seed, Whole, ps
from numasim.workload.builder import Draft, Shape, made_of
from numasim.workload.graph import Op, Phase, Workload
from numasim.workload.parameters import Family, Size, WorkloadParameters
from numasim.workload.totals import Totals, segment, task

MOST_DRAWN = 100
WEIGHT, VALUE = range(2)  # an item's random numbers 0 and 1
END, BRANCH = range(2)  # shapes (op programs): a task without children, a task that spawns two searches
SPAWNED = (False, True)  # whether the first and the second spawned search takes the item


class KnapsackParameters(WorkloadParameters):
    """The 0-1 knapsack problem by branch and bound: a task for each decision on an item."""

    name: Literal["knapsack"] = Field(description="The name of this workload.")
    items: Annotated[Whole, Field(ge=1, le=20)] = Field(description="Items to choose from.")
    item_seed: Seed = Field(0, description="Seed of the weights and values, the same in all runs and repeats.")
    cutoff: Annotated[Whole, Field(ge=1)] | None = Field(
        None, description="Decisions after which a task searches the rest by itself. Default: no such search."
    )
    iterations: Size = Field(1, description="How often the problem is solved, once after the other.")
    node_ns: Nanoseconds = Field(Decimal(20), description="Time of one decision; the default is assumed.")

    @property
    def depth(self) -> int:
        """Number of levels of decisions that have a task each; a leaf task searches the levels below serially."""
        return min(self.items, self.cutoff or self.items)

    def totals(self) -> Totals:
        """Return the size of the program if no bound cuts off a branch, so that the search visits all decisions."""
        node_ps, below = ps(self.node_ns), 2 ** (self.items - self.depth + 1) - 1
        tasks = task(segment(node_ps), ops=3).times(2**self.depth - 1)
        return (tasks + task(segment(node_ps * below)).times(2**self.depth)).repeated(self.iterations)


class Item(NamedTuple):
    """The weight and the value of an item."""

    weight: int
    value: int


class Search:
    """A serial search, with the tasks of the search in preorder."""

    def __init__(self, items: list[Item], depth: int) -> None:
        """Search among ``items``, with a task for each of the first ``depth`` decisions."""
        self.best = 0
        self.parents: list[int] = []
        self.branches: list[bool] = []  # [tasks] whether the task spawns
        self.nodes: list[int] = []  # [tasks] the number of decisions within the task
        self._items, self._depth = items, depth

    def run(self, level: int, capacity: int, value: int, parent: int = -1) -> int:
        """Return the best value of the search from item ``level`` on with ``capacity`` left; -1 if that is negative."""
        task = parent
        if level <= self._depth:
            task = len(self.nodes)
            self.parents.append(parent)
            self.branches.append(False)
            self.nodes.append(0)
        self.nodes[task] += 1
        if capacity < 0:
            return -1
        if level == len(self._items) or capacity == 0:
            return value
        item = self._items[level]
        if value * item.weight + capacity * item.value < self.best * item.weight:
            return -1
        self.branches[task] |= level < self._depth
        found = max(
            self.run(level + 1, capacity - taken * item.weight, value + taken * item.value, task) for taken in SPAWNED
        )
        self.best = max(self.best, found)
        return found


def drawn_items(count: int, seed: int) -> list[Item]:
    """Return the items by value per weight, the best first; items of equal ratio stay in the order of drawing."""
    streams = base_array(seed, DrawClass.ARRIVAL, np.arange(count))
    weights, values = (
        1 + below_array(draw_array(streams, number), MOST_DRAWN).astype(np.int64) for number in (WEIGHT, VALUE)
    )
    items = [Item(weight, value) for weight, value in zip(weights.tolist(), values.tolist(), strict=True)]
    return sorted(items, key=lambda item: Fraction(-item.value, item.weight))


def knapsack(parameters: KnapsackParameters) -> Workload:
    """Return the task tree of a serial search; a leaf at the cut-off depth does all work of the decisions below it."""
    items = drawn_items(parameters.items, parameters.item_seed)
    search = Search(items, parameters.depth)
    best = search.run(0, sum(item.weight for item in items) // 2, 0)
    shapes = Shape((Op.RUN,), (0,), (0,)), Shape((Op.RUN, Op.SPAWN, Op.SPAWN, Op.WAIT), (0,), (0,))
    draft = Draft(np.array(search.parents), np.array(search.branches, np.int64), shapes)
    nodes = np.array(search.nodes)
    for shape in (END, BRANCH):
        draft.compute(shape, nodes[draft.tasks(shape)] * ps(parameters.node_ns))
    return draft.finish(
        **made_of(parameters),
        kernels=("decide",),
        phases=[Phase(roots=(0,), repeat=parameters.iterations, name="search")],
        facts={"decisions": sum(search.nodes), "best": best},
    )


FAMILIES = (
    Family(KnapsackParameters, knapsack, small={"items": 5, "iterations": 2}, benchmark={"items": 16, "cutoff": 12}),
)
