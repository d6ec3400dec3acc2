"""The duration and traffic of each segment on each node, in runs without caches and contention (model 2.3 to 2.5).

A segment is a part of a task that computes and accesses memory; an access is bytes of a region of memory, its
footprint, walked in one pass or several. A range is many similar tasks, its items, that one rule (a family) describes.
The home of a byte is the node whose memory holds it. A segment computes for the time C and waits for memory for the
time M, its memory time. C and M overlap completely (roofline): the segment takes max(C, M). M sums, over accesses and
homes, ``ceil(lines * latency * 1000 / mlp)``, where ``mlp / 1000`` misses of an access pattern overlap. Every pass goes
to memory; written bytes are also read for ownership, so they move twice.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from numasim.frozen import Frozen
from numasim.machine.topology import Machine, WorkerMap
from numasim.plan.node_bytes import NodeBytes
from numasim.plan.plan import Plan
from numasim.strategy.placement.compile_placement import Placement
from numasim.workload.builder import frozen
from numasim.workload.graph import I64, RangeFamily, Workload
from numasim.workload.one_worker import (
    MLP_BY_PATTERN,
    access_ps,
    item_compute_ps,
    lines_ps,
    segment_sums,
    traffic_factor,
)

BLOCK_BITS = 14  # log2 of the number of range items whose times are computed together
BLOCK_MASK = (1 << BLOCK_BITS) - 1


@lru_cache(maxsize=2)
def settled_bytes(work: Workload, placement: Placement) -> I64:
    """Return [accesses, nodes] the bytes of each access on each home; zeros if homes are not known before the run."""
    accesses = work.accesses
    spans = (accesses.offset, accesses.row_bytes, accesses.rows, accesses.stride)
    return frozen(placement.bytes_by_home(accesses.region, *spans))


def wait_ps(traffic: I64, latency_ps: I64, mlp: I64) -> I64:
    """Return [accesses] the memory time of ``traffic`` [accesses, nodes] at latencies ``latency_ps`` [nodes]."""
    return np.asarray(lines_ps(traffic, latency_ps, mlp[:, None]).sum(axis=1), np.int64)


class AccessTimes:
    """Traffic and memory time of single accesses to bytes with known homes."""

    def __init__(self, plan: Plan) -> None:
        accesses = plan.workload.accesses
        self._factor = traffic_factor(accesses)
        self._mlp = MLP_BY_PATTERN[accesses.pattern]
        self._latency = plan.machine.latency_ps

    def of(self, access: int, node: int, footprint: I64) -> tuple[I64, int]:
        """Return ([nodes] bytes from and to each home, ps of memory time on ``node``) of an access to ``footprint``."""
        traffic = footprint * self._factor[access]
        wait = wait_ps(traffic[None, :], self._latency[node], self._mlp[access : access + 1])
        return traffic, int(wait[0])


class SegmentTimes(Frozen):
    """Times of the graph's segments. An access is open if its pages may be placed or moved during the run, else
    settled. Nodes without workers have empty arrays.
    """

    compute_ps: I64  # [segments]
    total_ps: list[I64]  # [nodes][segments] time of each segment on each node, its open accesses not included
    local_ps: list[I64]  # [nodes][segments] time if all bytes of all accesses were local
    settled_ps: I64  # [nodes, segments] memory times of the settled accesses
    open_accesses: dict[int, list[int]]  # {segment: its open accesses}
    traffic: I64  # [segments, nodes] bytes that the settled accesses move from and to each home


class PlacedProgram(Frozen):
    """The parts of a plan and a run on which the times of segments depend."""

    workload: Workload
    machine: Machine
    workers: WorkerMap
    placement: Placement
    coupled: bool

    @classmethod
    def of(cls, plan: Plan, placement: Placement) -> PlacedProgram:
        """Return the program of ``plan`` in a run whose homes are ``placement``."""
        return cls(plan.workload, plan.machine, plan.workers, placement, plan.coupled)


def segment_times(plan: Plan, placement: Placement) -> SegmentTimes:
    """Return the times of every segment of the graph on every node that has workers; of a coupled run (in which times
    depend on other workers) the compute times alone.
    """
    return times_of(PlacedProgram.of(plan, placement))


@lru_cache(maxsize=2)
def times_of(program: PlacedProgram) -> SegmentTimes:
    """Return the `segment_times` of a placed program."""
    work, machine, placement = program.workload, program.machine, program.placement
    if program.coupled:
        return _bodies(program)
    # [accesses, nodes] the bytes moved from and to each home; zeros for regions that are not placed before the run
    traffic = settled_bytes(work, placement) * traffic_factor(work.accesses)[:, None]
    compute = work.segment_compute_ps
    settled = np.zeros((machine.nodes, work.segments), np.int64)
    total = [np.zeros(0, np.int64)] * machine.nodes
    local = [np.zeros(0, np.int64)] * machine.nodes
    for node in sorted(set(program.workers.node.tolist())):
        if not len(work.accesses):
            total[node] = local[node] = compute
            continue
        settled[node], alone = _waits(program, node, traffic)
        total[node] = np.maximum(compute, settled[node])
        local[node] = np.maximum(compute, alone)
    return SegmentTimes(
        compute_ps=compute,
        total_ps=total,
        local_ps=local,
        settled_ps=settled,
        open_accesses=_open_accesses(work, placement),
        traffic=segment_sums(traffic, work.segment_accesses)
        if len(traffic)
        else np.zeros((work.segments, machine.nodes), np.int64),
    )


def _bodies(program: PlacedProgram) -> SegmentTimes:
    work, nodes = program.workload, program.machine.nodes
    nothing = np.zeros((work.segments, nodes), np.int64)  # zero pages take no memory until written
    times = [work.segment_compute_ps] * nodes
    return SegmentTimes(work.segment_compute_ps, times, times, nothing.T, {}, nothing)


def _waits(program: PlacedProgram, node: int, traffic: I64) -> tuple[I64, I64]:
    """Return ([segments] memory time on ``node`` of settled accesses, [segments] of all accesses if all were local)."""
    accesses, pointer = program.workload.accesses, program.workload.segment_accesses
    latency = program.machine.latency_ps[node]
    wait = wait_ps(traffic, latency, MLP_BY_PATTERN[accesses.pattern])
    return segment_sums(wait, pointer), segment_sums(access_ps(accesses, int(latency[node])), pointer)


def local_waits_ps(plan: Plan) -> I64:
    """Return [nodes, segments] the memory time of every segment if all its bytes were local to the node."""
    accesses, pointer = plan.workload.accesses, plan.workload.segment_accesses
    latencies = plan.machine.latency_ps.diagonal().tolist()
    return np.stack([segment_sums(access_ps(accesses, latency), pointer) for latency in latencies])


def _open_accesses(work: Workload, placement: Placement) -> dict[int, list[int]]:
    waiting = np.flatnonzero(placement.dynamic[work.accesses.region])
    segment = np.searchsorted(work.segment_accesses, waiting, side="right") - 1
    found: dict[int, list[int]] = {}
    for s, j in zip(segment.tolist(), waiting.tolist(), strict=True):
        found.setdefault(s, []).append(j)
    return found


class RangeTimes:
    """Times and traffic of the items of one family in a run, computed block by block when first asked for."""

    def __init__(self, plan: Plan, placement: Placement, family: RangeFamily, seed: int) -> None:
        self.family = family
        self._seed = seed
        self._latency = plan.machine.latency_ps
        self.tables = access_tables(plan, placement, family)
        self._local_wait_ps = local_item_waits_ps(plan, family)
        self._node_bytes = NodeBytes(plan, family, seed)
        self._blocks: list[dict[int, tuple[list[int], list[int]]]] = [{} for _ in range(plan.machine.nodes)]
        self.moves_bytes = family.moves_bytes
        like_pages = all(amounts is None or amounts.fixed for amounts in (family.fresh, family.freed))
        self.uniform = family.alike and like_pages and all(len(table.traffic) == 1 for table in self.tables)

    def item(self, node: int, item: int) -> tuple[int, int]:
        """Return (time, time if all bytes were local) of ``item`` on ``node``, in ps."""
        block = self._blocks[node].get(item >> BLOCK_BITS)
        if block is None:
            block = self._blocks[node][item >> BLOCK_BITS] = self._block(node, item >> BLOCK_BITS)
        at = item & BLOCK_MASK
        return block[0][at], block[1][at]

    def _block(self, node: int, number: int) -> tuple[list[int], list[int]]:
        last = min((number + 1) << BLOCK_BITS, self.family.count)
        total, local = self.items(node, np.arange(number << BLOCK_BITS, last))
        return total.tolist(), local.tolist()

    def items(self, node: int, items: I64) -> tuple[I64, I64]:
        """Return ([items] times, [items] times if all bytes were local) of ``items`` on ``node``, in ps."""
        compute = item_compute_ps(self.family, items, self._seed)
        wait, local_wait = self._node_bytes.waits_ps(items, node)
        for table in self.tables:
            wait += table.wait_ps(node)[table.index(items)]
        return np.maximum(compute, wait), np.maximum(compute, local_wait + self._local_wait_ps[node])

    def traffic(self, items: I64) -> I64:
        """Return [nodes] the bytes that the items move from and to each home."""
        total = self._node_bytes.by_home(items)
        for table in self.tables:
            counts = np.bincount(table.index(items), minlength=len(table.traffic))
            total += counts @ table.traffic
        return total


def access_tables(plan: Plan, placement: Placement, family: RangeFamily) -> list[AccessTable]:
    """Return one table for each access of the family's items."""
    return [AccessTable(plan, placement, family, j) for j in range(len(family.accesses))]


