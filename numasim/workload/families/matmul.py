"""MATMUL (Vikranth's thesis, section 3.3.2): every element of C = A x B is an independent task, dealt round robin.

The tasks are the items of one range. Item i computes C[i div n, i mod n]: item i reads a row of A in one piece, and a
column of B as n cache lines, one from each row of B. Each line of the column is new, and for n >= 512 also its page is
new, so neither prefetches nor page walks overlap. With one cache miss for each of these lines, a task takes the time
that the thesis' equation 4.3 gives for local data (its intercept).
"""

from __future__ import annotations

from dataclasses import replace
from math import isqrt
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from numasim.parts.base import Whole
from numasim.schema.enumerations import MOST_ITEMS
from numasim.workload.builder import accesses_of, made_of, workload_of
from numasim.workload.graph import Deal, Mode, Pattern, Phase, RangeFamily, Region, Workload
from numasim.workload.one_worker import LINE_BYTES
from numasim.workload.parameters import Family, WorkloadParameters, WorkTime, compute_ps
from numasim.workload.totals import Totals, access, memory, segment

ELEMENT_BYTES = 8


class MatmulParameters(WorkloadParameters):
    """C = A x B by one task per element of C (thesis, section 3.3.2): ``n`` squared tasks of ``2 n`` operations."""

    name: Literal["matmul"] = Field(description="The name of this workload.")
    n: Annotated[Whole, Field(ge=1, le=isqrt(MOST_ITEMS))] = Field(
        description="Rows and columns of the matrices: there are n squared tasks of 2n operations each."
    )
    ps_per_1000_flops: WorkTime = Field(
        600_000, description="Time of 1,000 operations; assumed: an addition takes 3 cycles at 2.5 GHz."
    )

    def totals(self) -> Totals:
        """Return the size of the program: an item for each element of C."""
        n, row_bytes = self.n, ELEMENT_BYTES * self.n
        item = segment(
            compute_ps(2 * n, self.ps_per_1000_flops),
            access(row_bytes),
            access(LINE_BYTES, n, pattern=Pattern.CHASE),
            access(ELEMENT_BYTES, mode=Mode.WRITE),
        )
        every = item.times(n * n)
        return replace(every, ops=0, segments=0, items=n * n) + memory(n * row_bytes + LINE_BYTES)


def matmul(parameters: MatmulParameters) -> Workload:
    """Return the ``n * n`` tasks of a matrix product."""
    n = parameters.n
    row_bytes = ELEMENT_BYTES * n
    dot_ps = int(compute_ps(2 * n, parameters.ps_per_1000_flops))
    family = RangeFamily(
        name="element",
        count=n * n,
        low_ps=dot_ps,
        high_ps=dot_ps,
        kernel=0,
        accesses=accesses_of(
            region=(0, 1, 2),
            offset=(0, 0, 0),
            row_bytes=(row_bytes, LINE_BYTES, ELEMENT_BYTES),
            rows=(1, n, 1),
            stride=(0, row_bytes, 0),
            mode=(Mode.READ, Mode.READ, Mode.WRITE),
            pattern=(Pattern.SEQUENTIAL, Pattern.CHASE, Pattern.SEQUENTIAL),
            passes=(1, 1, 1),
        ),
        divisor=np.array([n, n, n]),
        step_div=np.array([row_bytes, 0, row_bytes]),
        step_mod=np.array([0, ELEMENT_BYTES, ELEMENT_BYTES]),
    )
    matrix = n * row_bytes
    overhang = LINE_BYTES - ELEMENT_BYTES  # a line read at B's last element ends so many bytes behind B
    return workload_of(
        **made_of(parameters),
        ranges=(family,),
        phases=(Phase(range_family=0, deal=Deal.CYCLIC),),
        kernels=("dot",),
        regions=(Region("A", matrix, True), Region("B", matrix + overhang, True), Region("C", matrix, False)),
        facts={"tasks": n * n, "flops": 2 * n**3},
    )


FAMILIES = (Family(MatmulParameters, matmul, small={"n": 5}, benchmark={"n": 128}, benchmark_runtime="own"),)
