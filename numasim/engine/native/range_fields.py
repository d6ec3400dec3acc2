"""The families of range items of a plan, as arrays for the native engine (model 3.5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from numasim.plan.node_bytes import PlacedAccess, placed_accesses
from numasim.plan.plan import Plan
from numasim.plan.price import OWNERSHIP
from numasim.plan.segment_times import access_tables, local_item_waits_ps
from numasim.strategy.placement.compile_placement import Placement
from numasim.workload.amounts import Amounts
from numasim.workload.graph import RangeFamily

Fields = dict[str, Any]
NOTHING = np.zeros(0, np.int64)
UNIFORM = Amounts.of_table((), (), ())  # compute times are drawn between two bounds


def family_fields(plan: Plan, placement: Placement, family: RangeFamily) -> Fields:
    """The fields of one family of items."""
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
