"""The registry of generators: from checked parameters to a task graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from numasim.spec.workload import WorkloadFile, WorkloadParameters
from numasim.workload.fft import fft
from numasim.workload.fib import fib
from numasim.workload.graph import Workload
from numasim.workload.independent import independent
from numasim.workload.matmul import matmul
from numasim.workload.nqueens import nqueens
from numasim.workload.random_graphs import random_fork_join, random_layered
from numasim.workload.sort import sort
from numasim.workload.sparselu import sparselu_for, sparselu_single
from numasim.workload.strassen import strassen
from numasim.workload.uts import uts

GENERATORS: dict[str, Callable[..., Workload]] = {
    "matmul": matmul,
    "strassen": strassen,
    "sort": sort,
    "sparselu-single": sparselu_single,
    "sparselu-for": sparselu_for,
    "fib": fib,
    "nqueens": nqueens,
    "fft": fft,
    "uts": uts,
    "independent": independent,
    "random-fork-join": random_fork_join,
    "random-layered": random_layered,
}


def generate(spec: WorkloadParameters | WorkloadFile) -> Workload:
    """The workload that ``spec`` describes; the same spec always gives the same arrays."""
    if isinstance(spec, WorkloadFile):
        from numasim.workload.json_io import read

        return read(Path(spec.file))
    return GENERATORS[spec.name](spec)
