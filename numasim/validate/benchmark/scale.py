"""`numasim bench --scale`: what an event and a task cost on generated machines, against tasks, workers and nodes.

Independent tasks, event by event, with all effects off; each cell is a process of its own, so that its memory is its
own. Two of the three sizes are fixed where the third grows.
"""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from numasim.engine.simulate import ENGINES, simulate
from numasim.errors import CheckError
from numasim.sweep.pool import same_imports
from numasim.sweep.progress import progress_bar
from numasim.validate.benchmark.effort import NATIVE, SEED, independent_tasks, plan_of
from numasim.validate.benchmark.sampling import Probe, take

TASKS, WORKERS, NODES = "tasks", "workers", "nodes"  # what grows
TOLERANCE = 1.25  # noise: growth is called faster than the logarithm where it is so many times that of the logarithm


@dataclass(frozen=True)
class Shape:
    """The size of a run."""

    tasks: int
    workers: int
    nodes: int


@dataclass(frozen=True)
class ScaleEffort:
    """Which sizes are measured, and how often; the finding is the median."""

    samples: int = 3
    tasks: tuple[int, ...] = (10**4, 10**5, 10**6, 10**7, 10**8)
    workers: tuple[int, ...] = (2, 8, 32, 128, 512, 1024, 2048, 4096)
    nodes: tuple[int, ...] = (2, 4, 8, 16, 32, 64)
    usual: Shape = Shape(tasks=2_000_000, workers=64, nodes=2)
    many_workers: int = 256  # where nodes grow


@dataclass(frozen=True)
class Cell:
    """A measured size: what grew, and the engine's costs; ``bytes_per_task`` is what the process holds beyond one that
    runs a single task.
    """

    grows: str
    tasks: int
    workers: int
    nodes: int
    events: int
    seconds: float
    ns_per_event: float
    ns_per_task: float
    bytes_per_task: float


def generated_machine(nodes: int, workers: int) -> dict[str, Any]:
    """The description of a machine of ``nodes`` nodes on a mesh with a hardware thread for each of ``workers``."""
    columns = 2 ** (int(math.log2(nodes) + 1) // 2)
    return {
        "name": f"generated-{nodes}x{-(-workers // nodes)}",
        "sockets": nodes,
        "nodes": {"cores": -(-workers // nodes), "memory": "16GiB", "imc_bandwidth_gbs": 200},
        "caches": {"l1": "32KiB", "l2": "1MiB", "llc": "32MiB", "llc_scope": "node"}
        | {"llc_hit_ns": 20, "llc_remote_hit_ns": 120},
        "local_latency_ns": 90,
        "hop_latency_ns": 50,
        "mesh": {"rows": nodes // columns, "columns": columns, "bandwidth_gbs": 60},
        "coherence": {"same_core_ns": 5, "same_socket_ns": 40, "cross_socket_ns": 120},
        "clock": {"base_ghz": 2.5},
        "page": "4KiB",
        "line": "64B",
    }


def shapes(effort: ScaleEffort) -> Iterator[tuple[str, Shape]]:
    """Every size of the table, with what grows."""
    usual = effort.usual
    yield from ((TASKS, Shape(tasks, usual.workers, usual.nodes)) for tasks in effort.tasks)
    yield from ((WORKERS, Shape(usual.tasks, workers, usual.nodes)) for workers in effort.workers)
    yield from ((NODES, Shape(usual.tasks, effort.many_workers, nodes)) for nodes in effort.nodes)


def measure_scale(
    effort: ScaleEffort | None = None, progress: bool = False, run: Callable[[Shape], tuple[float, ...]] | None = None
) -> list[Cell]:
    """Measure the table; ``progress`` shows a bar. Raises CheckError without the native engine."""
    if NATIVE not in ENGINES:
        raise CheckError("the scale table is of the native engine, which is not built here")
    effort = effort or ScaleEffort()
    probes = [
        Probe(partial(run or in_own_process, shape), partial(cell_of, grows, shape)) for grows, shape in shapes(effort)
    ]
    with progress_bar(effort.samples * len(probes), progress) as advance:
        found: list[Cell] = take(probes, effort.samples, advance)
    return found


def cell_of(grows: str, shape: Shape, events: float, seconds: float, task_bytes: float) -> Cell:
    """The costs of a size of which ``seconds`` of the engine and bytes beyond a single task are known."""
    per_event, per_task = 1e9 * seconds / events, 1e9 * seconds / shape.tasks
    return Cell(grows, **asdict(shape), events=int(events), seconds=seconds, ns_per_event=per_event,
                ns_per_task=per_task, bytes_per_task=task_bytes / shape.tasks)  # fmt: skip


def in_own_process(shape: Shape) -> tuple[float, ...]:
    """Events, seconds and bytes of one run in a process of its own."""
    command = [sys.executable, "-m", "numasim.validate.benchmark.scale", json.dumps(asdict(shape))]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=same_imports())
    return tuple(json.loads(done.stdout))


def in_this_process(shape: Shape) -> tuple[float, float, float]:
    """The same here: memory is how much the peak grows beyond that of a run of one task."""
    from numasim.validate.benchmark.measure import peak_memory_mb

    def run(tasks: int) -> tuple[float, float]:
        machine = generated_machine(shape.nodes, shape.workers)
        plan = plan_of(independent_tasks(tasks), shape.workers, "bare", "off", machine=machine)
        result = simulate(plan, SEED, NATIVE)
        return float(result.row()["events"]), result.engine_s

    run(1)
    before_mb = peak_memory_mb()
    events, seconds = run(shape.tasks)
    return events, seconds, (peak_memory_mb() - before_mb) * 1e6


# ---- growth ----------------------------------------------------------------------------------------------------------


def faster_than_logarithm(cells: Sequence[Cell]) -> list[str]:
    """A sentence for each step over which the cost of an event grows faster than the logarithm of what grows."""
    found = []
    for grows in dict.fromkeys(cell.grows for cell in cells):
        row = sorted((cell for cell in cells if cell.grows == grows), key=lambda cell: int(getattr(cell, grows)))
        for less, more in itertools.pairwise(row):
            small, large = getattr(less, grows), getattr(more, grows)
            growth, allowed = more.ns_per_event / less.ns_per_event, math.log(large) / math.log(small)
            if growth > TOLERANCE * allowed:
                found.append(
                    f"from {small:,} to {large:,} {grows}, an event takes {growth:.2f} times as long; "
                    f"the logarithm grows {allowed:.2f} times"
                )
    return found


if __name__ == "__main__":
    print(json.dumps(in_this_process(Shape(**json.loads(sys.argv[1])))))
