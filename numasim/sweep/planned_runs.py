"""The runs of a sweep, listed before any run is started: every cell with every repeat.

Repeat r of every cell has the same seed (model 1.3), so that strategies are compared in pairs. Cells that describe the
same simulation share one run.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from numasim.draws import repeat_seed
from numasim.spec.identity import run_id

if TYPE_CHECKING:
    from numasim.spec.run_spec import RunSpec
    from numasim.spec.sweep_spec import SweepSpec


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One simulation, identified by specification and seed."""

    run_id: str
    spec: RunSpec
    seed: int  # the seed of this repeat


def repeated(spec: RunSpec, repeat: int) -> PlannedRun:
    """Return the run of one repeat of a specification, counted from zero."""
    seed = repeat_seed(spec.seed, repeat)
    return PlannedRun(run_id(spec, seed), spec, seed)


def plan_runs(sweep: SweepSpec) -> list[PlannedRun]:
    """Return the run of each row of the results table, in the order of the rows: by cell, then by repeat."""
    return [repeated(cell.spec, repeat) for cell in sweep.cells for repeat in range(sweep.repeat)]


def by_plan(runs: Sequence[PlannedRun]) -> list[PlannedRun]:
    """Return ``runs`` reordered so that each program on a machine, and each plan, is prepared only once.

    Runs of a program on a machine become neighbours, and among these the runs of one plan. The order is otherwise kept.
    """
    programs: dict[Hashable, int] = {}
    plans: dict[Hashable, int] = {}

    def place(run: PlannedRun) -> tuple[int, int]:
        spec = run.spec
        program = (id(spec.workload), id(spec.machine), spec.workers)
        plan = (program, id(spec.strategy), id(spec.runtime), spec.model.whole_json)
        return programs.setdefault(program, len(programs)), plans.setdefault(plan, len(plans))

    return sorted(runs, key=place)
