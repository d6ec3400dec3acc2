"""Independent tasks of uniformly drawn times, dealt round robin to workers, as in the theory of work stealing."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from numasim.parts.base import Whole, ps
from numasim.schema.enumerations import MOST_ITEMS
from numasim.workload.builder import accesses_of, made_of, workload_of
from numasim.workload.graph import Deal, Phase, RangeFamily, Workload
from numasim.workload.parameters import Family, TimedParameters
from numasim.workload.totals import Totals


class IndependentParameters(TimedParameters):
    """``tasks`` tasks without accesses or dependences, dealt round robin; the tasks are never listed one by one."""

    name: Literal["independent"] = Field(description="The name of this workload.")
    tasks: Annotated[Whole, Field(ge=1, le=MOST_ITEMS)] = Field(
        description="Number of tasks, dealt to workers in turn."
    )

    def totals(self) -> Totals:
        """Return the size of the program as if every task took the longest possible time."""
        high_ps = ps(self.high_ns)
        return Totals(items=self.tasks, compute_ps=self.tasks * high_ps, segment_ps=high_ps)


def independent(parameters: IndependentParameters) -> Workload:
    """Return one range of items without accesses."""
    none = np.zeros(0, np.int64)
    bounds = ps(parameters.low_ns), ps(parameters.high_ns)
    family = RangeFamily("task", parameters.tasks, *bounds, 0, accesses_of(), none, none, none)
    return workload_of(
        **made_of(parameters),
        ranges=(family,),
        phases=(Phase(range_family=0, deal=Deal.CYCLIC),),
        kernels=("task",),
        facts={"tasks": parameters.tasks},
    )


SMALL = {"tasks": 30, "low_ns": 100, "high_ns": 2000}
BENCHMARK = {"tasks": 20_000, "low_ns": 500, "high_ns": 1500}
FAMILIES = (Family(IndependentParameters, independent, small=SMALL, benchmark=BENCHMARK),)
