"""Serial runs of the program, and the task graphs that they leave."""

from __future__ import annotations

from pathlib import Path

from numasim.runtime.program import KernelRun, Order, run_kernel
from numasim.workload.graph import Workload
from numasim.workload.json_io import read


def recorded(
    program: Path, folder: Path, kernel: str, workers: int = 1, costs: str = "model", **parameters: int | str
) -> tuple[KernelRun, Workload]:
    """A serial run, and the checked task graph that it recorded."""
    graph = folder / f"{kernel}.json"
    order = Order(kernel, parameters, mode="serial", costs=costs, workers=workers, record=graph)
    (run,) = run_kernel(order, program)
    return run, read(graph)
