"""Cells: a cell is one run of a small program of a workload family, under a shipped strategy on a shipped machine."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

from engine_setup import plan_of, shipped_runtime, shipped_strategy
from engine_setup import shipped_machine as machine

from numasim.parts import catalog
from numasim.plan.plan import Run
from numasim.workload.graph import Workload
from numasim.workload.registry import FAMILIES, generate, workload_spec

SMALL = {name: family.small for name, family in FAMILIES.items()}
MACHINES = catalog.names("machines")
STRATEGIES = catalog.names("strategies")
TEAMS = range(3)  # kinds of numbers of workers: two, an odd number, all hardware threads of a small machine


class Cell(NamedTuple):
    """One run; with ``by_event`` the engine simulates every event and takes no shortcut."""

    family: str
    strategy: str
    machine: str
    team: int
    by_event: bool


AXES = Cell(tuple(SMALL), STRATEGIES, MACHINES, TEAMS, (False, True))  # type: ignore[arg-type]


def every_cell() -> Iterator[Cell]:
    """Yield a cell for every family, strategy and machine; kinds of numbers of workers, and ``by_event``, alternate."""
    places = product(*(range(len(axis)) for axis in (SMALL, STRATEGIES, MACHINES)))
    for family, strategy, on in places:
        names = [*SMALL][family], STRATEGIES[strategy], MACHINES[on]
        yield Cell(*names, (family + strategy) % len(TEAMS), (family + strategy + on) % 3 == 0)


def cells_of_every_pair(strategy: str) -> Iterator[Cell]:
    """Yield a cell for every family under ``strategy``. The other fields alternate, so that over all strategies any two
    values of different fields are together in some cell.
    """
    first = STRATEGIES.index(strategy)
    for at, family in enumerate(SMALL):
        machine, team = MACHINES[(first + at) % len(MACHINES)], (first + 2 * at) % len(TEAMS)
        yield Cell(family, strategy, machine, team, by_event=(first // len(MACHINES) + at) % 2 == 0)


def run_of_cell(cell: Cell, runtime: str | None = None) -> Run:
    """Return the run of a cell; ``runtime`` None: with the default runtime of its family, which the paper used."""
    family = FAMILIES[cell.family]
    plan = plan_of(
        workload(cell.family),
        (2, 5, min(16, machine(cell.machine).threads))[cell.team],
        shipped_strategy(cell.strategy),
        shipped_runtime(runtime or family.benchmark_runtime or family.parameters.default_runtime),
        machine(cell.machine),
        skip=not cell.by_event,
    )
    return Run(plan, seed=[*SMALL].index(cell.family))


@cache
def workload(name: str) -> Workload:
    """Return a family's small program."""
    return generate(workload_spec(name, **SMALL[name]))
