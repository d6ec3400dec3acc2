"""No limit of a cluster ends while a test waits for it: on a busy machine processes may take minutes to start."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import dask
from waiting import WAIT_S

from numasim.sweep.cluster import dask_cluster, handshake, local_cluster

LIMITS = (
    *((handshake, name) for name in ("CONNECT_S", "ANSWER_S")),
    *((dask_cluster, name) for name in ("CONNECT_S", "FIRST_WORKER_S", "ANY_WORKER_S", "CLOSE_S")),
    (local_cluster, "LONELY_S"),
)


def be_patient(change: Callable[[ModuleType, str, float], None] = setattr) -> None:
    """Raise all limits of numasim and of Dask in this process."""
    dask.config.set({"distributed.comm.timeouts.connect": f"{WAIT_S}s"})
    for module, name in LIMITS:
        change(module, name, WAIT_S)
