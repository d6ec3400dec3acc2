"""Random plans of machines whose caches, bandwidth, shared cores and clocks matter, for property tests.

`random_recipes` makes plans of every other kind.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from engine_setup import NS, plan_of, runtime, shipped_strategy, toy_with
from hypothesis import strategies as st
from ragged_plans import table
from random_recipes import STRATEGIES
from task_graphs import Access, items

from numasim.machine.topology import Machine
from numasim.parts.models.placement_model import PlacementSpec
from numasim.parts.unit_factors import MILLION
from numasim.plan.build_plan import revised
from numasim.plan.effects import Effects
from numasim.plan.plan import Plan
from numasim.workload.graph import Deal, Mode, Region, Workload
from numasim.workload.registry import generate, workload_spec

seeds = st.integers(0, 2**64 - 1)
AMPLE_GBS = 100_000  # GB/s; more than all workers of a toy machine together can demand
# A factor, in ppm, of the number of overlapping misses. The product, in whole thousandths, is the same as without the
# factor. But with a factor other than 1 an engine finds the times of segments during the run, not before.
UNCHANGED_PPM = MILLION + 1
SETTLED = ("first-touch-master", "interleave", "block")
EVERY = (*SETTLED, "first-touch")


@st.composite
def effects(draw: st.DrawFn, **fixed: Any) -> Effects:
    """Draw effects of the model (caches, contention, ...), those in ``fixed`` as given; one or more couple workers."""
    chosen = {
        "cache": draw(st.sampled_from(["none", "share", "lru"])),
        "contention": draw(st.sampled_from(["none", "snapshot", "fluid", "fluid"])),
        "queueing": draw(st.sampled_from(["none", "none", "md1"])),
        "local_share_ppm": draw(st.sampled_from([0, 0, 300_000, 800_000])),
        "smt": draw(st.sampled_from(["none", "compute", "memory"])),
        "clock": draw(st.sampled_from(["fixed", "turbo"])),
        "overlap_ppm": draw(st.sampled_from([MILLION, 0, 400_000])),
        "mlp_ppm": draw(st.sampled_from([UNCHANGED_PPM, 300_000, 5 * MILLION])),
        "task_noise_ppm": draw(st.sampled_from([0, 0, 200_000])),
        "worker_spread_ppm": draw(st.sampled_from([0, 0, 100_000])),
    }
    return Effects(**(chosen | fixed))


@cache
def loaded(sockets: int, cores: int, threads: int, scope: str, gbs: int, snoops: bool = False) -> Machine:
    """Return a toy machine whose workers share caches, memory controllers, links and clocks, and cores if there are
    ``threads``.
    """
    return toy_with(
        {"sockets": sockets, "cores": cores, "threads": threads},
        nodes={"imc_bandwidth_gbs": gbs},
        links=[{"between": (a, b), "bandwidth_gbs": gbs} for a in range(sockets) for b in range(a + 1, sockets)],
        caches={
            "l2": "4KiB",
            "llc": "96KiB",
            "llc_scope": scope,
            "llc_hit_ns": 20,
            "llc_remote_hit_ns": 60,
            "llc_bandwidth_gbs": gbs,
        },
        smt={"busy_ppm": 600_000, "poll_ppm": 900_000},
        clock={"base_ghz": 2, "turbo": [{"active": 1, "ghz": 3}]},
        **({"snoop": {"request_bytes": 9, "answer_bytes": 5}} if snoops else {}),
    )


@st.composite
def machines(draw: st.DrawFn, gbs: tuple[int, ...]) -> Machine:
    shape = (draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 2)))
    return loaded(*shape, draw(st.sampled_from(["socket", "core"])), draw(st.sampled_from(gbs)), draw(st.booleans()))


@st.composite
def ranges(draw: st.DrawFn, pages: bool = False) -> Workload:
    """Draw items that read and write; with ``pages``, some items touch memory first or give memory back."""
    mode, passes = draw(st.sampled_from(list(Mode))), draw(st.integers(1, 3))
    low = draw(st.integers(1, 2000))
    work = items(
        draw(st.integers(1, 40)),
        low * NS,
        (low + draw(st.sampled_from([0, 500]))) * NS,
        draw(st.sampled_from(list(Deal))),
        (Access(0, 0, 4096), Access(0, 0, 640, mode=mode, passes=passes)),
        ((1, 4096, 0), (7, 0, 4096)),
        (Region("data", draw(st.sampled_from([40, 80])) * 4096, True),),
        repeat=draw(st.integers(1, 2)),
    )
    given = [None, table((1, 0, 9000), (1, 5000, 5000))] if pages else [None]
    fresh, freed = draw(st.sampled_from(given)), draw(st.sampled_from(given))
    return replace(work, ranges=(replace(work.ranges[0], fresh=fresh, freed=freed),))


@st.composite
def graphs(draw: st.DrawFn) -> Workload:
    """Draw trees and layers of tasks that compute for some time and move bytes."""
    size = {"task_bytes": draw(st.sampled_from([1000, 9000, 70_000])), "graph_seed": draw(st.integers(0, 1000))}
    low = draw(st.integers(1, 5000))
    times = {"low_ns": low, "high_ns": low + draw(st.sampled_from([0, 3000]))}
    if draw(st.booleans()):
        return generate(workload_spec("random-fork-join", tasks=draw(st.integers(1, 30)), **size, **times))
    shape = {"layers": draw(st.integers(1, 4)), "width": draw(st.integers(1, 5)), "degree": draw(st.integers(1, 3))}
    return generate(workload_spec("random-layered", **shape, **size, **times))


@st.composite
def coupled_plans(
    draw: st.DrawFn,
    gbs: tuple[int, ...] = (3, 10),
    placements: tuple[str, ...] = EVERY,
    most_workers: int = 6,
    pages: bool = False,
    **fixed: Any,
) -> Plan:
    """Draw plans of work that always ends, with bandwidths of ``gbs``; ``fixed`` is as in `effects`."""
    machine = draw(machines(gbs))
    strategy = shipped_strategy(draw(st.sampled_from(STRATEGIES)))
    # In work-first order a worker that waits in a nested join may steal its parent's continuation: a deadlock.
    join = draw(st.sampled_from(("help", "continuation") if strategy.spawn == "help-first" else ("continuation",)))
    costs = {
        "probe_remote_ns": 100,
        "fault_ns": draw(st.sampled_from([0, 50])),
        "faults_per_s": draw(st.sampled_from([0, 10**7])),
        "fault_alpha": draw(st.sampled_from([0, 1])),
        "unmap_ns": draw(st.sampled_from([0, 20])),
        "shootdown_ns": draw(st.sampled_from([0, 90])),
        "pop_ns": draw(st.sampled_from([0, 30])),
    }
    placement = PlacementSpec(policy=draw(st.sampled_from(placements)))
    placed = strategy.model_copy(update={"placement": placement, "join": join})
    return plan_of(
        draw(st.one_of(graphs(), ranges(pages))),
        draw(st.integers(1, min(most_workers, machine.threads))),
        placed,
        runtime(join=join, costs=costs),
        machine,
        effects=draw(effects(**fixed)),
    )


def with_effects(plan: Plan, **changes: Any) -> Plan:
    """Return the same plan with other effects."""
    return revised(plan, effects=replace(plan.effects, **changes))
