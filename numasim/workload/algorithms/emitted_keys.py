"""What the container of a reduction holds: of each row, the values that each node's threads have emitted, and its keys.

The container has a row for each value of a hash and a column for each thread, whose values lie on the thread's node
(Souris 2020, section 3.3). A key is in the row `key mod rows`, and a thread emits a key at most once. Cells of single
threads are never made: the values of the threads of a node are drawn together (model 9.6).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numasim.draws import DrawClass, base
from numasim.parts.unit_factors import MILLION
from numasim.workload.algorithms.counted_draws import newly_met, shared_out
from numasim.workload.graph import I64


@dataclass(frozen=True, eq=False)
class Columns:
    """Who emits how much: ``node`` [threads] is where each thread is, ``emits`` [threads] how many values it emits."""

    node: I64
    emits: I64

    @property
    def nodes(self) -> int:
        """One more than the highest node."""
        return int(self.node.max()) + 1

    def on(self, node: int) -> tuple[int, int]:
        """(threads of a node, values that they emit)."""
        there = self.node == node
        return int(there.sum()), int(self.emits[there].sum())


def equal_columns(node: I64, emits: int) -> Columns:
    """All threads emit as much, but for a remainder."""
    return Columns(node, _evenly(emits, len(node)))


def one_heavy_node(node: I64, emits: int, share_ppm: int, heavy: int) -> Columns:
    """The threads of one node emit a share of all values together, and those of the other nodes the rest; where one of
    the two has no threads, the others emit all.
    """
    there = node == heavy
    inside = emits * share_ppm // MILLION if 0 < there.sum() < len(node) else emits * int(there.any())
    found = np.zeros(len(node), np.int64)
    found[there] = _evenly(inside, int(there.sum()))
    found[~there] = _evenly(emits - inside, int((~there).sum()))
    return Columns(node, found)


def _evenly(total: int, parts: int) -> I64:
    return np.diff(np.arange(parts + 1) * total // max(parts, 1)) if parts else np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Container:
    """``emitted`` [rows, nodes]: the values of each row that lie on each node; ``keys`` [rows]: under how many keys."""

    emitted: I64
    keys: I64


def keys_of_rows(key_range: int, rows: int) -> I64:
    """[rows] how many of the keys from 0 to ``key_range - 1`` are in each row."""
    return key_range // rows + (np.arange(rows) < key_range % rows).astype(np.int64)


def equal_probability(columns: Columns, key_range: int, rows: int, seed: int) -> Container:
    """Every thread emits keys of which all sets are equally likely."""
    keys, emitted = keys_of_rows(key_range, rows), np.zeros((rows, columns.nodes), np.int64)
    met = np.zeros(rows, np.int64)
    for node in range(columns.nodes):
        threads, emits = columns.on(node)
        if emits:
            streams = (base(seed, DrawClass.ARRIVAL, 2 * node + number) for number in range(2))
            emitted[:, node] = shared_out(emits, keys * threads, next(streams))
            met = newly_met(next(streams), emitted[:, node], threads, keys, met)
    return Container(emitted, met)


def disjoint_subranges(columns: Columns, key_range: int, rows: int, seed: int) -> Container:
    """The rows are cut into consecutive parts, one for each thread in proportion to what it emits, and the thread emits
    keys of its rows, each at most once.
    """
    keys, emits = keys_of_rows(key_range, rows), int(columns.emits.sum())
    ends = np.cumsum(columns.emits) * rows // emits
    node = columns.node[np.searchsorted(ends, np.arange(rows), side="right")]
    emitted = np.zeros((rows, columns.nodes), np.int64)
    emitted[np.arange(rows), node] = shared_out(emits, keys, base(seed, DrawClass.ARRIVAL, 0))
    return Container(emitted, emitted.sum(axis=1))


def copies_of_growth(values: I64, vectors: int) -> I64:
    """[rows] how many values are copied because vectors grow to which the ``values[i]`` of each row are appended.

    A vector doubles its capacity when it is full, from one value on. Each of ``vectors`` gets as many values, and its
    copies are shared evenly by what is appended.
    """
    each = -(-int(values.sum()) // vectors)
    copies = (1 << max(each - 1, 0).bit_length()) - 1 if each else 0
    upto = np.cumsum(values) * copies // max(each, 1)
    return np.diff(upto, prepend=0)


def met_on_nodes(columns: Columns, container: Container, key_range: int, seed: int) -> tuple[I64, I64]:
    """([rows, nodes] under how many keys the values on each node are, [rows] under how many all of them are), where
    every thread emits keys of which all sets are equally likely.
    """
    rows = len(container.keys)
    keys, met, none = keys_of_rows(key_range, rows), np.zeros_like(container.emitted), np.zeros(rows, np.int64)
    known = none
    for node in range(columns.nodes):
        threads, emits = columns.on(node)
        if emits:
            streams = (base(seed, DrawClass.ARRIVAL, 2 * (columns.nodes + node) + number) for number in range(2))
            met[:, node] = newly_met(next(streams), container.emitted[:, node], threads, keys, none)
            known = newly_met(next(streams), met[:, node], 1, keys, known)
    return met, known


def mean_keys(emits: I64, key_range: int) -> int:
    """Under how many keys the values of some threads are on average, each of which emits ``emits[i]`` of them under any
    keys: K (1 - product of (1 - n / K)), rounded.
    """
    return round(key_range * (1 - float(np.prod(1 - emits / key_range))))
