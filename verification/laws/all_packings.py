"""All packings of a program that are worth a comparison with the one that Algorithm 1 of LAWS ends with (model 4.8)."""

from __future__ import annotations

import numpy as np

from numasim.strategy.control.controller import I64, Program
from numasim.strategy.control.packing import MOVES, initial_packing, packing_at_depth


def all_packings(program: Program, used: I64, sizes: int = 32) -> list[I64]:
    """The packings, each once, by all rules that this package has.

    Those at one depth; those that fit a cache of some size, for ``sizes`` sizes from that of the smallest subtree to
    that of the largest tree, evenly in their logarithm; and what moves make of the largest subtrees that fit the shared
    cache, over and over. ``used`` [tasks] is what each subtree uses of the shared cache. Sets of roots grow in number
    with the exponential of the tasks, so that nobody can try them all.
    """
    found = [packing_at_depth(program, depth) for depth in range(int(program.depth.max(initial=-1)) + 1)]
    found += [initial_packing(program, used, size) for size in _sizes(used, sizes)]
    initial = initial_packing(program, used, program.unit_llc_bytes)
    for move in MOVES.values():
        roots = initial
        while not np.array_equal(after := move(program, roots), roots):
            found.append(roots := after)
    distinct = {roots.tobytes(): roots for roots in (initial, *found) if len(roots)}
    return list(distinct.values())


def _sizes(used: I64, count: int) -> list[int]:
    """Return ``count`` sizes in bytes, ascending, from the least cache that any subtree uses to the most."""
    there = used[used > 0]
    if not len(there):
        return []
    return [round(size) for size in np.geomspace(there.min(), there.max(), count)]
