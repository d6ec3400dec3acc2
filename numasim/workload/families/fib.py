"""The recursive Fibonacci function, a task per call: an example in the theory of fork and join.

A call of n >= 2 spawns calls of n - 1 and n - 2, waits for both calls and adds. Each of these three parts of a call
takes a given time; a part of 0 ns has no segment. All calls with the same argument have equal subtrees, and calls of 0
equal calls of 1, so the folded graph, with one row for all tasks of equal subtrees, has ``n`` rows (1 if n is 0).
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from numasim.parts.base import Nanoseconds, Whole, ps
from numasim.workload.builder import made_of, workload_of
from numasim.workload.forest_arrays import offsets
from numasim.workload.graph import Op, Phase, Workload
from numasim.workload.parameters import Family, WorkloadParameters
from numasim.workload.totals import Totals, segment, task
from numasim.workload.unfold import unfolded

KERNELS = ("spawn", "leaf", "join")
SPAWN, LEAF, JOIN = range(len(KERNELS))


def fib_calls(n: int) -> tuple[int, int]:
    """Return (number of calls, number of leaf calls) of the recursive Fibonacci function of ``n``."""
    leaves, following = 1, 1
    for _ in range(n):
        leaves, following = following, leaves + following
    return 2 * leaves - 1, leaves


class FibParameters(WorkloadParameters):
    """A task per call of the recursive Fibonacci function, with given times for the parts of a call.

    The reference engine needs a row for each call, so arguments above 32 are too large for this engine.
    """

    name: Literal["fib"] = Field(description="The name of this workload.")
    n: Annotated[Whole, Field(ge=0, le=50)] = Field(
        description="The argument; a call is a task. Above 32 only the native engine has room for the tasks."
    )
    spawn_ns: Nanoseconds = Field(Decimal(50), description="Time of a call before the spawns; the default is assumed.")
    leaf_ns: Nanoseconds = Field(Decimal(100), description="Time of a call of 0 or 1; the default is assumed.")
    join_ns: Nanoseconds = Field(Decimal(50), description="Time of a call after both children; the default is assumed.")

    def totals(self) -> Totals:
        """Return the size of the folded graph, with the compute time of all calls."""
        calls, leaves = fib_calls(self.n)
        spawn_ps, leaf_ps, join_ps = ps(self.spawn_ns), ps(self.leaf_ns), ps(self.join_ns)
        folded = task(*[segment(0)] * 3, ops=3).times(max(1, self.n))
        work_ps = leaves * leaf_ps + (calls - leaves) * (spawn_ps + join_ps)
        return folded + Totals(compute_ps=work_ps, segment_ps=max(spawn_ps, leaf_ps, join_ps))


def fib(parameters: FibParameters) -> Workload:
    """Return a task for every call of the recursion; raise `InputError` if the tasks do not fit in memory."""
    return unfolded(folded_fib(parameters))


def folded_fib(parameters: FibParameters) -> Workload:
    """Return a row for every argument: row r stands for the calls of n - r, the last row for the calls of 1 and 0."""
    times = np.array([ps(parameters.spawn_ns), ps(parameters.leaf_ns), ps(parameters.join_ns)], np.int64)
    timed = np.flatnonzero(times)  # the kernels that take time, each with one segment
    runs = {kernel: [(Op.RUN, at)] for at, kernel in enumerate(timed.tolist())}
    before, leaf, after = (runs.get(kernel, []) for kernel in (SPAWN, LEAF, JOIN))
    rows = max(1, parameters.n)
    programs = [
        [*before, (Op.SPAWN, row + 1), (Op.SPAWN, min(row + 2, rows - 1)), (Op.WAIT, 0), *after]
        for row in range(rows - 1)
    ]
    programs.append(leaf)
    ops = np.array([op for program in programs for op in program], np.int64).reshape(-1, 2)
    calls, leaves = fib_calls(parameters.n)
    return workload_of(
        **made_of(parameters),
        kernels=KERNELS,
        phases=(Phase(roots=(0,)),),
        op_ptr=offsets(np.array([len(program) for program in programs])),
        op_code=ops[:, 0],
        op_arg=ops[:, 1],
        compute_ps=times[timed],
        kernel=timed,
        facts={"tasks": calls, "leaves": leaves},
        folded=True,
    )


FAMILIES = (Family(FibParameters, fib, folded=folded_fib, small={"n": 6}, benchmark={"n": 18}),)
