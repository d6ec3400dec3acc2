"""The registry of generators: from checked parameters to a task graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from numasim.spec.models.workload_models import WorkloadFile, WorkloadParameters
from numasim.workload.families.fft import fft
from numasim.workload.families.fib import fib, folded_fib
from numasim.workload.families.independent import independent
from numasim.workload.families.matmul import matmul
from numasim.workload.families.nqueens import nqueens
from numasim.workload.families.random_graphs import random_fork_join, random_layered
from numasim.workload.families.sort import sort
from numasim.workload.families.sparselu import sparselu_for, sparselu_single
from numasim.workload.families.spinlock import spinlock
from numasim.workload.families.strassen import strassen
from numasim.workload.families.syncbench import syncbench
from numasim.workload.families.uts import uts
from numasim.workload.graph import Workload

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
    "spinlock": spinlock,
    "syncbench": syncbench,
}
FOLDED: dict[str, Callable[..., Workload]] = {"fib": folded_fib}


def generate(spec: WorkloadParameters | WorkloadFile, *, folded: bool = False) -> Workload:
    """The workload that ``spec`` describes; the same spec always gives the same arrays.

    With ``folded`` it is the folded form of families that have one, which takes no more memory for many tasks than for
    few; else an InputError says where the tasks do not fit.
    """
    if isinstance(spec, WorkloadFile):
        from numasim.workload.json_io import read

        return read(Path(spec.file))
    generator = FOLDED.get(spec.name) if folded else None
    return (generator or GENERATORS[spec.name])(spec)
