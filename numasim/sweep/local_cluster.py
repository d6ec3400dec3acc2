"""A Dask cluster on this machine for one sweep: a scheduler in this process, workers in processes of their own.

Workers are started by Dask's command, as on any cluster. Therefore workers never import the caller's main module, an
interrupt from the terminal does not reach them, and they end when their scheduler is gone.

A scheduler executes the code that it is sent, and a port of this machine is open to all its users. Therefore scheduler
and workers speak only TLS, with a key and a certificate that are made for the sweep and that only the user can read.
Connections without the certificate are refused. Dask's pages on HTTP are left out.
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
from typing import TYPE_CHECKING

from numasim.errors import InputError
from numasim.files.writer import write_bytes
from numasim.sweep.pool import same_imports

if TYPE_CHECKING:
    from distributed import Security

HOST = "127.0.0.1"
LONELY_S = 10  # time that a worker waits for a scheduler
SETTINGS: Mapping[str, str | bool | list[str]] = {  # without monitoring, which Dask does up to a hundred times a second
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.nanny.http.routes": [],
}


@contextmanager
def local_cluster(count: int) -> Iterator[tuple[str, Security, Callable[[], bool]]]:
    """Yield the address of a scheduler with ``count`` workers of one thread each, which may still be starting.

    With the address comes the certificate to speak with the scheduler, and a function that returns whether the process
    that restarts dead workers is alive. Raises `InputError` if certificates cannot be made.
    """
    import dask
    from distributed import LocalCluster, Security

    try:
        security = Security.temporary()
    except ImportError:
        problem = "a local cluster needs the package cryptography, which is not installed"
        raise InputError(problem, expected="pip install 'numasim[cluster]', or --jobs in place of --cluster") from None
    status_page = {"dashboard_address": f"{HOST}:0"}  # Dask always starts the page; its usual port may be in use
    with dask.config.set(SETTINGS):
        scheduler = LocalCluster(
            n_workers=0, host=HOST, dashboard_address=None, scheduler_kwargs=status_page, security=security
        )
    with scheduler, TemporaryDirectory(prefix="numasim-") as scratch:
        address: str = scheduler.scheduler_address
        workers = _start_workers(address, count, Path(scratch), security)
        try:
            yield address, security, lambda: workers.poll() is None
        finally:
            with suppress(ProcessLookupError):  # the workers have died
                os.killpg(workers.pid, signal.SIGKILL)
            workers.wait()


def _start_workers(address: str, count: int, scratch: Path, security: Security) -> subprocess.Popen[bytes]:
    """Start the workers. The files of the certificate are in ``scratch``, a folder that only the user can open."""
    made = security.get_tls_config_for_role("worker")
    files = {f"tls-{name}": scratch / f"{name}.pem" for name in ("ca-file", "cert", "key")}
    for option, file in files.items():
        write_bytes(file, made[option.removeprefix("tls-").replace("-", "_")].encode())
    options = {
        **{option: str(file) for option, file in files.items()},
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


def variables(settings: Mapping[str, str | bool | list[str]]) -> dict[str, str]:
    """Return the environment variables from which a process of Dask takes ``settings``."""
    names = {name: f"DASK_{name.upper().replace('.', '__').replace('-', '_')}" for name in settings}
    return {names[name]: str(value) for name, value in settings.items()}
