"""The executors of a sweep's batches: this process, or worker processes that end when their parent does.

Processes start afresh (spawn) and never import the caller's main module: they start quickly, and a script without a
main guard does not run itself again. An interrupt from the terminal is the parent's business alone.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from multiprocessing import connection, parent_process, process, resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess
from types import ModuleType
from typing import Any, ParamSpec, Protocol, TypeVar

from numasim.errors import InputError

P = ParamSpec("P")
T = TypeVar("T")


class Workers(Protocol):
    """The workers of a sweep. An executor's futures raise `BrokenExecutor` for a batch that was lost with its worker.

    A batch is pickled by name: its functions and classes must be importable by the worker.
    """

    def slots(self) -> int:
        """The number of batches that can run at once at present."""

    def executor(self, runs: int) -> AbstractContextManager[Executor]:
        """Give an executor for no more than ``runs`` runs; on an error the running batches are abandoned."""

    def alone(self) -> AbstractContextManager[Executor]:
        """Give an executor that does one run at a time, so that the run that kills a worker is known."""

    def require_any(self) -> None:
        """Raise `InputError` if no worker is left and none can join."""


@dataclass(frozen=True)
class LocalWorkers:
    """Processes of this machine; one job is this very process."""

    jobs: int

    def __post_init__(self) -> None:
        """Refuse an invalid number of processes."""
        if self.jobs < 1:
            raise InputError(f"jobs is {self.jobs}", expected="at least one process")

    def slots(self) -> int:
        """One batch a process."""
        return self.jobs

    def executor(self, runs: int) -> AbstractContextManager[Executor]:
        """Give an executor of as many processes as there are jobs, or runs where these are fewer."""
        return in_process() if self.jobs == 1 else processes(min(self.jobs, runs))

    def alone(self) -> AbstractContextManager[Executor]:
        """Give an executor of one process that is not this one."""
        return processes(1)

    def require_any(self) -> None:
        """Nothing to do: a pool whose process died raises an error itself."""


class InProcess(Executor):
    """Runs a submitted call immediately, in the calling thread."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run ``fn`` and return a finished future; an interrupt is raised here."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def in_process() -> Iterator[Executor]:
    """Give an executor of this very process, for which no process has to be started."""
    yield InProcess()


@contextmanager
def processes(count: int) -> Iterator[Executor]:
    """Give an executor of ``count`` processes; on an error or an interrupt they are killed, not waited for."""
    context = _MainlessContext()
    executor = ProcessPoolExecutor(count, mp_context=context, initializer=_begin_worker)
    try:
        yield executor
    except BaseException:
        for child in context.children:
            child.kill()
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


class _MainlessProcess(SpawnProcess):
    def start(self) -> None:
        """Start with an empty module in place of the main one, so that the child does not import the caller's, and
        without interrupts, which would otherwise meet the child in the middle of its imports.
        """
        resource_tracker.ensure_running()  # here, because starting it would let interrupts through
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # of this thread, which the child inherits
        try:
            super().start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            sys.modules["__main__"] = main


class _MainlessContext(SpawnContext):
    def __init__(self) -> None:
        super().__init__()
        self.children: list[process.BaseProcess] = []

    def Process(self, *args: Any, **kwargs: Any) -> SpawnProcess:  # type: ignore[override]  # noqa: N802
        """Create a process and keep it, so that it can be killed."""
        child = _MainlessProcess(*args, **kwargs)
        self.children.append(child)
        return child


def _begin_worker() -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)
