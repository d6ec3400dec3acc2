"""Small parameters for every kernel (benchmark of the C runtime), and serial runs that record their task graphs."""

from __future__ import annotations

from pathlib import Path

from numasim.runtime.runtime_program import KernelRun, Order, run_kernel
from numasim.workload.graph import Workload
from numasim.workload.json_form.graph_io import read

SMALL: dict[str, dict[str, int | str]] = {
    "cholesky": {"tiles": 4, "tile_size": 5},
    "cholesky dependences": {"tiles": 5, "tile_size": 5, "dependences": 1},
    "fft": {"n": 2048},
    "fib": {"n": 9},
    "graph": {"depth": 5, "graph_seed": 3},
    "matmul": {"n": 50, "block": 16},
    "mergesort": {"n": 3000, "quicksort_cutoff": 64, "merge_cutoff": 32},
    "nqueens": {"n": 6},
    "nqueens cut": {"n": 6, "cutoff": 2},
    "sparselu": {"blocks": 7, "block_size": 4},
    "spinlock": {"acquisitions": 4, "critical_ns": 10, "think_ns": 5},
    "stencil": {"n": 40, "iterations": 3, "rows": 7},
    "strassen": {"n": 64, "cutoff": 8},
    "strassen manual": {"n": 64, "cutoff": 8, "cutoff_version": "manual", "cutoff_depth": 2},
    "syncbench": {"construct": "reduction", "repetitions": 4},
    "syncbench single": {"construct": "single", "repetitions": 2},
    "uts": {"root_children": 20, "tree_seed": 3},
    "uts geometric": {"tree": "geometric", "shape": "linear", "tree_seed": 1},
}


def recorded(
    program: Path,
    folder: Path,
    kernel: str,
    workers: int = 1,
    costs: str = "model",
    **parameters: int | str,
) -> tuple[KernelRun, Workload]:
    """Return a serial run, and the checked task graph that the run has recorded."""
    graph = folder / f"{kernel}.json"
    order = Order(kernel, parameters, mode="serial", costs=costs, workers=workers, record=graph)
    (run,) = run_kernel(order, program)
    return run, read(graph)
