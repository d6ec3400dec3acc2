"""The fields of a plan for accesses, and the fields that couple its running segments, as arrays for the native engine.

Prices of range items have a closed form and are tabulated here. The native engine computes all other prices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.parts.unit_factors import MILLION
from numasim.plan.address_space import PageCosts
from numasim.plan.coupling import may_be_scarce
from numasim.plan.item_prices import ItemPrices, item_prices, seats_of
from numasim.plan.node_bytes import PlacedAccess, placed_accesses
from numasim.plan.plan import Plan
from numasim.plan.price import OWNERSHIP, mlp_of
from numasim.plan.resources import Path, Resources, resources_of
from numasim.plan.segment_times import PlacedProgram, access_tables, local_item_waits_ps, settled_bytes
from numasim.strategy.helpers import Helpers
from numasim.strategy.placement.compile_placement import Placement, Stage
from numasim.strategy.placement.homes import Homes
from numasim.workload.amounts import Amounts
from numasim.workload.graph import Mode, RangeFamily
from numasim.workload.one_worker import MLP_BY_PATTERN, traffic_factor

Fields = dict[str, Any]


def effect_fields(plan: Plan, placement: Placement) -> Fields:
    """Return the fields that couple running segments; an uncoupled plan has only the field ``coupled``."""
    if not plan.coupled:
        return {"coupled": False}
    resources = resources_of(plan)
    effects = plan.effects
    return {
        "coupled": True,
        **{name: getattr(effects, name) for name in ("cache", "overlap_ppm", "task_noise_ppm")},
        "contention": effects.contention if may_be_scarce(plan) else "none",
        "queueing": effects.queueing != "none",
        "load_ps": np.ascontiguousarray(plan.machine.latency_ps, np.int64).ravel(),
        **_segments(plan),
        **_caches(plan),
        **_resources(resources),
        **_speeds(plan),
        **_page_costs(plan),
        **_helpers(plan),
        **_prices(plan, placement),
    }


def _segments(plan: Plan) -> Fields:
    work = plan.workload
    return {
        "segment_compute_ps": work.segment_compute_ps,
        "segment_accesses": work.segment_accesses,
        "access_mode": work.accesses.mode,
        "access_passes": work.accesses.passes.astype(np.int64),
        "access_misses": np.array(mlp_of(plan), np.int64)[work.accesses.pattern],
    }


def _caches(plan: Plan) -> Fields:
    caches, cached = plan.machine.caches, plan.effects.cache != "none"
    return {
        "llc_bytes": np.array(plan.machine.llc_bytes_of_domain, np.int64),
        "l2_bytes": caches.l2_bytes if cached else -1,
        **{name: getattr(caches, name) for name in ("llc_hit_ps", "llc_remote_hit_ps")},
        "llc_forwards": caches.forwards,
        "llc_domains": plan.machine.cache_domains,
        "llc_domain": plan.workers.llc.astype(np.uint32),
    }


def _resources(resources: Resources) -> Fields:
    return {
        "resource_capacity": np.array(resources.capacity, np.int64),
        **_paths("read", resources.reads),
        **_paths("write", resources.writes),
        **_paths("move", resources.moves),
        "llc_port": np.array(resources.llc, np.int32),
        **{name: getattr(resources, name) for name in ("faults", "fault_units", "fault_alpha_ppm")},
    }


def _paths(name: str, by_pair: Sequence[Sequence[Path]]) -> Fields:
    """Return the lists of resources by pair of nodes, in CSR form."""
    paths = [path for row in by_pair for path in row]
    return {
        f"{name}_first": np.cumsum([0, *map(len, paths)], dtype=np.int64),
        f"{name}_resource": np.array([use.resource for path in paths for use in path], np.uint32),
        f"{name}_per_line": np.array([use.per_line for path in paths for use in path], np.int64),
    }


def _speeds(plan: Plan) -> Fields:
    smt, clock, effects = plan.machine.smt, plan.machine.clock, plan.effects
    shared, turbo = effects.smt != "none", effects.clock == "turbo"
    return {
        "core": plan.workers.core.astype(np.uint32),
        "socket": plan.workers.socket.astype(np.uint32),
        "slows_memory": effects.smt == "memory",
        "executing_ppm": smt.busy_ppm if shared else MILLION,
        "polling_ppm": smt.poll_ppm if shared else MILLION,
        "clock_active": np.ascontiguousarray(clock.active if turbo else (), np.int64),
        "clock_hz": np.ascontiguousarray(clock.hz if turbo else (), np.int64),
        "clock_base_hz": clock.base_hz,
        "core_ppm": plan.machine.speed_of_core[plan.workers.core],
        "worker_spread_ppm": effects.worker_spread_ppm,
    }


def _page_costs(plan: Plan) -> Fields:
    costs = PageCosts.of(plan)
    return {
        "unmap_ps": costs.unmap_ps,
        "unmap_far_ps": costs.unmap_far_ps.ravel(),
        "flush_ps": costs.flush_ps,
        "unmap_batch": costs.batch,
    }


def _helpers(plan: Plan) -> Fields:
    helpers = plan.helpers or Helpers((False,) * plan.workers.workers, 0, 0, 0, 0)
    return {
        "helper": np.array(helpers.has, np.uint8),
        "helper_lifespan": helpers.lifespan_bytes,
        **{f"helper_{name}": getattr(helpers, name) for name in ("work_ppm", "start_ps", "restart_ps")},
    }


def _prices(plan: Plan, placement: Placement) -> Fields:
    """Return the prices of all families at each seat, and the seat of each worker."""
    prices = item_prices(plan, placement)
    number = {seat: number for number, seat in enumerate(prices)}
    return {
        "seats": [{"families": [_family(each) for each in families]} for families in prices.values()],
        "seat": np.array([number[seat] for seat in seats_of(plan.workers)], np.uint32),
    }


def _family(prices: ItemPrices) -> Fields:
    mean = prices.mean
    used = sorted(mean.units.items())
    return {
        "local_wait_ps": prices.local_wait_ps,
        "mean_compute_ps": mean.compute_ps,
        "mean_wait_ps": mean.wait_ps,
        "mean_pages_ps": mean.fault_ps,
        "resource": np.array([resource for resource, _ in used], np.uint32),
        "units": np.array([units for _, units in used], np.int64),
        "accesses": [
            {
                "owned": access.kind == OWNERSHIP,
                "wait_ps": access.wait_ps,
                "fetched": access.fetched.ravel(),
                "written": access.written.ravel(),
                "cached_bytes": access.cached_bytes,
            }
            for access in prices.accesses
        ],
    }


# ---- The fields of accesses, regions, page placement and ranges of items (model 2.2 and 3.5) -------------------------

NOTHING = np.zeros(0, np.int64)
UNIFORM = Amounts.of_table((), (), ())  # compute times are drawn between two bounds


def access_fields(program: PlacedProgram) -> Fields:
    """Return the fields of accesses, for a run that simulates accesses one by one."""
    accesses = program.workload.accesses
    return {
        **{f"access_{name}": getattr(accesses, name) for name in ("region", "offset", "row_bytes", "rows", "stride")},
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
    return {"phase": stage.phase, **asdict(stage.rule), "wish_ptr": wish_ptr, "wish": wish}


def _by_region(
    placement: Placement, homes: Sequence[Homes | None]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return (CSR pointer, nodes) by region; a dynamic region has no node, one node for all its pages, or one for each
    unit of pages; regions that are not dynamic have no node.
    """
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
        **{name: getattr(family, name) for name in ("count", "kernel", "low_ps", "high_ps")},
        "local_wait_ps": np.array(local_item_waits_ps(plan, family), np.int64),
        "accesses": [
            {
                **{name: getattr(table, name) for name in ("divisor", "by_quotient", "by_remainder")},
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
    parts = {"part_start": amounts.starts, "part_low": amounts.low, "part_high": amounts.high}
    return {"amounts": amounts.items, **parts}


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
