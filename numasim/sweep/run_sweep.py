"""Runs a sweep: one process or several simulate the runs missing in the results directory and store them in batches.

The tables are a function of the sweep alone: the number of processes, the batches, and a kill and restart at any time
do not change a byte of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from numasim.errors import when_interrupted
from numasim.plan.build_plan import built_workload
from numasim.plan.tuning import controller_of
from numasim.spec.identity import MODEL_VERSION, spec_hash
from numasim.sweep.batch import Runner, Task
from numasim.sweep.batch_dispatch import Dispatch
from numasim.sweep.planned_runs import PlannedRun, by_plan, missing_runs, plan_rows
from numasim.sweep.pool import Workers
from numasim.sweep.progress import progress_bar
from numasim.sweep.store.results_store import Identity, Store, open_store
from numasim.sweep.store.results_tables import write_tables
from numasim.sweep.workers import chosen_workers
from numasim.workload.parameters import WorkloadFile

if TYPE_CHECKING:
    from numasim.spec.sweep_spec import SweepSpec


@dataclass(frozen=True)
class SweepOutcome:
    """The outcome of a call of `run_sweep`; ``failures`` has the message of each failed run, by run_id."""

    directory: Path
    rows: int  # of the results table: cells x repeats
    executed: int  # runs done by this call
    failures: dict[str, str]
    complete: bool  # whether every run has ended, so that the tables were written


def run_sweep(
    sweep: SweepSpec,
    directory: str | Path,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    engine: str,
    runner: Runner,
    fail_fast: bool = False,
    progress: bool = True,
    check: bool = False,
) -> SweepOutcome:
    """Simulate the runs of ``sweep`` that ``directory`` lacks and write its tables.

    ``runner(spec, seed, engine, check)`` does one run and must be importable by name. A run that fails is recorded with
    its message and tried again by the next call; with ``fail_fast`` the first failure ends the sweep as soon as the
    running batches are written. The tables are written when every run has ended. An interrupt leaves a directory from
    which the next call continues. Raises `InputError` if ``directory`` cannot be written or is not this sweep's.
    """
    with chosen_workers(jobs, cluster, engine) as workers:
        task = Task(runner, engine, check, fail_fast)
        return _sweep_by(workers, task, sweep, Path(directory), progress)


def _sweep_by(workers: Workers, task: Task, sweep: SweepSpec, directory: Path, progress: bool) -> SweepOutcome:
    _check_graphs(sweep)
    _check_controllers(sweep)
    rows = plan_rows(sweep)
    identity = Identity(spec_hash(sweep), MODEL_VERSION, sweep.text, sweep.files)
    with open_store(directory, identity) as store:
        dispatch, complete = do_missing([row.run for row in rows], store, task, workers, progress)
        if complete:
            write_tables(store, rows, sweep.axes, identity.spec_hash)
    return SweepOutcome(store.directory, len(rows), dispatch.executed, dispatch.failures, complete)


def _check_graphs(sweep: SweepSpec) -> None:
    """InputError for a task graph that is wrong: each is read before anything is written, and once by each process that
    has runs of it.
    """
    workloads = (cell.spec.workload for cell in sweep.cells)
    for file in dict.fromkeys(workload.file for workload in workloads if isinstance(workload, WorkloadFile)):
        built_workload(WorkloadFile(file=file))


def _check_controllers(sweep: SweepSpec) -> None:
    """InputError for a user's controller that cannot be executed: each is loaded before anything is written."""
    strategies = {id(cell.spec.strategy): cell.spec.strategy for cell in sweep.cells}
    for strategy in strategies.values():
        if strategy.tune is not None:
            controller_of(strategy.tune)


def _kept(directory: Path, count: int, missing: int) -> str:
    return f"{count - missing:,} of {count:,} runs are kept in {directory}; the same command continues"


def do_missing(
    runs: Sequence[PlannedRun], store: Store, task: Task, workers: Workers, progress: bool
) -> tuple[Dispatch, bool]:
    """Simulate those of ``runs`` that ``store`` lacks; return the progress and whether all of them have ended."""
    missing = by_plan(missing_runs(runs, store.finished()))
    count = len({run.run_id for run in runs})
    with progress_bar(len(missing), progress) as advance:
        dispatch = Dispatch(task, workers, store.shards, store.next_number(), advance)
        with when_interrupted(lambda: _kept(store.directory, count, len(missing) - dispatch.executed)):
            dispatch.do(missing)
    return dispatch, dispatch.executed == len(missing)
