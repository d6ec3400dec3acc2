"""Batches of runs: simulated in one process each, dispatched to the workers of a sweep, and stored as shards.

A batch has as many runs as take about a second together. A run depends only on its specification and seed, so the
division into batches changes no result. The process of a batch needs no results directory: it returns the bytes of a
shard (a file of the results directory with the rows of the batch) to the sweep, and the sweep writes the shard.

If a worker process dies, nobody knows which run of the batch killed the process. The runs of a lost batch are therefore
simulated again one at a time. A run that kills a process again is recorded as failed; other runs are not affected.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numasim.engine.result import Result
from numasim.errors import NumasimError
from numasim.sweep.planned_runs import PlannedRun
from numasim.sweep.pool import LocalWorkers
from numasim.sweep.store.parquet import EndedRun, failed, finished, rows_of, shard_bytes
from numasim.sweep.store.shards import write_shard

if TYPE_CHECKING:
    from numasim.sweep.dask_cluster import ClusterWorkers

TARGET_S = 1.0
LONGEST_S = 2 * TARGET_S  # after this time a process starts no further run of its batch
LEAST_S = TARGET_S / 20  # the least time of a batch, because a shard takes milliseconds to write and to read
GROWTH = 32  # largest ratio of a batch's number of runs to the largest earlier number
MINIMUM_S = 1e-6  # least estimate of a run's duration
DIED = "the process died during this run: it was killed, or ran out of memory"
PATIENCE_S = 5.0  # time between two checks whether any worker is left
Runner = Callable[[Any, int, str, bool], Result]  # (spec, seed, engine, check)


@dataclass(frozen=True)
class Task:
    """The properties common to all batches of a sweep."""

    runner: Runner
    engine: str
    check: bool
    fail_fast: bool


@dataclass(frozen=True)
class BatchOutcome:
    """The outcome of a batch: the first ``done`` runs have ended; for the other runs the time did not suffice.

    ``shard`` has the rows of the runs as Parquet. ``failures`` has the message of each failed run, by run_id.
    ``interruption`` is the exception that ended the batch and must end the sweep after the shard is written.
    """

    done: int
    elapsed_s: float
    failures: dict[str, str]
    shard: bytes
    interruption: BaseException | None = None


def execute(runs: Sequence[PlannedRun], task: Task) -> BatchOutcome:
    """Simulate the runs of a batch while there is time, and return the outcome, also after an interrupt."""
    start = time.perf_counter()
    ended: list[EndedRun] = []
    failures: dict[str, str] = {}
    interruption = None
    try:
        for run in runs:
            ended.append(_attempt(run, task, failures))
            if (failures and task.fail_fast) or time.perf_counter() - start > LONGEST_S:
                break
    except BaseException as error:  # an interrupt, which the sweep raises again after writing the shard
        interruption = error
    elapsed_s = time.perf_counter() - start
    return BatchOutcome(len(ended), elapsed_s, failures, shard_bytes(rows_of(ended)), interruption)


def _attempt(run: PlannedRun, task: Task, failures: dict[str, str]) -> EndedRun:
    # A run may fail in any way, even by a defect of numasim. The other runs of the batch must go on.
    try:
        result = task.runner(run.spec, run.seed, task.engine, task.check)
        return finished(run.run_id, task.engine, result, run.spec.workers)
    except Exception as error:
        message = str(error) if isinstance(error, NumasimError) else f"{type(error).__name__}: {error}"
        failures[run.run_id] = message
        return failed(run.run_id, task.engine, message)


class BatchSize:
    """The number of runs of the next batch: a second's worth at the speed of the last batches, with bounded growth.

    At the end of a sweep batches get smaller, down to `LEAST_S`, so that all processes end together.
    """

    def __init__(self) -> None:
        self._largest = 0
        self._elapsed_s = 0.0
        self._runs = 0.0

    def learn(self, outcome: BatchOutcome) -> None:
        """Update the estimate with a finished batch.

        The estimate is a weighted mean of the durations so far. Each batch halves the weight of all earlier batches.
        The first run of a process is slow, because it prepares data for all runs, but its weight soon becomes small.
        """
        self._elapsed_s = self._elapsed_s / 2 + outcome.elapsed_s
        self._runs = self._runs / 2 + max(1, outcome.done)
        self._largest = max(self._largest, outcome.done)

    def next(self, left: int, slots: int) -> int:
        """Return the size of the next batch; ``left`` runs wait, and ``slots`` processes share the last of these."""
        share = -(-left // max(1, slots))
        by_time, least = self._runs_of(TARGET_S), self._runs_of(LEAST_S)
        return max(1, min(by_time, GROWTH * max(1, self._largest), left, max(share, least)))

    def _runs_of(self, duration_s: float) -> int:
        return int(duration_s / max(MINIMUM_S, self._elapsed_s / self._runs)) if self._runs else 1


class Dispatch:
    """The progress of a sweep: the number of ended runs, and the messages of failed runs.

    The future of a batch raises `BrokenExecutor` if a worker died during the batch. Batches are pickled by name, so
    that workers must be able to import the functions and classes of a batch.
    """

    def __init__(
        self,
        task: Task,
        workers: LocalWorkers | ClusterWorkers,
        shards: Path,
        number: int,
        advance: Callable[[int], None],
    ) -> None:
        """Write shards to the folder ``shards``, from ``number`` on; ``advance`` gets the number of new ended runs."""
        self.executed = 0
        self.failures: dict[str, str] = {}
        self._task = task
        self._workers = workers
        self._shards = shards
        self._number = number
        self._advance = advance
        self._queue: deque[PlannedRun] = deque()
        self._flying: dict[Future[BatchOutcome], tuple[PlannedRun, ...]] = {}  # running batches

    def do(self, runs: Iterable[PlannedRun]) -> None:
        """Simulate ``runs``; with ``fail_fast`` of the task, stop at the first failure."""
        self._queue.extend(runs)
        while self._queue and not self._stopped():
            suspects = self._deal()
            while suspects and not self._stopped():
                self._do_alone(suspects)

    def _deal(self) -> deque[PlannedRun]:
        """Simulate the queued runs until none or no worker is left; return the runs whose worker died."""
        size = BatchSize()
        self._flying = {}
        suspects: deque[PlannedRun] = deque()
        with self._workers.executor(len(self._queue)) as executor:
            while self._launch(executor, size):
                for future in self._landed(self._flying):
                    runs = self._flying.pop(future)
                    try:
                        outcome = future.result()
                    except BrokenExecutor:
                        suspects.extend(runs)
                        continue
                    size.learn(outcome)
                    self._keep(outcome)
                    self._queue.extendleft(reversed(runs[outcome.done :]))
        return suspects

    def _launch(self, executor: Executor, size: BatchSize) -> bool:
        """Submit a batch for every slot and one more, so that no slot is idle; return whether any batch is running."""
        slots = self._workers.slots()
        ahead = slots + 1 if slots > 1 else 1
        while self._queue and len(self._flying) < ahead and not self._stopped():
            runs = tuple(islice(self._queue, size.next(len(self._queue), slots)))
            try:
                self._flying[executor.submit(execute, runs, self._task)] = runs
            except BrokenExecutor:  # the runs stay in the queue, for other workers
                break
            for _ in runs:
                self._queue.popleft()
        return bool(self._flying)

    def _landed(self, flying: Iterable[Future[BatchOutcome]]) -> set[Future[BatchOutcome]]:
        """Wait until a running batch ends, and return the ended batches. Raises InputError if no worker is left."""
        while not (done := wait(flying, PATIENCE_S, FIRST_COMPLETED).done):
            self._workers.require_any()
        return done

    def _do_alone(self, suspects: deque[PlannedRun]) -> None:
        """Simulate ``suspects``, the runs of lost batches, one at a time until a run kills its process."""
        with self._workers.alone() as executor:
            while suspects and not self._stopped():
                run = suspects.popleft()
                (future,) = self._landed([executor.submit(execute, (run,), self._task)])
                try:
                    self._keep(future.result())
                except BrokenExecutor:
                    shard = shard_bytes(rows_of([failed(run.run_id, self._task.engine, DIED)]))
                    self._keep(BatchOutcome(1, 0.0, {run.run_id: DIED}, shard))
                    return

    def _keep(self, outcome: BatchOutcome) -> None:
        if outcome.done:
            write_shard(self._shards, self._number, outcome.shard)
            self._number += 1
        self.executed += outcome.done
        self.failures |= outcome.failures
        self._advance(outcome.done)
        if outcome.interruption:
            raise outcome.interruption

    def _stopped(self) -> bool:
        return self._task.fail_fast and bool(self.failures)
