"""A Dask scheduler and workers on loopback, in processes of their own, for tests that kill some of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from toy_sweep import WAIT_S, wait_until

from numasim.sweep.dask_cluster import SETTINGS, variables

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


class DaskCluster:
    """A cluster with its files in ``scratch``. Each process leads a session, so that its children can be killed."""

    def __init__(self, scratch: Path, allowed_failures: int) -> None:
        self.scratch = scratch
        self.allowed_failures = allowed_failures
        self.processes: list[subprocess.Popen[bytes]] = []
        self.file = scratch / "scheduler.json"
        self.scheduler = self._start(
            "scheduler", "--host=127.0.0.1", "--port=0", "--dashboard-address=:0", f"--scheduler-file={self.file}"
        )
        wait_until(self._is_up)
        self.address = self._read_address()

    def _is_up(self) -> bool:
        assert self.scheduler.poll() is None, "the scheduler has ended"
        try:
            return bool(self._read_address())
        except (OSError, ValueError):
            return False

    def _read_address(self) -> str:
        return str(json.loads(self.file.read_text())["address"])

    def add_workers(self, count: int, paths: Sequence[Path] = (HERE, ROOT)) -> None:
        """Start worker processes of one thread each; dead workers are not restarted."""
        for _ in range(count):
            self._start("worker", self.address, "--no-nanny", "--nthreads=1", paths=paths)

    def _start(self, kind: str, *options: str, paths: Sequence[Path] = (HERE, ROOT)) -> subprocess.Popen[bytes]:
        here = ["--no-dashboard"] + ([f"--local-directory={self.scratch}"] if kind == "worker" else [])
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", kind, *here, *options],
            env={
                **os.environ,
                **variables(SETTINGS),
                "PYTHONPATH": os.pathsep.join(map(str, paths)),
                "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(self.allowed_failures),
                "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": f"{WAIT_S}s",
            },
            cwd=self.scratch,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    def close(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(WAIT_S)


@contextmanager
def dask_cluster(scratch: Path, workers: int, allowed_failures: int = 3) -> Iterator[DaskCluster]:
    cluster = DaskCluster(scratch, allowed_failures)
    cluster.add_workers(workers)
    try:
        yield cluster
    finally:
        cluster.close()
