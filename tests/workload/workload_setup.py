"""Small programs of every workload family, and slow functions that read the ops of programs, to check fast code."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from numasim.workload.graph import Op, Workload
from numasim.workload.phases import steps
from numasim.workload.registry import FAMILIES, generate, workload_spec

OTHER_SIZES = {  # label: parameters; a label is a family's name, or a name with a property of the parameters
    "matmul": {"n": 5},
    "strassen": {"n": 32, "cutoff": 8},
    "strassen manual": {"n": 64, "cutoff": 8, "cutoff_version": "manual", "cutoff_depth": 2},
    "sort": {"n": 3000, "quicksort_cutoff": 64, "merge_cutoff": 32},
    "sparselu-single": {"blocks": 7, "block_size": 4},
    "sparselu-for": {"blocks": 7, "block_size": 4},
    "fib": {"n": 9},
    "nqueens": {"n": 5},
    "nqueens cut": {"n": 6, "cutoff": 2},
    "fft": {"n": 4096},
    "uts": {"root_children": 20, "tree_seed": 3},
    "uts linear": {"tree": "geometric", "shape": "linear", "tree_seed": 1},
    "uts cyclic": {"tree": "geometric", "shape": "cyclic", "root_children": 2, "tree_seed": 1},
    "uts exponential": {"tree": "geometric", "shape": "exponential", "root_children": 3, "depth": 4, "tree_seed": 5},
    "independent": {"tasks": 11, "low_ns": 100, "high_ns": 900},
    "random-fork-join": {"tasks": 60, "low_ns": 1, "high_ns": 50, "task_bytes": 100},
    "random-layered": {"layers": 4, "width": 5, "low_ns": 1, "high_ns": Decimal("50.5"), "degree": 3},
    "spinlock": {"threads": 3, "acquisitions": 4, "critical_ns": 10, "think_ns": 5},
    "syncbench": {"construct": "reduction", "threads": 3, "repetitions": 4},
    "syncbench critical": {"construct": "critical", "threads": 3, "repetitions": 5},
    "syncbench single": {"construct": "single", "threads": 3, "repetitions": 2},
}
SMALL = {**{name: family.small for name, family in FAMILIES.items()}, **OTHER_SIZES}


def make(name: str, **parameters: object) -> Workload:
    """Return the generated workload of a family."""
    return generate(workload_spec(name, **parameters))


def small(label: str) -> Workload:
    """Return a small instance by its label in `SMALL`."""
    return make(label.partition(" ")[0], **SMALL[label])


def program(workload: Workload, task: int) -> list[tuple[Op, int]]:
    """Return the (op, argument) pairs of a task."""
    ops = range(workload.op_ptr[task], workload.op_ptr[task + 1])
    return [(Op(workload.op_code[op]), int(workload.op_arg[op])) for op in ops]


def serial_segments(workload: Workload) -> Iterator[int]:
    """Return the segments in the order of a serial run: a spawned task runs when its parent next waits or ends."""
    for step in steps(workload.phases, workload.loops):
        waiting = list(workload.phases[step.phase].roots)
        while waiting:
            yield from _run(workload, waiting.pop(0), waiting)


def _run(workload: Workload, task: int, left: list[int]) -> Iterator[int]:
    mine: list[int] = []
    for code, arg in program(workload, task):
        if code == Op.RUN:
            yield arg
        elif code == Op.SPAWN:
            mine.append(arg)
        elif code == Op.CALL:
            yield from _run(workload, arg, mine)
        else:
            while mine:
                yield from _run(workload, mine.pop(0), mine)
    left.extend(mine)
