"""Tasks that only refer to memory of their own: home-test (home scheduling, section 2, Figures 1 and 2).

One task for each core makes memory references to a region that no other task uses. The caches of the core serve a share
of the references; the paper does not state this share (assumption A-60). Every other reference fetches the next line of
the region from the line's home, the node whose memory holds the line. A task cannot continue without the line, so it
fetches one line at a time. The regions lie one after the other, and regions of 64 KiB begin at multiples of 64 KiB. A
page policy can thus place each region on the node of its task, on one node, or on all nodes.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction as Rational
from math import ceil
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from numasim.parts.base import Bytes, Exact
from numasim.workload.builder import Draft, Shape, made_of
from numasim.workload.graph import Deal, Mode, Op, Pattern, Phase, Region, Workload
from numasim.workload.one_worker import LINE_BYTES
from numasim.workload.parameters import Family, TeamParameters, WorkTime, compute_ps
from numasim.workload.totals import Totals, access, memory, segment, task


class HomeTestParameters(TeamParameters):
    """A task for each of ``threads`` workers, which refers to ``bytes`` bytes of its own."""

    name: Literal["home-test"] = Field(description="The name of this workload.")
    bytes: Annotated[Bytes, Field(ge=1)] = Field(64 * 1024, description="Bytes that a task fetches: all of its region.")
    hit_share: Annotated[Exact, Field(ge=0, le=Decimal("0.999999"))] = Field(
        Decimal(0),
        description="Share of a task's references that caches serve; every other reference fetches a line (A-60).",
    )
    ps_per_1000_references: WorkTime = Field(
        2_309_000, description="Time of 1,000 references without a wait; assumed: two cycles each at 0.866 GHz."
    )

    @property
    def references(self) -> int:
        """Number of references of a task; every reference that no cache serves fetches a line."""
        return ceil(-(-self.bytes // LINE_BYTES) / (1 - Rational(self.hit_share)))

    @property
    def task_ps(self) -> int:
        """Time of a task if caches served every reference."""
        return int(compute_ps(self.references, self.ps_per_1000_references))

    def totals(self) -> Totals:
        """Return the size of the program: a task for each thread."""
        fetched = access(self.bytes, pattern=Pattern.CHASE)
        return task(segment(self.task_ps, fetched)).times(self.team) + memory(self.team * self.bytes)


def home_test(parameters: HomeTestParameters) -> Workload:
    """Return a task for each thread, dealt one to each worker."""
    threads = parameters.team
    draft = Draft(np.full(threads, -1), np.zeros(threads, np.int64), (Shape((Op.RUN,), (0,), (1,)),))
    draft.compute(0, parameters.task_ps)
    offset, size = draft.tasks(0) * parameters.bytes, parameters.bytes
    draft.access(0, 0, region=0, offset=offset, row_bytes=size, mode=Mode.READ, pattern=Pattern.CHASE)
    return draft.finish(
        **made_of(parameters),
        kernels=("refer",),
        regions=(Region("regions", threads * parameters.bytes, True),),
        phases=(Phase(roots=tuple(range(threads)), deal=Deal.CYCLIC),),
        facts={"references": threads * parameters.references},
    )


SMALL = {"threads": 2, "bytes": 640, "hit_share": 0.5}
FAMILIES = (Family(HomeTestParameters, home_test, small=SMALL, benchmark={"bytes": 640}),)
