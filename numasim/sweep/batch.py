"""A batch: about a second's worth of runs, simulated by one process and stored as one shard.

Each run depends on its own specification and seed alone, so the division into batches changes no result. The process of
a batch needs no results directory: it returns the bytes of the shard to the sweep, which writes them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numasim.engine.result import Result
from numasim.errors import NumasimError
from numasim.sweep.planned_runs import PlannedRun
from numasim.sweep.store.parquet import EndedRun, failed, finished, rows_of, shard_bytes

TARGET_S = 1.0
LONGEST_S = 2 * TARGET_S  # after this time a batch starts no further run
LEAST_S = TARGET_S / 20  # a shorter batch is not worth its shard, which costs some milliseconds to write and to read
GROWTH = 32  # largest ratio of a batch's size to the largest size so far
MINIMUM_S = 1e-6  # least estimate of a run's duration
Runner = Callable[[Any, int, str, bool], Result]  # (spec, seed, engine, check)


@dataclass(frozen=True)
class Task:
    """The properties common to all batches of a sweep."""

    runner: Runner
    engine: str
    check: bool
    fail_fast: bool


@dataclass(frozen=True)
class Batch:
    """Some runs to simulate one after the other."""

    runs: tuple[PlannedRun, ...]


@dataclass(frozen=True)
class BatchOutcome:
    """The outcome of a batch: its first ``done`` runs have ended, there was no time for the others.

    ``shard`` has the runs' rows as Parquet; ``failures`` the message of each that failed, by run_id; ``interruption``
    is the exception that ended the batch and must end the sweep after the shard is written.
    """

    done: int
    elapsed_s: float
    failures: dict[str, str]
    shard: bytes
    interruption: BaseException | None = None


def execute(batch: Batch, task: Task) -> BatchOutcome:
    """Simulate the runs of ``batch`` while there is time; finished runs are kept even after an interrupt."""
    start = time.perf_counter()
    ended: list[EndedRun] = []
    failures: dict[str, str] = {}
    interruption = None
    try:
        for run in batch.runs:
            ended.append(_attempt(run, task, failures))
            if (failures and task.fail_fast) or time.perf_counter() - start > LONGEST_S:
                break
    except BaseException as error:  # an interrupt: it is raised again after the shard has been written
        interruption = error
    elapsed_s = time.perf_counter() - start
    return BatchOutcome(len(ended), elapsed_s, failures, shard_bytes(rows_of(ended)), interruption)


def _attempt(run: PlannedRun, task: Task, failures: dict[str, str]) -> EndedRun:
    # A run may fail in any way, even by a defect of numasim, and must not stop the others.
    try:
        result = task.runner(run.spec, run.seed, task.engine, task.check)
        return finished(run.run_id, task.engine, result, run.spec.workers)
    except Exception as error:
        failures[run.run_id] = _message(error)
        return failed(run.run_id, task.engine, failures[run.run_id])


def _message(error: Exception) -> str:
    return str(error) if isinstance(error, NumasimError) else f"{type(error).__name__}: {error}"


class BatchSize:
    """The size of the next batch: a second's worth by the speed of the last batches, with limited growth; at the end of
    a sweep less, down to `LEAST_S`, so that all processes end together.
    """

    def __init__(self) -> None:
        self._largest = 0
        self._elapsed_s = 0.0
        self._runs = 0.0

    def learn(self, outcome: BatchOutcome) -> None:
        """Update the estimate with a finished batch: the mean of all runs so far, of which each batch halves the weight
        of those before it. So a process' first run, which prepares what all share, soon counts for little.
        """
        self._elapsed_s = self._elapsed_s / 2 + outcome.elapsed_s
        self._runs = self._runs / 2 + max(1, outcome.done)
        self._largest = max(self._largest, outcome.done)

    def next(self, left: int, slots: int) -> int:
        """Size the next batch of ``left`` runs; the last runs are divided among ``slots`` processes."""
        share = -(-left // max(1, slots))
        by_time, least = self._runs_of(TARGET_S), self._runs_of(LEAST_S)
        return max(1, min(by_time, GROWTH * max(1, self._largest), left, max(share, least)))

    def _runs_of(self, duration_s: float) -> int:
        return int(duration_s / max(MINIMUM_S, self._elapsed_s / self._runs)) if self._runs else 1
