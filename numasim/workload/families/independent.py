"""Independent tasks of uniformly drawn times, dealt round robin: the workload of the theory of work stealing."""

from __future__ import annotations

import numpy as np

from numasim.spec.base import ps
from numasim.spec.models.workload_models import IndependentParameters
from numasim.workload.builder import ACCESS_TYPES, accesses_of, parameters_of, range_workload
from numasim.workload.graph import Deal, Phase, RangeFamily, Workload


def independent(parameters: IndependentParameters) -> Workload:
    """One implicit range without accesses."""
    none = np.zeros(0, np.int64)
    family = RangeFamily(
        name="task",
        count=parameters.tasks,
        low_ps=ps(parameters.low_ns),
        high_ps=ps(parameters.high_ns),
        kernel=0,
        accesses=accesses_of(**dict.fromkeys(ACCESS_TYPES, ())),
        divisor=none,
        step_div=none,
        step_mod=none,
    )
    return range_workload(
        name="independent",
        parameters=parameters_of(parameters),
        family=family,
        phase=Phase(range_family=0, deal=Deal.CYCLIC),
        kernels=("task",),
        facts={"tasks": parameters.tasks},
    )
