"""What a run counts per machine, node and node pair, beside the counters of its workers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from numasim.plan.plan import Plan
from numasim.plan.segment_times import RangeTimes, SegmentTimes


class Executed(NamedTuple):
    """One stretch of work, for the checks: from ``start_ps`` to ``end_ps``, overhead not included."""

    task: int
    segment: int
    worker: int
    start_ps: int
    end_ps: int


class Held(NamedTuple):
    """A lock, or another shared word, was an actor's from ``start_ps`` to ``end_ps``."""

    word: int
    actor: int
    start_ps: int
    end_ps: int


class Ledger:
    """Counts of one run. ``ran[node]`` and ``ran_items`` gather segments and items until `fold` makes bytes of them."""

    def __init__(self, plan: Plan, times: SegmentTimes, ranges: list[RangeTimes], keep_log: bool) -> None:
        nodes = plan.machine.nodes
        self._times = times
        self._ranges = ranges
        self.node_attempts = [[0] * nodes for _ in range(nodes)]
        self.node_success = [[0] * nodes for _ in range(nodes)]
        self.node_bytes: npt.NDArray[np.int64] = np.zeros((nodes, nodes), np.int64)
        self.ran: list[list[int]] = [[] for _ in range(nodes)]
        self.ran_items: list[list[list[int]]] = [[[] for _ in range(nodes)] for _ in ranges]
        self.passed_items = [0] * len(ranges)  # items that were counted in closed form
        self.page_faults = 0
        self.pages_migrated = 0
        self.span_ps = 0
        self.log: list[Executed] | None = [] if keep_log else None
        self.held: list[Held] | None = [] if keep_log else None

    def pass_items(self, family: int, node: int, count: int) -> None:
        """Count the bytes of ``count`` items of a uniform family on ``node``."""
        self.node_bytes[node] += self._ranges[family].traffic(np.zeros(1, np.int64)) * count

    def add_items(self, family: int, node: int, items: npt.NDArray[np.int64]) -> None:
        """Count the bytes of ``items`` of a family, executed on ``node``."""
        self.node_bytes[node] += self._ranges[family].traffic(items)

    def fold(self) -> None:
        """Turn what ran since the last call into bytes per node pair."""
        for node, segments in enumerate(self.ran):
            if segments:
                self.node_bytes[node] += self._times.traffic[segments].sum(axis=0)
                segments.clear()
        for times, nodes in zip(self._ranges, self.ran_items, strict=True):
            for node, items in enumerate(nodes):
                if items:
                    self.node_bytes[node] += times.traffic(np.array(items))
                    items.clear()
