"""First touch: a page that nothing has touched gets the node of the worker whose segment touches it first (model 2.2).

Homes are kept per granule of 16 pages, which coarsens the decision for large regions. Reads count as touches: fresh
memory is placed by whatever fault comes first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from numasim.engine.plan import Plan
from numasim.engine.timing import MLP_BY_PATTERN, traffic_factor
from numasim.workload.serial import LINE_BYTES

I64 = npt.NDArray[np.int64]

GRANULE_PAGES = 16
UNPLACED = -1


class Touch(NamedTuple):
    """What one access finds and does."""

    traffic: I64  # [nodes] bytes moved from and to each home
    wait_ps: int
    pages_placed: int


class FirstTouch:
    """The homes of the regions that are placed while the program runs."""

    def __init__(self, plan: Plan) -> None:
        accesses = plan.workload.accesses
        self._granule_bytes = GRANULE_PAGES * plan.machine.page_bytes
        self._pages = [-(-region.bytes // plan.machine.page_bytes) for region in plan.workload.regions]
        self._homes = {
            int(r): np.full(-(-self._pages[r] // GRANULE_PAGES), UNPLACED, np.int16)
            for r in np.flatnonzero(plan.placement.dynamic)
        }
        self._region = accesses.region.tolist()
        self._shape = list(
            zip(
                accesses.offset.tolist(),
                accesses.row_bytes.tolist(),
                accesses.rows.tolist(),
                accesses.stride.tolist(),
                strict=True,
            )
        )
        self._factor = traffic_factor(accesses).tolist()
        self._mlp = MLP_BY_PATTERN[accesses.pattern].tolist()
        self._latency = plan.machine.latency_ps

    def touch(self, access: int, node: int) -> Touch:
        """Walk the access from ``node``; what it finds unplaced is placed there."""
        region = self._region[access]
        homes = self._homes[region]
        granules, pieces = split(*self._shape[access], self._granule_bytes)
        fresh = np.unique(granules[homes[granules] == UNPLACED])
        homes[fresh] = node
        moved = np.bincount(homes[granules], weights=pieces, minlength=len(self._latency))
        traffic = moved.astype(np.int64) * self._factor[access]
        pages = np.minimum(GRANULE_PAGES, self._pages[region] - fresh * GRANULE_PAGES)
        return Touch(traffic, self._wait_ps(access, node, traffic), int(pages.sum()))

    def _wait_ps(self, access: int, node: int, traffic: I64) -> int:
        lines = -(-traffic // LINE_BYTES)
        return int((-(-lines * self._latency[node] * 1000 // self._mlp[access])).sum())


def split(offset: int, row_bytes: int, rows: int, stride: int, granule_bytes: int) -> tuple[I64, I64]:
    """Cut ``rows`` pieces of ``row_bytes`` at granule borders: ([pieces] granule, [pieces] bytes)."""
    start = offset + np.arange(rows, dtype=np.int64) * stride
    first = start // granule_bytes
    counts = (start + row_bytes - 1) // granule_bytes - first + 1
    row = np.repeat(np.arange(rows), counts)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    granule = first[row] + nth
    low = np.maximum(start[row], granule * granule_bytes)
    high = np.minimum(start[row] + row_bytes, (granule + 1) * granule_bytes)
    return granule, high - low
