"""Regions of memory, and which segments access them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from numasim.workload.graph import Region

Access = tuple[int, int, int, int]  # region, offset, bytes, mode


@dataclass(frozen=True)
class RecordedData:
    """The regions, and by segment its accesses."""

    regions: tuple[Region, ...] = ()
    accesses: Mapping[int, list[Access]] = field(default_factory=dict)
