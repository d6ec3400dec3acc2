"""The serial time of a workload: one worker, every byte local, no overhead (model 2.5 without contention and caches).

A segment (a part of a task that one RUN op executes) takes the longer of two times: its compute time, and the sum of
the memory times of its accesses (roofline). An access goes over its bytes in one or more passes; each pass moves the
bytes once, or twice if the access writes. ``MLP / 1000`` cache misses overlap. The engines compute the same integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from numasim.draws import DrawClass, base_array, below_array, draw_array
from numasim.workload.amounts import COMPUTE_NUMBER, number_of_access
from numasim.workload.forest_arrays import offsets
from numasim.workload.graph import I64, Accesses, Mode, Op, Pattern, RangeFamily, Workload

LINE_BYTES = 64
MLP = {Pattern.SEQUENTIAL: 10_000, Pattern.STRIDED: 4_000, Pattern.RANDOM: 3_000, Pattern.CHASE: 1_000}
MLP_BY_PATTERN = np.array([MLP[pattern] for pattern in Pattern], np.int64)
_BLOCK_ITEMS = 1 << 20  # items of a range (many similar tasks) whose times are computed at once, to bound memory


def traffic_factor(accesses: Accesses) -> I64:
    """Return [accesses] how often each byte moves in all passes together."""
    return accesses.passes.astype(np.int64) * np.where(accesses.mode == Mode.READ, 1, 2)


def traffic_bytes(accesses: Accesses) -> I64:
    """Return [accesses] the bytes moved to and from memory."""
    return accesses.row_bytes * accesses.rows * traffic_factor(accesses)


def access_ps(accesses: Accesses, latency_ps: int) -> I64:
    """Return [accesses] the time of each access in ps, if every cache miss takes ``latency_ps``."""
    return lines_ps(traffic_bytes(accesses), latency_ps, MLP_BY_PATTERN[accesses.pattern])


def segment_sums(values: I64, pointer: I64) -> I64:
    """Return [segments, ...] the sums of ``values`` [accesses, ...] by segment; ``pointer`` is the CSR pointer."""
    if not len(values):
        return np.zeros((len(pointer) - 1, *values.shape[1:]), np.int64)  # zero pages take no memory until written
    running = np.zeros((len(values) + 1, *values.shape[1:]), np.int64)
    np.cumsum(values, axis=0, out=running[1:])
    return running[pointer[1:]] - running[pointer[:-1]]


def segment_ps(workload: Workload, latency_ps: int) -> I64:
    """Return [segments] the time of every segment in ps, if every cache miss takes ``latency_ps``."""
    waits = segment_sums(access_ps(workload.accesses, latency_ps), workload.segment_accesses)
    return np.maximum(workload.segment_compute_ps, waits)


def by_task(workload: Workload, by_segment: I64) -> I64:
    """Return [rows] the sum of ``by_segment`` [segments] over a task's own segments, without its descendants'."""
    runs = workload.op_code == Op.RUN
    spent = np.zeros(len(runs), np.int64)
    spent[runs] = by_segment[workload.op_arg[runs]]
    return np.diff(offsets(spent)[workload.op_ptr])


def range_ps(family: RangeFamily, latency_ps: int, seed: int) -> int:
    """Return the summed time of all items of a range, in ps."""
    if family.like_bytes:
        wait_ps = int(item_wait_ps(family, np.zeros(1, np.int64), latency_ps, seed)[0])
        if family.low_ps == family.high_ps or wait_ps >= family.high_ps:
            return family.count * max(family.low_ps, wait_ps)
    return sum(int(block.sum()) for block in item_blocks(family, latency_ps, seed))


def item_blocks(family: RangeFamily, latency_ps: int, seed: int) -> Iterator[I64]:
    """Yield arrays of the times of all items in ps; of a range with equal items, the time of one item alone."""
    count = 1 if family.alike else family.count
    for low in range(0, count, _BLOCK_ITEMS):
        items = np.arange(low, min(low + _BLOCK_ITEMS, count))
        compute_ps = item_compute_ps(family, items, seed)
        yield np.maximum(compute_ps, item_wait_ps(family, items, latency_ps, seed))


def item_wait_ps(family: RangeFamily, items: I64, latency_ps: int, seed: int) -> I64:
    """Return [items] the memory time of each item in ps, if every cache miss takes ``latency_ps``."""
    wait = np.full(len(items), access_ps(family.accesses, latency_ps).sum())
    for number, access in enumerate(family.node_accesses):
        moved = access.factor * access.amounts.of(items, seed, number_of_access(number))
        wait += lines_ps(moved, latency_ps, MLP[Pattern(access.pattern)])
    return wait


def lines_ps(moved: I64, latency_ps: int | I64, mlp: int | I64) -> I64:
    """Return the time in ps to move ``moved`` bytes in cache lines, of which ``mlp`` / 1000 come at a time."""
    return np.asarray(-(-(-(-moved // LINE_BYTES) * latency_ps * 1000) // mlp))


def item_compute_ps(family: RangeFamily, items: I64, seed: int) -> I64:
    """Return [items] the compute times in ps: those of ``family.compute``, else uniform random times."""
    if family.compute is not None:
        return family.compute.of(items, seed, COMPUTE_NUMBER)
    numbers = draw_array(base_array(seed, DrawClass.DURATION, items), 0)
    return family.low_ps + below_array(numbers, family.high_ps - family.low_ps + 1).astype(np.int64)


def draws_durations(workload: Workload) -> bool:
    """Return whether times or bytes of items of ranges are random, so that the serial time depends on the seed."""
    return any(family.draws for family in workload.ranges)


@lru_cache(maxsize=2)
def mean_task_ps(workload: Workload, local_latency_ps: int, seed: int = 0) -> int:
    """Return the mean time of a task in ps, at least 1, all bytes local; ``seed`` draws the random times of items."""
    return max(1, serial_ps(workload, local_latency_ps, seed) // max(1, workload.tasks))


def serial_ps(workload: Workload, local_latency_ps: int, seed: int = 0) -> int:
    """Return the time in ps of the workload on one worker, all bytes local; ``seed`` draws random times of items."""
    below_ps = workload.below(by_task(workload, segment_ps(workload, local_latency_ps)))
    total = 0
    for phase, runs in zip(workload.phases, workload.runs, strict=True):
        once = int(below_ps[np.asarray(phase.roots, np.int64)].sum())
        if phase.range_family is not None:
            once += range_ps(workload.ranges[phase.range_family], local_latency_ps, seed)
        total += runs * once
    return total
