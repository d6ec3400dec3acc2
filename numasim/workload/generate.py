"""The registry of generators: from checked parameters to a task graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from numasim.spec.workload import WorkloadFile, WorkloadParameters
from numasim.workload.fib import fib
from numasim.workload.graph import Workload
from numasim.workload.independent import independent
from numasim.workload.matmul import matmul
from numasim.workload.strassen import strassen

GENERATORS: dict[str, Callable[..., Workload]] = {
    "matmul": matmul,
    "strassen": strassen,
    "fib": fib,
    "independent": independent,
}


def generate(spec: WorkloadParameters | WorkloadFile) -> Workload:
    """The workload that ``spec`` describes; the same spec always gives the same arrays."""
    if isinstance(spec, WorkloadFile):
        from numasim.workload.json_io import read

        return read(Path(spec.file))
    return GENERATORS[spec.name](spec)
