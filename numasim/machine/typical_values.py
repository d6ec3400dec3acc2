"""Values of a machine that a system does not report; each goes into the machine file with a source that says why, and
begins `assumed:`.

Rates and factors are rounded medians of published measurements (Intel MLC, STREAM, likwid-bench) on two-socket servers
of 2009 to 2023: one core's share of its node's memory bandwidth was 3.8 to 8.3 GB/s. Firmware (ACPI SLIT) gives
distances between nodes, 10 for a node's own memory. The extra latency of loads from other nodes, relative to the local
latency, was 0.4 to 0.6 of the extra distance relative to 10: 1.6 to 1.7 times the local latency at distance 21, 1.9
times at distance 32.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import lcm

import numpy as np

from numasim.machine.exact_shape import Node
from numasim.machine.inventory import Inventory

LOCAL_NS = Decimal(90)
GHZ = Decimal("2.5")
MEMORY_BYTES = 2**30
LINE_BYTES = 64
CORE_GBS = Decimal(5)  # bandwidth of a node's memory for each core of the node
KIND_GBS = {"MCDRAM": Decimal(7), "HBM": Decimal(12)}  # bandwidth of MCDRAM and HBM for each near core
LONE_GBS = Decimal(20)  # bandwidth of memory without cores, such as a CXL expander's
SLOWER_LINK = 3  # a memory controller's bandwidth over the bandwidth of a link between sockets
FAR = Decimal(2)  # distance to another node over the local distance, if the system gives no distance
UNREACHABLE = 255  # the distance in ACPI's table that stands for no path
SHARE_OF_DISTANCE = Fraction(1, 2)  # extra latency of another node over the extra distance, both relative
PAGE = "4KiB"
LLC_HITS_NS = {"llc_hit_ns": Decimal(20), "llc_remote_hit_ns": Decimal(110)}
LINE_NS = {"same_core_ns": Decimal(5), "same_socket_ns": Decimal(50), "cross_socket_ns": Decimal(110)}
LINE_NS_OF_CLUSTERS = {  # if cores of one node have several last-level caches: rounded medians of EPYC processors
    "same_core_ns": Decimal(5),
    "same_llc_ns": Decimal(25),
    "same_socket_ns": Decimal(110),
    "cross_socket_ns": Decimal(200),
}
SMT = {"busy_ppm": 650_000, "poll_ppm": 850_000}  # the values of the machine of Vikranth's thesis
SERVERS = "assumed: typical of server processors"
NOT_SAID = "assumed: not said"


def controller_gbs(node: Node) -> Decimal:
    """Return the bandwidth of a node's memory in GB/s, by the kind of memory and the number of near cores."""
    if node.memory_kind in KIND_GBS:
        return KIND_GBS[node.memory_kind] * max(node.near_cores, 1)
    return CORE_GBS * len(node.cores) if node.cores else LONE_GBS


def controller_reason(nodes: Sequence[Node]) -> str:
    """Return the text in a machine file about the source of bandwidths by `controller_gbs`."""
    kinds = sorted({node.memory_kind for node in nodes if node.memory_kind in KIND_GBS})
    parts = [f"{KIND_GBS[kind]} GB/s of {kind} for each core near it" for kind in kinds]
    plain = [node for node in nodes if node.memory_kind not in KIND_GBS]
    if any(node.cores for node in plain):
        parts.append(f"{CORE_GBS} GB/s for each core of the node")
    if not all(node.cores for node in plain):
        parts.append(f"{LONE_GBS} GB/s of memory without cores")
    return f"{'; '.join(parts)}; measure it"


def link_gbs(a: Node, b: Node, rates: Mapping[int, Decimal]) -> Decimal:
    """Return the bandwidth of a link in GB/s in one direction; ``rates`` has the bandwidths of memory controllers by
    node number; a node without memory counts as if it had memory.

    Within a socket, the link has the bandwidth of the slower controller; between sockets, a third of that. If only one
    of the nodes has cores, the controller of the node without cores counts: nothing else is behind the link.
    """
    gbs = [rates.get(node.number) or controller_gbs(node) for node in (a, b)]
    alone = [each for node, each in zip((a, b), gbs, strict=True) if not node.cores]
    slower = alone[0] if len(alone) == 1 else min(gbs)
    return slower if a.socket == b.socket else max(Decimal(1), round(slower / SLOWER_LINK, 1))


LINK_REASON = "assumed: the slower controller's bandwidth within a socket, a third of it between sockets; measure it"


def relative_distance(inventory: Inventory, a: int, b: int) -> Fraction:
    """Return firmware's distance from node ``a`` to ``b`` over the local distance of ``a``. If it is missing, the
    distance from ``b`` to ``a`` counts; if both are missing, the result is `FAR`, or 1 for a node itself.
    """
    local = _given(inventory, a, a) or Decimal(10)
    found = _given(inventory, a, b) or _given(inventory, b, a)
    return Fraction(found or local * (1 if a == b else FAR)) / Fraction(local)


def _given(inventory: Inventory, a: int, b: int) -> Decimal | None:
    distance = inventory.distance.get((a, b))
    return None if distance is None or (a != b and distance >= UNREACHABLE) else distance


def latency_ns(distance: Fraction, local_ns: Decimal) -> Decimal:
    """Return the latency of a load over a relative distance, rounded to tenths of a nanosecond."""
    exact = Fraction(local_ns) * max(1 + SHARE_OF_DISTANCE * (distance - 1), SHARE_OF_DISTANCE)
    return Decimal(round(10 * exact)).scaleb(-1)


# ---- Which nodes are linked: pairs of nodes without an equally short route over a third node -------------------------

LEAST = Fraction(1, 10)  # least extra distance over the local distance; equal distances leave every pair linked


def links_of(distance: Sequence[Sequence[Fraction]]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of nodes without a route over a third node that is as short as their distance, or shorter.

    ``distance[a][b]`` is relative to the local distance of ``a``; of the two directions the longer one counts. A route
    is as long as the sum of its extra distances (above 1), each at least `LEAST`. The pairs join all nodes, because the
    shortest pair across any cut is among them.
    """
    unit = lcm(LEAST.denominator, *{value.denominator for row in distance for value in row})
    extra = np.array([[int((value - 1) * unit) for value in row] for row in distance], object)
    longer = np.maximum(np.maximum(extra, extra.T), int(LEAST * unit))
    if longer.max() < 2**62:
        longer = longer.astype(np.int64)  # fast; Python's numbers hold any sum
    for a, row in enumerate(longer):
        over_third = (row[:, None] + longer).min(axis=0)  # a detour from a to a, or from b to b, costs at least `LEAST`
        yield from ((a, b) for b in range(a + 1, len(row)) if over_third[b] > row[b])
