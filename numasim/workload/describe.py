"""A workload in a few lines of text: its size, critical path and memory, and quantities that its generator states.

A range is many similar tasks, its items. A region is a contiguous piece of the program's memory.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from numasim.parts.unit_factors import MILLION
from numasim.workload.amounts import Amounts
from numasim.workload.graph import I64, Accesses, Mode, RangeFamily, Workload
from numasim.workload.one_worker import by_task, segment_sums, serial_ps
from numasim.workload.span import depth, span_ps, span_tasks

NO_LATENCY_PS = 0
MOST_SHOWN = 40  # regions; a workload with more regions has one line for all regions


def describe(workload: Workload) -> str:
    """Return a text about the whole workload; its times, in ps, are compute times without memory accesses."""
    return "\n".join(_lines(workload)) + "\n"


def _lines(workload: Workload) -> Iterator[str]:
    parameters = " ".join(f"{key}={value}" for key, value in workload.parameters.items() if value is not None)
    work, span = serial_ps(workload, NO_LATENCY_PS), span_ps(workload, NO_LATENCY_PS)
    yield f"{workload.name} {parameters}".rstrip()
    yield f"  tasks            {workload.tasks:,}"
    yield f"  depth            {depth(workload):,}"
    yield f"  critical path    {span_tasks(workload):,} tasks, {span:,} ps"
    yield f"  compute          {work:,} ps" + (f", parallelism {work / span:.1f}" if span else "")
    yield f"  phases           {sum(workload.runs):,}"
    yield f"  kernels          {', '.join(filter(None, workload.kernels))}"
    if workload.folded:
        yield f"  classes          {workload.rows:,} of equal subtrees"
    yield f"  digest           {workload.digest()}"
    yield from _regions(workload)
    for family in workload.ranges:
        yield from _ragged(family)
    if workload.recorded:
        yield f"  recorded         {workload.recorded.place}"
        yield from (f"  {sentence}" for sentence in workload.recorded.guesses(workload.name))
    for name, value in workload.facts.items():
        if (name, value) != ("tasks", workload.tasks):
            yield f"  {name:<16} {value:,}"


def _regions(workload: Workload) -> Iterator[str]:
    if len(workload.regions) > MOST_SHOWN:
        size, used = sum(region.bytes for region in workload.regions), _graph_bytes(workload)
        yield f"  regions          {len(workload.regions):,} of together {size:,} bytes, {used:,} bytes accessed"
        return
    for number, region in enumerate(workload.regions):
        used = _graph_bytes(workload, number) + sum(
            family.count * int(_footprint(family.accesses, number).sum()) for family in workload.ranges
        )
        state = "initialised" if region.initialised else "fresh"
        yield f"  region {region.name:<9} {region.bytes:,} bytes, {state}, {used:,} bytes accessed"


def _ragged(family: RangeFamily) -> Iterator[str]:
    """Yield lines on the `Amounts` of a range: compute times, and bytes that items access, touch first or give back."""
    if family.compute is not None:
        least, most, mean = family.low_ps, family.high_ps, family.compute.mean
        yield f"  range            {family.count:,} items of {least:,} to {most:,} ps, {mean:,} on average"
    for access in family.node_accesses:
        mode, nodes = Mode(access.mode).name.lower().replace("_", "-"), ", ".join(map(str, access.nodes))
        back = f", {access.returned_ppm / MILLION:.4g} of their memory given back" if access.returned_ppm else ""
        yield f"    on nodes {nodes:<6}{mode}, {_sizes(access.amounts, family.count)}{back}"
    for what, pages in (("touched first", family.fresh), ("given back", family.freed)):
        if pages is not None:
            yield f"    {what:<14} {_sizes(pages, family.count)}"


def _sizes(amounts: Amounts, count: int) -> str:
    in_all = f", {amounts.most_of(count):,} in all" if not amounts.drawn else ""
    return f"{amounts.least:,} to {amounts.most:,} bytes an item, {amounts.mean:,} on average{in_all}"


def _footprint(accesses: Accesses, region: int | None = None) -> I64:
    """Return [accesses] the bytes of each access, times its passes; 0 for accesses outside a given ``region``."""
    size = accesses.row_bytes * accesses.rows * accesses.passes
    return size if region is None else np.where(accesses.region == region, size, 0)


def _graph_bytes(workload: Workload, region: int | None = None) -> int:
    """Return the bytes that all tasks access, each tree counted once, in ``region`` or in all regions."""
    by_segment = segment_sums(_footprint(workload.accesses, region), workload.segment_accesses)
    inside = workload.below(by_task(workload, by_segment))
    return sum(int(inside[root]) for root in workload.trees)
