"""The workers of a sweep: processes of this machine, or those of a cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from numasim.errors import InputError
from numasim.sweep.pool import LocalWorkers, Workers


@contextmanager
def chosen_workers(jobs: int | None, cluster: str | None, engine: str) -> Iterator[Workers]:
    """Give ``jobs`` processes of this machine (default: one per core), or the workers of the cluster at ``cluster``.

    Raises `InputError` where both are given, or where the cluster cannot be used to simulate with ``engine``.
    """
    if cluster is None:
        yield LocalWorkers(default_jobs() if jobs is None else jobs)
        return
    if jobs is not None:
        raise InputError("jobs and cluster are both given", expected="one of them: a cluster counts its own workers")
    from numasim.sweep.cluster.dask_cluster import cluster_workers

    with cluster_workers(cluster, engine) as workers:
        yield workers


def default_jobs() -> int:
    """One process per core that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
