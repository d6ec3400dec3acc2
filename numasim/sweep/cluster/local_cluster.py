"""A Dask cluster on this machine for one sweep: a scheduler in this process, workers in processes of their own.

The workers are started by Dask's command, as on any cluster. So they never import the caller's main module, an
interrupt from the terminal does not reach them, and they end when their scheduler is gone.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from numasim.sweep.environment import same_imports

HOST = "127.0.0.1"
LONELY_S = 10  # time that a worker waits for a scheduler
SETTINGS: Mapping[str, str | bool] = {  # what processes of Dask do to be watched, else up to a hundred times a second
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.worker.profile.enabled": False,
}


@contextmanager
def local_cluster(count: int) -> Iterator[tuple[str, Callable[[], bool]]]:
    """Give the address of a scheduler with ``count`` workers of one thread each, which may still be starting, and a
    function that says whether the process that starts them again when they die is alive.
    """
    import dask
    from distributed import LocalCluster

    status_page = {"dashboard_address": f"{HOST}:0"}  # which it always starts; its usual port may be in use
    with dask.config.set(SETTINGS):
        scheduler = LocalCluster(n_workers=0, host=HOST, dashboard_address=None, scheduler_kwargs=status_page)
    with scheduler, TemporaryDirectory(prefix="numasim-") as scratch:
        address: str = scheduler.scheduler_address
        workers = _start_workers(address, count, Path(scratch))
        try:
            yield address, lambda: workers.poll() is None
        finally:
            with suppress(ProcessLookupError):  # they have died
                os.killpg(workers.pid, signal.SIGKILL)
            workers.wait()


def _start_workers(address: str, count: int, scratch: Path) -> subprocess.Popen[bytes]:
    options = {
        "nworkers": str(count),
        "nthreads": "1",
        "memory-limit": "0",
        "death-timeout": str(LONELY_S),
        "local-directory": str(scratch),
    }
    return subprocess.Popen(
        [sys.executable, "-m", "dask", "worker", address, "--no-dashboard"]
        + [f"--{name}={value}" for name, value in options.items()],
        env={**same_imports(), **variables(SETTINGS)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def variables(settings: Mapping[str, str | bool]) -> dict[str, str]:
    """The environment from which a process of Dask takes ``settings``."""
    names = {name: f"DASK_{name.upper().replace('.', '__').replace('-', '_')}" for name in settings}
    return {names[name]: str(value) for name, value in settings.items()}
