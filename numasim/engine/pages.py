"""The page map of a run: which node is the home of which page, and what an access finds there (model 2.2, 2.10).

A page that nothing has touched gets the node of the worker whose segment touches it first. Homes are kept per granule
of 16 pages, which coarsens the decision for large regions. Reads count as touches: fresh memory is placed by whatever
fault comes first. Accesses to regions whose homes are known before the run are settled: their bytes are a table.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from numasim.engine.plan import Plan

I64 = npt.NDArray[np.int64]

GRANULE_PAGES = 16
UNPLACED = -1


class Touch(NamedTuple):
    """What one access finds and does."""

    bytes_by_home: I64  # [nodes] footprint on each home, once everything is placed; passes and writing do not multiply
    placed: int  # pages
    migrated: I64  # [nodes] pages that moved to the toucher's node from each


class PageMap:
    """The homes of all pages while a program runs."""

    def __init__(self, plan: Plan) -> None:
        accesses = plan.workload.accesses
        self._plan = plan
        self._nodes = plan.machine.nodes
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
        self._stays = np.zeros(self._nodes, np.int64)

    def touch(self, access: int, node: int) -> Touch:
        """Walk an access from ``node``; what it finds unplaced is placed there."""
        region = self._region[access]
        if region not in self._homes:
            return Touch(self._settled[access], 0, self._stays)
        homes = self._homes[region]
        granules, pieces = split(*self._shape[access], self._granule_bytes)
        fresh = np.unique(granules[homes[granules] == UNPLACED])
        homes[fresh] = node
        pages = np.minimum(GRANULE_PAGES, self._pages[region] - fresh * GRANULE_PAGES)
        return Touch(self._sum(homes[granules], pieces), int(pages.sum()), self._stays)

    def bytes_at(self, access: int) -> I64:
        """[nodes] the footprint of an access on each home as it is now; unplaced pages are left out."""
        region = self._region[access]
        if region not in self._homes:
            row: I64 = self._settled[access]
            return row
        granules, pieces = split(*self._shape[access], self._granule_bytes)
        homes = self._homes[region][granules]
        return self._sum(homes[homes != UNPLACED], pieces[homes != UNPLACED])

    def _sum(self, homes: npt.NDArray[np.int16], pieces: I64) -> I64:
        total = np.zeros(self._nodes, np.int64)
        np.add.at(total, homes, pieces)
        return total

    @cached_property
    def _settled(self) -> I64:
        return settled_bytes(self._plan)


def asks_for_bytes(plan: Plan) -> bool:
    """Whether a run of ``plan`` looks at the homes of single accesses that are settled."""
    return plan.effects.cache != "none"


def settled_bytes(plan: Plan) -> I64:
    """[accesses, nodes] the footprint of each access on each home; nothing for accesses that are not settled."""
    accesses = plan.workload.accesses
    return plan.placement.bytes_by_home(
        accesses.region, accesses.offset, accesses.row_bytes, accesses.rows, accesses.stride
    )


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