def local_item_waits_ps(plan: Plan, family: RangeFamily) -> list[int]:
    """Return [nodes] the memory time of an item's accesses to regions on each node if all bytes were local."""
    local_ps = plan.machine.latency_ps.diagonal().tolist()
    return [int(access_ps(family.accesses, each).sum()) for each in local_ps]


class ByOffset:
    """A table with a row for each distinct offset of an access of a family's items. The row of item i is i div
    ``divisor``, i mod ``divisor``, i if the offset depends on both, or 0 if it depends on neither.
    """

    divisor: int
    by_quotient: bool
    by_remainder: bool

    def index(self, items: Any) -> Any:
        """Return the row of an item, or of each item of an array."""
        if self.by_quotient and self.by_remainder:
            return items
        if self.by_quotient:
            return items // self.divisor
        return items % self.divisor if self.by_remainder else items * 0


class AccessTable(ByOffset):
    """Access ``j`` of the items of a family; ``traffic`` [rows, nodes] is what an item moves from and to each home."""

    def __init__(self, plan: Plan, placement: Placement, family: RangeFamily, j: int) -> None:
        self._latency = plan.machine.latency_ps
        self._mlp = MLP_BY_PATTERN[family.accesses.pattern[j : j + 1]]
        self.divisor = int(family.divisor[j])
        self.by_quotient = bool(family.step_div[j])
        self.by_remainder = bool(family.step_mod[j])
        self.traffic = self._tabulate(placement, family, j)
        self._wait: dict[int, I64] = {}

    def _tabulate(self, placement: Placement, family: RangeFamily, j: int) -> I64:
        one = family.accesses
        factor = int(traffic_factor(one)[j])
        if placement.is_alike(int(one.region[j])):
            self.by_quotient = self.by_remainder = False
        quotients = -(-family.count // self.divisor) if self.by_quotient else 1
        remainders = min(self.divisor, family.count) if self.by_remainder else 1
        at = np.arange(quotients * remainders)
        offset = one.offset[j] + at // remainders * family.step_div[j] + at % remainders * family.step_mod[j]
        same = [np.full(len(at), values[j]) for values in (one.region, one.row_bytes, one.rows, one.stride)]
        return placement.bytes_by_home(same[0], offset, *same[1:]) * factor

    def wait_ps(self, node: int) -> I64:
        """Return [rows] the memory time in ps of an item on ``node``."""
        if node not in self._wait:
            mlp = np.full(len(self.traffic), self._mlp[0])
            self._wait[node] = wait_ps(self.traffic, self._latency[node], mlp)
        return self._wait[node]
