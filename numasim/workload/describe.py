"""A workload in a few lines of text: its size, its critical path, its memory, and what its generator knows about it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from numasim.workload.graph import Workload
from numasim.workload.serial import serial_ps
from numasim.workload.span import depth, span_ps, span_tasks

NO_LATENCY_PS = 0


def describe(workload: Workload) -> str:
    """Tasks, depth, critical path, compute time, bytes by region, facts; times are of computing alone."""
    return "\n".join(_lines(workload)) + "\n"


def _lines(workload: Workload) -> Iterator[str]:
    parameters = " ".join(f"{key}={value}" for key, value in workload.parameters.items() if value is not None)
    work, span = serial_ps(workload, NO_LATENCY_PS), span_ps(workload, NO_LATENCY_PS)
    yield f"{workload.name} {parameters}".rstrip()
    yield f"  tasks            {workload.tasks:,}"
    yield f"  depth            {depth(workload):,}"
    yield f"  critical path    {span_tasks(workload):,} tasks, {span:,} ps"
    yield f"  compute          {work:,} ps" + (f", parallelism {work / span:.1f}" if span else "")
    yield f"  phases           {sum(phase.repeat for phase in workload.phases):,}"
    yield f"  kernels          {', '.join(workload.kernels)}"
    yield f"  digest           {workload.digest()}"
    yield from _regions(workload)
    for name, value in workload.facts.items():
        yield f"  {name:<16} {value:,}"


def _regions(workload: Workload) -> Iterator[str]:
    footprint = workload.accesses.row_bytes * workload.accesses.rows * workload.accesses.passes
    for number, region in enumerate(workload.regions):
        used = int(footprint[workload.accesses.region == number].sum())
        used += sum(
            family.count * int((family.accesses.row_bytes * family.accesses.rows * family.accesses.passes)[at].sum())
            for family in workload.ranges
            for at in [np.flatnonzero(family.accesses.region == number)]
        )
        state = "initialised" if region.initialised else "fresh"
        yield f"  region {region.name:<9} {region.bytes:,} bytes, {state}, {used:,} bytes accessed"
