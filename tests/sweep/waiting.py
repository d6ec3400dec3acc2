"""Waiting for other processes as long as they need: on a busy machine processes may take minutes to start."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from types import ModuleType

WAIT_S = 600  # time after which a test gives up, so that it does not hang


def wait_until(condition: Callable[[], object], process: subprocess.Popen[str] | None = None) -> None:
    """Wait until ``condition`` holds; fail if ``process`` ends before."""
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        assert process is None or process.poll() is None, process.stderr and process.stderr.read()
        time.sleep(0.01)


def be_patient(change: Callable[[ModuleType, str, float], None] = setattr) -> None:
    """Raise all time limits of numasim and of Dask in this process, so that no limit ends while a test waits."""
    import dask

    from numasim.sweep import dask_cluster, handshake

    dask.config.set({"distributed.comm.timeouts.connect": f"{WAIT_S}s"})
    limits = {
        handshake: ("CONNECT_S", "ANSWER_S"),
        dask_cluster: ("CONNECT_S", "FIRST_WORKER_S", "ANY_WORKER_S", "CLOSE_S", "LONELY_S"),
    }
    for module, names in limits.items():
        for name in names:
            change(module, name, WAIT_S)
