"""The native engine beside SimGrid (Casanova et al., "Versatile, scalable, and accurate simulation of distributed
applications and platforms", 2014): the same simulation of independent tasks on workers that steal, written for SimGrid
with an actor a worker, as users of its S4U interface do.

The unit is an event for a second of the wall clock. In both, an event is the end of a task or of a probe, at which a
worker decides what it does next: what the engine counts as `events` where its workers do nothing else, and what
``programs/stealing_simgrid.cpp.txt`` counts itself, which states the rules. Both have as many tasks of as many units of
time, 500 to 1,499, on as many workers of two nodes, and every worker has as many to begin with.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from numasim.benchmark.compared import Comparisons, MissingError
from numasim.benchmark.comparisons.built_programs import (
    CPP,
    build,
    package_options,
    printed_numbers,
)
from numasim.benchmark.effort import Effort
from numasim.benchmark.ratios import FEW, FEW_NODES, events_per_second, independent_tasks, pair_probe
from numasim.benchmark.timed_plans import NATIVE, plan_of
from numasim.engine.simulate import ENGINES
from numasim.errors import CheckError

PACKAGE = "simgrid"  # of pkg-config
SOURCE = "stealing_simgrid.cpp.txt"


def simgrid_comparisons(effort: Effort, folder: Path) -> Comparisons:
    """The probe of independent tasks on both; SimGrid's program is built in ``folder``."""
    program = folder / "stealing_simgrid"
    try:
        if NATIVE not in ENGINES:
            raise MissingError("the native engine is not built")
        build(program, CPP, SOURCE, package_options(PACKAGE), ("10", "2", "1"))
    except MissingError as missing:
        return Comparisons((), (f"the native engine with SimGrid: {missing}",))
    tasks = effort.simgrid_tasks
    ours = partial(events_per_second, plan_of(independent_tasks(tasks), FEW, "bare", "off"))
    simgrid = partial(simgrid_events_per_second, program, tasks, FEW, FEW_NODES)
    title = f"independent, event by event, {FEW} workers: to SimGrid"
    return Comparisons((pair_probe(title, "at least", None, "events/s", (ours, simgrid)),), ())


def simgrid_events_per_second(program: Path, tasks: int, workers: int, nodes: int) -> float:
    """The rate of SimGrid's program. Raises CheckError where it did not execute every task."""
    executed, events, _, took_ns = printed_numbers(program, str(tasks), str(workers), str(nodes))
    if executed != tasks:
        raise CheckError(f"{program.name} executed {executed} tasks of {tasks}")
    return events / (took_ns / 1e9)
