"""All runs that a reproduction needs, each once: executed as a sweep and stored for later calls."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from numasim.engine.simulate import simulate_spec
from numasim.reproduce.plan.planned import PlannedTable
from numasim.sweep.collection import Collected, collect_runs
from numasim.sweep.planned_runs import PlannedRun


def union(tables: Iterable[PlannedTable]) -> list[PlannedRun]:
    """The runs of all tables, each once; runs of one workload follow each other, so that it is generated once."""
    runs = {run.run_id: run for table in tables for run in table.runs}
    workloads: dict[str, list[PlannedRun]] = {}
    for run in runs.values():
        workloads.setdefault(run.spec.workload.contents_json, []).append(run)
    return [run for alike in workloads.values() for run in alike]


def do_runs(
    tables: Iterable[PlannedTable], directory: Path, *, jobs: int | None, engine: str, progress: bool
) -> Collected:
    """Execute the runs of ``tables`` that ``directory`` lacks and return all of them."""
    return collect_runs(
        union(tables), directory, jobs=jobs, engine=engine, runner=simulate_spec, progress=progress, pairs=True
    )
