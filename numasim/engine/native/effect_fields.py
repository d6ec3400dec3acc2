"""The fields of a plan that couple its running segments, as arrays for the native engine.

Prices of range items have a closed form and are tabulated here. The native engine computes all other prices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.parts.unit_factors import MILLION
from numasim.plan.address_space import PageCosts
from numasim.plan.coupling import may_be_scarce
from numasim.plan.item_prices import ItemPrices, item_prices, seats_of
from numasim.plan.plan import Plan
from numasim.plan.price import OWNERSHIP, mlp_of
from numasim.plan.resources import Path, Resources, resources_of
from numasim.strategy.helpers import Helpers
from numasim.strategy.placement.compile_placement import Placement

Fields = dict[str, Any]


def effect_fields(plan: Plan, placement: Placement) -> Fields:
    """Return the fields of a plan's coupling. For an uncoupled plan they only say that it is uncoupled."""
    if not plan.coupled:
        return {"coupled": False}
    resources = resources_of(plan)
    effects = plan.effects
    return {
        "coupled": True,
        "cache": effects.cache,
        "contention": effects.contention if may_be_scarce(plan) else "none",
        "queueing": effects.queueing != "none",
        "overlap_ppm": effects.overlap_ppm,
        "task_noise_ppm": effects.task_noise_ppm,
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
        "llc_hit_ps": caches.llc_hit_ps,
        "llc_remote_hit_ps": caches.llc_remote_hit_ps,
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
        "faults": resources.faults,
        "fault_units": resources.fault_units,
        "fault_alpha_ppm": resources.fault_alpha_ppm,
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
        "clock_active": _steps(clock.active if turbo else ()),
        "clock_hz": _steps(clock.hz if turbo else ()),
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
        "helper_work_ppm": helpers.work_ppm,
        "helper_start_ps": helpers.start_ps,
        "helper_restart_ps": helpers.restart_ps,
    }


def _steps(values: Sequence[int] | npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.ascontiguousarray(values, np.int64)


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
