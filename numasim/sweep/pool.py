"""The local workers of a sweep: this process, or other processes of this machine.

Worker processes start afresh (spawn) and never import the caller's main module. Therefore worker processes start
quickly, and a script without a main guard does not run itself again. Worker processes end when the parent ends. An
interrupt from the terminal reaches only the parent.
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
from typing import Any, ParamSpec, TypeVar

from numasim.errors import InputError

P = ParamSpec("P")
T = TypeVar("T")


def default_jobs() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def same_imports() -> dict[str, str]:
    """Return an environment in which a child process imports the same modules as this process, in any folder.

    Without this environment, ``python -m`` prefers the sources of a checkout in the working directory to the installed
    package.
    """
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONSAFEPATH": "1"}


@dataclass(frozen=True)
class LocalWorkers:
    """Processes of this machine. A single job runs in this process."""

    jobs: int

    def __post_init__(self) -> None:
        """Raise InputError for an invalid number of processes."""
        if self.jobs < 1:
            raise InputError(f"jobs is {self.jobs}", expected="at least one process")

    def slots(self) -> int:
        """Return the number of processes."""
        return self.jobs

    def executor(self, runs: int) -> AbstractContextManager[Executor]:
        """Return an executor with a process for each job, or for each run if there are fewer runs than jobs."""
        return InProcess() if self.jobs == 1 else processes(min(self.jobs, runs))

    def alone(self) -> AbstractContextManager[Executor]:
        """Return an executor of one process other than this process, for runs that may kill their process."""
        return processes(1)

    def require_any(self) -> None:
        """Do nothing: the futures of a pool raise an error if a process dies."""


class InProcess(Executor):
    """Runs each submitted call at once, in the calling thread."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run ``fn`` and return a finished future. An interrupt is raised here."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def processes(count: int) -> Iterator[Executor]:
    """Yield an executor of ``count`` processes. On an error or an interrupt the processes are killed."""
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
        """Start the child with an empty main module instead of the parent's main module, and with interrupts blocked.

        An interrupt could otherwise meet the child in the middle of an import.
        """
        resource_tracker.ensure_running()  # before the mask, because the start of the tracker would unblock interrupts
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # of this thread; the child inherits it
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
        """Return a new process, and keep it in ``children``."""
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
