"""The recursive Fibonacci function, a task per call: the workload of the theory of fork and join.

A call of n >= 2 spawns calls of n - 1 and n - 2, waits for both and adds. Parts that take no time have no segment.
"""

from __future__ import annotations

import numpy as np

from numasim.spec.base import ps
from numasim.spec.workload import FibParameters
from numasim.workload.builder import Draft, Shape, parameters_of
from numasim.workload.graph import I64, Op, Workload

SPAWN, LEAF, JOIN = range(3)


def fib(parameters: FibParameters) -> Workload:
    """A task for every call that the recursion makes."""
    times = (ps(parameters.spawn_ns), ps(parameters.leaf_ns), ps(parameters.join_ns))
    argument, parent = call_tree(parameters.n)
    shapes = _shapes(times)
    draft = Draft(parent, (argument >= 2).astype(np.int64), shapes)
    for number, shape in enumerate(shapes):
        for run, kernel in enumerate(shape.kernels):
            draft.compute(number, times[kernel], run=run)
    return draft.finish(
        name="fib",
        parameters=parameters_of(parameters),
        kernels=("spawn", "leaf", "join"),
        facts={"tasks": len(parent), "leaves": int((argument < 2).sum())},
    )


def call_tree(n: int) -> tuple[I64, I64]:
    """([calls] argument, [calls] parent) level by level; the call of n - 1 comes before that of n - 2."""
    arguments, parents = [np.array([n])], [np.array([-1])]
    first = 0
    while (splits := np.flatnonzero(arguments[-1] >= 2)).size:
        parents.append(np.repeat(first + splits, 2))
        first += len(arguments[-1])
        arguments.append((arguments[-1][splits][:, None] - [1, 2]).ravel())
    return np.concatenate(arguments), np.concatenate(parents)


def _shapes(times_ps: tuple[int, int, int]) -> tuple[Shape, Shape]:
    def timed(kernel: int) -> tuple[Op, ...]:
        return (Op.RUN,) if times_ps[kernel] else ()

    kernels = tuple(kernel for kernel in (SPAWN, JOIN) if times_ps[kernel])
    leaf = Shape(timed(LEAF), (LEAF,) * len(timed(LEAF)), (0,) * len(timed(LEAF)))
    split = Shape((*timed(SPAWN), Op.SPAWN, Op.SPAWN, Op.WAIT, *timed(JOIN)), kernels, (0,) * len(kernels))
    return leaf, split
