"""Simulate the missing runs of a results directory: the runs of a sweep, or runs of many specifications.

One process or several simulate the runs and store them in batches. The tables of a sweep are a function of the sweep
alone. The number of processes, the batches, and a kill and restart at any time change no byte of the tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from numasim.errors import InputError, when_interrupted
from numasim.plan.build_plan import built_workload
from numasim.plan.tuning import controller_of
from numasim.spec.identity import MODEL_VERSION, spec_hash
from numasim.sweep.batch import Dispatch, Runner, Task
from numasim.sweep.planned_runs import PlannedRun, by_plan, plan_runs
from numasim.sweep.pool import LocalWorkers, default_jobs
from numasim.sweep.progress import progress_bar
from numasim.sweep.store.parquet import COUNTERS, RUN
from numasim.sweep.store.results_store import Identity, Store, open_store
from numasim.sweep.store.results_tables import PAIRS, write_tables
from numasim.sweep.store.shards import read_shards, rows_of_runs
from numasim.workload.parameters import WorkloadFile

if TYPE_CHECKING:
    from numasim.spec.sweep_spec import SweepSpec
    from numasim.sweep.dask_cluster import ClusterWorkers


@dataclass(frozen=True)
class SweepOutcome:
    """The outcome of a call of `run_sweep`; ``failures`` has the message of each failed run, by run_id."""

    directory: Path
    rows: int  # rows of the results table: cells x repeats
    executed: int  # runs simulated by this call
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

    ``runner(spec, seed, engine, check)`` simulates one run and must be importable by name. The message of a failed run
    is recorded, and the next call tries the run again. With ``fail_fast`` the first failure ends the sweep as soon as
    the running batches are written. The tables are written when every run has ended. An interrupt leaves a directory
    from which the next call continues. Raises `InputError` if ``directory`` cannot be written or is of another sweep.
    """
    with chosen_workers(jobs, cluster, engine) as workers:
        _require_sound_files(sweep)
        runs = plan_runs(sweep)
        identity = Identity(spec_hash(sweep), MODEL_VERSION, sweep.text, sweep.files)
        task = Task(runner, engine, check, fail_fast)
        with open_store(Path(directory), identity) as store:
            dispatch, complete = do_missing(runs, store, task, workers, progress)
            if complete:
                write_tables(store, sweep, runs, identity.spec_hash)
    return SweepOutcome(store.directory, len(runs), dispatch.executed, dispatch.failures, complete)


@contextmanager
def chosen_workers(jobs: int | None, cluster: str | None, engine: str) -> Iterator[LocalWorkers | ClusterWorkers]:
    """Yield ``jobs`` processes of this machine (by default one for each core), or the workers of a ``cluster``.

    Raises `InputError` if both are given, and if the cluster cannot be used to simulate with ``engine``.
    """
    if cluster is None:
        yield LocalWorkers(default_jobs() if jobs is None else jobs)
        return
    if jobs is not None:
        raise InputError("jobs and cluster are both given", expected="one of them: a cluster counts its own workers")
    from numasim.sweep.dask_cluster import cluster_workers

    with cluster_workers(cluster, engine) as workers:
        yield workers


def _require_sound_files(sweep: SweepSpec) -> None:
    """Raise InputError for a wrong task graph, and for a user's controller that cannot be executed.

    Every graph is read, and every controller is loaded, before anything is written.
    """
    workloads = (cell.spec.workload for cell in sweep.cells)
    for file in dict.fromkeys(workload.file for workload in workloads if isinstance(workload, WorkloadFile)):
        built_workload(WorkloadFile(file=file))
    for strategy in {id(cell.spec.strategy): cell.spec.strategy for cell in sweep.cells}.values():
        if strategy.tune is not None:
            controller_of(strategy.tune)


def do_missing(
    runs: Sequence[PlannedRun], store: Store, task: Task, workers: LocalWorkers | ClusterWorkers, progress: bool
) -> tuple[Dispatch, bool]:
    """Simulate each of ``runs`` that ``store`` lacks; return the progress and whether all ``runs`` have ended."""
    ids = pa.array([run.run_id for run in runs], pa.string())
    ended = pc.is_in(ids, value_set=store.finished()).to_numpy(zero_copy_only=False)
    wanted = {run.run_id: run for run, has_ended in zip(runs, ended, strict=True) if not has_ended}
    missing = by_plan(list(wanted.values()))
    count = pc.count_distinct(ids).as_py()

    def kept() -> str:
        done = count - len(missing) + dispatch.executed
        return f"{done:,} of {count:,} runs are kept in {store.directory}; the same command continues"

    with progress_bar(len(missing), progress) as advance:
        dispatch = Dispatch(task, workers, store.shards, store.next_number(), advance)
        with when_interrupted(kept):
            dispatch.do(missing)
    return dispatch, dispatch.executed == len(missing)


# ---- Runs of many specifications in one directory --------------------------------------------------------------------
#
# A directory of such runs has no tables and belongs to no single specification, so any later call may add runs.

MANY = Identity(f"many-{MODEL_VERSION}", MODEL_VERSION, "# runs of many specifications\n")


@dataclass(frozen=True)
class Collected:
    """Runs by their id: the counters of each run that succeeded, and the message of each run that failed.

    ``pairs`` has the rows of the table of node pairs of each run that succeeded, if the call asked for pairs.
    """

    counters: Mapping[str, Mapping[str, Any]]
    failures: Mapping[str, str]
    pairs: Mapping[str, Sequence[Mapping[str, int]]] = field(default_factory=dict)


def collect_runs(
    runs: Sequence[PlannedRun],
    directory: str | Path,
    *,
    jobs: int | None = None,
    engine: str,
    runner: Runner,
    progress: bool = True,
    pairs: bool = False,
) -> Collected:
    """Simulate each of ``runs`` that ``directory`` lacks, and return all ``runs``, with node pairs if asked for.

    A run that failed is tried again by the next call. An interrupt or a kill leaves a directory from which the next
    call continues. Raises `InputError` if ``directory`` cannot be written or has other contents.
    """
    with chosen_workers(jobs, None, engine) as workers, open_store(Path(directory), MANY) as store:
        do_missing(runs, store, Task(runner, engine, check=False, fail_fast=False), workers, progress)
        columns = [*(name for name in RUN.names if name != "engine_s"), *([PAIRS] if pairs else [])]
        table = read_shards(store.shard_paths(), columns)
    wanted = pa.array(dict.fromkeys(run.run_id for run in runs), pa.string())
    rows = table.take(rows_of_runs(table, wanted)).to_pylist()
    counters = {row["run_id"]: {name: row[name] for name in COUNTERS} for row in rows if row["error"] is None}
    failures = {row["run_id"]: row["error"] for row in rows if row["error"] is not None}
    return Collected(counters, failures, {row["run_id"]: row.get(PAIRS) or () for row in rows if row["error"] is None})
