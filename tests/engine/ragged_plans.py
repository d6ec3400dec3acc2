"""Ranges whose items (tasks) differ, for tests: amounts (a number for each item) and accesses to nodes in few words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from task_graphs import items

from numasim.workload.amounts import Amounts
from numasim.workload.graph import Deal, Mode, NodeAccess, Pattern, Workload, compute_bounds


def each(*numbers: int) -> Amounts:
    """Return amounts with one number for each item."""
    return Amounts.of_items(numbers)


def table(*parts: tuple[int, int, int]) -> Amounts:
    """Return a table of (weight, lowest, highest)."""
    return Amounts.of_table(*zip(*parts, strict=True))


def on(
    nodes: int | Sequence[int],
    amounts: Amounts,
    mode: Mode = Mode.READ,
    shares: Sequence[int] = (1,),
    pattern: Pattern = Pattern.CHASE,
    returned_ppm: int = 0,
) -> NodeAccess:
    """Return an access to one node, or to several nodes by ``shares``; no two misses overlap."""
    names = (nodes,) if isinstance(nodes, int) else tuple(nodes)
    return NodeAccess(names, tuple(shares), int(mode), int(pattern), amounts, returned_ppm)


def ragged(
    count: int,
    compute: Amounts | int,
    *accesses: NodeAccess,
    deal: Deal = Deal.MASTER,
    repeat: int = 1,
    base: Workload | None = None,
    fresh: Amounts | None = None,
    freed: Amounts | None = None,
) -> Workload:
    """Return a range of ``count`` items with these amounts; the items also make the accesses of ``base``'s items."""
    given = each(*[compute] * count) if isinstance(compute, int) else compute
    low_ps, high_ps, times = compute_bounds(given)
    work = base or items(count, low_ps, high_ps, deal, repeat=repeat)
    family = replace(
        work.ranges[0],
        count=count,
        low_ps=low_ps,
        high_ps=high_ps,
        compute=times,
        node_accesses=accesses,
        fresh=fresh,
        freed=freed,
    )
    return replace(work, ranges=(family,))
