"""The fields of accesses, regions, page placement and ranges of items for the native engine (model 2.2 and 3.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.plan.node_bytes import PlacedAccess, placed_accesses
from numasim.plan.plan import Plan
from numasim.plan.price import OWNERSHIP
from numasim.plan.segment_times import (
    PlacedProgram,
    access_tables,
    local_item_waits_ps,
    settled_bytes,
)
from numasim.strategy.placement.compile_placement import Placement, Stage
from numasim.strategy.placement.homes import Homes
from numasim.workload.amounts import Amounts
from numasim.workload.graph import Mode, RangeFamily
from numasim.workload.one_worker import MLP_BY_PATTERN, traffic_factor

Fields = dict[str, Any]
NOTHING = np.zeros(0, np.int64)
UNIFORM = Amounts.of_table((), (), ())  # compute times are drawn between two bounds


def access_fields(program: PlacedProgram) -> Fields:
    """Return the fields of accesses, for a run that simulates accesses one by one."""
    accesses = program.workload.accesses
    return {
        "access_region": accesses.region,
        "access_offset": accesses.offset,
        "access_row_bytes": accesses.row_bytes,
        "access_rows": accesses.rows,
        "access_stride": accesses.stride,
        "access_writes": (accesses.mode != Mode.READ).astype(np.uint8),
        "access_factor": traffic_factor(accesses),
        "access_mlp": MLP_BY_PATTERN[accesses.pattern],
        "settled_bytes": settled_bytes(program.workload, program.placement).ravel() if program.coupled else NOTHING,
    }


def region_fields(placement: Placement, page_bytes: int) -> Fields:
    """Return the fields of regions: their homes before the run, and the page policies of dynamic regions."""
    capacity = placement.capacity
    home_ptr, home = _by_region(placement, placement.homes)
    return {
        "page_bytes": page_bytes,
        "region_pages": placement.pages,
        "region_dynamic": placement.dynamic.astype(np.uint8),
        "unit_pages": np.array([placement.unit_pages(r) for r in range(len(placement.pages))], np.int64),
        "home_ptr": home_ptr,
        "home": home,
        "stages": [_stage(placement, stage) for stage in placement.stages],
        "free_pages": NOTHING if capacity is None else capacity.free,
        "home_of_node": placement.home_of_node.astype(np.int32),
        "nodes_by_distance": NOTHING if capacity is None else capacity.order.ravel(),
    }


def _stage(placement: Placement, stage: Stage) -> Fields:
    wish_ptr, wish = _by_region(placement, stage.wish)
    return {
        "phase": stage.phase,
        **asdict(stage.rule),
        "wish_ptr": wish_ptr,
        "wish": wish,
    }


def _by_region(
    placement: Placement, homes: Sequence[Homes | None]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return (pointer, nodes): for each dynamic region no node, one node for all pages, or one node for each unit."""
    parts = [_units(placement, r, each) if placement.dynamic[r] else [] for r, each in enumerate(homes)]
    pointer = np.concatenate([[0], np.cumsum([len(part) for part in parts], dtype=np.int64)])
    return pointer.astype(np.int64), np.concatenate([np.zeros(0, np.int32), *parts]).astype(np.int32)


def _units(placement: Placement, region: int, homes: Homes | None) -> Sequence[int] | npt.NDArray[np.int16]:
    if homes is None:
        return []
    if homes.single is not None:
        return [homes.single]
    pages = int(placement.pages[region])
    return homes.of_pages(pages)[:: placement.unit_pages(region)]


def family_fields(plan: Plan, placement: Placement, family: RangeFamily) -> Fields:
    """Return the fields of one family of items."""
    used = set(plan.workers.node.tolist())
    nodes = range(plan.machine.nodes)
    return {
        "count": family.count,
        "kernel": family.kernel,
        "low_ps": family.low_ps,
        "high_ps": family.high_ps,
        "local_wait_ps": np.array(local_item_waits_ps(plan, family), np.int64),
        "accesses": [
            {
                "divisor": table.divisor,
                "by_quotient": table.by_quotient,
                "by_remainder": table.by_remainder,
                "traffic": table.traffic.ravel(),
                "wait_ps": [table.wait_ps(node) if node in used else NOTHING for node in nodes],
            }
            for table in access_tables(plan, placement, family)
        ],
        **_amounts(family.compute or UNIFORM),
        "node_accesses": [_node_access(plan, access) for access in placed_accesses(plan, family)],
        "fresh": [_amounts(family.fresh)] if family.fresh is not None else [],
        "freed": [_amounts(family.freed)] if family.freed is not None else [],
    }


def _amounts(amounts: Amounts) -> Fields:
    return {
        "amounts": amounts.items,
        "part_start": amounts.starts,
        "part_low": amounts.low,
        "part_high": amounts.high,
    }


def _node_access(plan: Plan, access: PlacedAccess) -> Fields:
    return {
        **_amounts(access.given.amounts),
        "home": access.homes,
        "share_end": access.ends,
        "owned": access.kind == OWNERSHIP,
        "written": access.written,
        "misses": access.mlp,
        "returned_ppm": access.given.returned_ppm,
        "latency_ps": np.concatenate([access.latency_ps(node) for node in range(plan.machine.nodes)]),
        "local_latency_ps": np.ascontiguousarray(np.diag(plan.machine.latency_ps), np.int64),
    }
