"""Deals the runs of a sweep out to processes, in batches, and survives the death of a process.

A dead worker takes down its pool, and nobody says which of the runs in flight killed it. These are then run again one
at a time: the one that kills its process once more is recorded as failed, the others are none the worse.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from itertools import islice

from numasim.sweep.batch import Batch, BatchOutcome, BatchSize, Task, execute
from numasim.sweep.parquet import failed_row
from numasim.sweep.plan import Run
from numasim.sweep.pool import in_process, processes
from numasim.sweep.shard import write_shard

DIED = "the process died during this run: it was killed, or ran out of memory"


class Dispatch:
    """The progress of a sweep: how many runs have ended, and with what message those that failed."""

    def __init__(self, task: Task, number: int, advance: Callable[[int], None]) -> None:
        """Shards are numbered from ``number`` on; ``advance`` is told how many more runs have ended."""
        self.executed = 0
        self.failures: dict[str, str] = {}
        self._task = task
        self._number = number
        self._advance = advance

    def do(self, runs: Iterable[Run], jobs: int) -> None:
        """Do ``runs`` in ``jobs`` processes, this one where it is one; stop at a failure where the task says so."""
        queue = deque(runs)
        while queue and not self._stopped():
            workers = in_process() if jobs == 1 else processes(jobs)
            # One batch more than processes, so that none waits for the next.
            suspects = self._deal(queue, workers, BatchSize(jobs), jobs + 1)
            self._do_alone(suspects)

    def _do_alone(self, suspects: deque[Run]) -> None:
        while suspects and not self._stopped():
            # Shared out among as many processes as there are runs, every batch is a single run.
            for run in self._deal(suspects, processes(1), BatchSize(len(suspects)), 1):
                self._give_up(run)

    def _deal(
        self, queue: deque[Run], workers: AbstractContextManager[Executor], size: BatchSize, ahead: int
    ) -> deque[Run]:
        """Empty ``queue`` with at most ``ahead`` batches in flight; returns those runs that were lost with a worker."""
        flying: dict[Future[BatchOutcome], Batch] = {}
        try:
            with workers as executor:
                while (queue or flying) and not self._stopped():
                    while queue and len(flying) < ahead:
                        self._launch(queue, executor, size, flying)
                    for future in wait(flying, return_when=FIRST_COMPLETED).done:
                        size.learn(self._account(future.result()))
                        del flying[future]
        except BrokenProcessPool:
            return deque(run for batch in flying.values() for run in batch.runs)
        return deque()

    def _launch(
        self, queue: deque[Run], executor: Executor, size: BatchSize, flying: dict[Future[BatchOutcome], Batch]
    ) -> None:
        batch = Batch(self._number, tuple(islice(queue, size.next(len(queue)))))
        # A broken pool refuses here; the runs leave the queue only once they are accepted.
        flying[executor.submit(execute, batch, self._task)] = batch
        self._number += 1
        for _ in batch.runs:
            queue.popleft()

    def _account(self, outcome: BatchOutcome) -> BatchOutcome:
        self._ended(outcome.done, outcome.failures)
        return outcome

    def _give_up(self, run: Run) -> None:
        write_shard(self._task.shards, self._number, failed_row(run.run_id, self._task.engine, DIED))
        self._number += 1
        self._ended(1, {run.run_id: DIED})

    def _ended(self, count: int, failures: dict[str, str]) -> None:
        self.executed += count
        self.failures |= failures
        self._advance(count)

    def _stopped(self) -> bool:
        return self._task.fail_fast and bool(self.failures)
