"""How flows share what they use together: normalised max-min fairness in integers (model 2.5 and 2.9).

A flow that runs undisturbed demands ``q`` units per second of each resource it uses; its share phi, in 2**-48, says how
fast it may run: it gets phi of every demand. All flows that are held back by the same resource get the same share of
what they ask for, the *level* of that resource, and no flow's share can be raised without lowering that of one with a
share as small. A level is rounded down once; sums of what is used are exact.
"""

from __future__ import annotations

from collections.abc import Sequence

SHARE_BITS = 48
ONE = 1 << SHARE_BITS  # the share of a flow that nothing holds back

Demands = Sequence[tuple[int, int]]  # (resource, units per second); each resource once


def max_min_shares(capacity: Sequence[int], flows: Sequence[Demands]) -> list[int]:
    """[flows] the share of each flow in 2**-48, at least 1; ``capacity`` [resources] is in units per second.

    Round by round the resource that allows the smallest share is found (ties: the lowest id), and all its flows get
    that share.
    """
    shares = [ONE] * len(flows)
    open_flows = list(range(len(flows)))
    left = [units << SHARE_BITS for units in capacity]
    asked: dict[int, int] = {}
    for demands in flows:
        for r, q in demands:
            asked[r] = asked.get(r, 0) + q
    while True:
        levels = [(level(left[r], total), r) for r, total in sorted(asked.items()) if total]
        if not levels:
            return shares
        share, tight = min(levels)
        if share >= ONE:
            return shares
        for i in [i for i in open_flows if any(r == tight and q for r, q in flows[i])]:
            open_flows.remove(i)
            shares[i] = share
            for r, q in flows[i]:
                asked[r] -= q
                left[r] -= q * share


def level(left: int, asked: int) -> int:
    """The share of those who ask for ``asked`` units of a resource that has ``left`` units in 2**-48 for them."""
    return max(1, max(0, left) // asked)
