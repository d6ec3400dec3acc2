"""The totals of a program that has been read or grown, as exact sums over its arrays."""

from __future__ import annotations

import numpy as np

from numasim.workload.graph import I64, Accesses, NodeAccess, Pattern, Phase, RangeFamily, Workload
from numasim.workload.one_worker import LINE_BYTES, by_task, segment_sums, traffic_bytes
from numasim.workload.size.totals import Totals, together

HALF_BITS = 31  # the sum of 31-bit halves of times fits in 63 bits for all tasks that fit in memory


def totals_of(work: Workload) -> Totals:
    """Return the totals of ``work``, which is not folded; phases count as often as they run."""
    waits = [segment_sums(lines, work.segment_accesses) for lines in _lines_by_pattern(work.accesses)]
    compute = work.segment_compute_ps
    low, high = (work.below(by_task(work, part)) for part in (compute & ((1 << HALF_BITS) - 1), compute >> HALF_BITS))
    lines = [work.below(by_task(work, part)) for part in waits]
    accesses = work.below(by_task(work, np.diff(work.segment_accesses)))

    def graph_of(phase: Phase) -> Totals:
        roots = np.asarray(phase.roots, np.int64)
        return Totals(
            compute_ps=(int(high[roots].sum()) << HALF_BITS) + int(low[roots].sum()),
            lines=tuple(int(part[roots].sum()) for part in lines),
            accesses=int(accesses[roots].sum()),
        )

    def items_of(phase: Phase) -> Totals:
        return Totals() if phase.range_family is None else range_totals(work.ranges[phase.range_family])

    phases = (
        (graph_of(phase) + items_of(phase)).times(runs) for phase, runs in zip(work.phases, work.runs, strict=True)
    )
    sizes = Totals(
        rows=work.rows,
        ops=len(work.op_code),
        segments=work.segments,
        region_bytes=max((region.bytes for region in work.regions), default=0),
        segment_ps=int(compute.max(initial=0)),
        access_lines=_most_lines(work.accesses),
    )
    return together(phases) + sizes


def range_totals(family: RangeFamily) -> Totals:
    """Return the totals of the items of a range; drawn times and bytes count as the highest."""
    given = family.compute
    return Totals(
        items=family.count,
        compute_ps=family.count * family.high_ps if given is None else given.most_of(family.count),
        segment_ps=family.high_ps,
        lines=tuple(family.count * int(lines.sum()) for lines in _lines_by_pattern(family.accesses)),
        accesses=family.count * len(family.accesses),
        access_lines=_most_lines(family.accesses),
    ) + together(_on_nodes(family.count, access) for access in family.node_accesses)


def _on_nodes(items: int, access: NodeAccess) -> Totals:
    """Return the totals of a node access of ``items`` items; each item may fill one line of every node only partly."""
    amounts, factor = access.amounts, access.factor
    lines = factor * amounts.most_of(items) // LINE_BYTES + items * len(access.nodes)
    return Totals(
        lines=tuple(lines if pattern == access.pattern else 0 for pattern in Pattern),
        accesses=items,
        access_bytes=amounts.most,
        access_lines=-(-factor * amounts.most // LINE_BYTES),
    )


def _lines(accesses: Accesses) -> I64:
    return -(-traffic_bytes(accesses) // LINE_BYTES)


def _most_lines(accesses: Accesses) -> int:
    return int(_lines(accesses).max(initial=0))


def _lines_by_pattern(accesses: Accesses) -> list[I64]:
    return [np.where(accesses.pattern == pattern, _lines(accesses), 0) for pattern in Pattern]
