"""Runs of many specifications in one directory: each run is simulated once, by the first call that needs the run.

The directory is a results directory without tables. It belongs to no single specification, so that any later call may
add runs. A call returns the runs that it requested, including runs of earlier calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from numasim.spec.identity import MODEL_VERSION
from numasim.sweep.batch import Runner, Task
from numasim.sweep.planned_runs import PlannedRun
from numasim.sweep.run_sweep import chosen_workers, do_missing
from numasim.sweep.store.parquet import COUNTERS, RUN, read_shards
from numasim.sweep.store.results_store import Identity, open_store
from numasim.sweep.store.results_tables import PAIRS, rows_of_runs

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
    """Simulate those of ``runs`` that ``directory`` lacks, and return all ``runs``, with node pairs if asked for.

    A run that failed is tried again by the next call. An interrupt or a kill leaves a directory from which the next
    call continues. Raises `InputError` if ``directory`` cannot be written or has other contents.
    """
    with chosen_workers(jobs, None, engine) as workers, open_store(Path(directory), MANY) as store:
        do_missing(runs, store, Task(runner, engine, check=False, fail_fast=False), workers, progress)
        columns = [*(name for name in RUN.names if name != "engine_s"), *([PAIRS] if pairs else [])]
        table = read_shards(store.shard_paths(), columns)
    wanted = {run.run_id for run in runs}
    chosen = {run_id: row for run_id, row in rows_of_runs(table).items() if run_id in wanted}
    rows = table.take(pa.array(chosen.values(), pa.int64())).to_pylist()
    counters = {row["run_id"]: {name: row[name] for name in COUNTERS} for row in rows if row["error"] is None}
    failures = {row["run_id"]: row["error"] for row in rows if row["error"] is not None}
    return Collected(counters, failures, {row["run_id"]: row.get(PAIRS) or () for row in rows if row["error"] is None})
