"""The container of a reduction: for each row the values that the threads of each node have emitted, and the keys.

The container has a row for each value of a hash and a column for each thread; the values of a column lie on the NUMA
node of its thread (Souris 2020, section 3.3). A key is in the row `key mod rows`, and a thread emits a key at most
once. The values of all threads of a node are drawn together, not thread by thread (model 9.6).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from numasim.draws import DrawClass, U64Array, base, base_array, below_array, stream_array
from numasim.parts.unit_factors import MILLION
from numasim.workload.graph import I64

# ---- Numbers of a draw without replacement, from class-8 streams (model 1.4 and 9.6) ---------------------------------

_UNIT = 2.0**-64
WIDEST = 9.0  # standard deviations to either side of the mean that the tables cover


def binomial(draws: U64Array, trials: I64, probability: float) -> I64:
    """Return [draws] the number of successes in ``trials[i]`` trials: the quantile of the binomial distribution."""
    found = np.zeros(len(draws), np.int64)
    share = draws * _UNIT
    for count in np.unique(trials).tolist():
        those = trials == count
        first, reached = _distribution(count, probability)
        found[those] = first + np.searchsorted(reached, share[those], side="right").clip(max=len(reached) - 1)
    return found


def _distribution(trials: int, probability: float) -> tuple[int, npt.NDArray[np.float64]]:
    """Return (first, [numbers] the probability of at most first + i successes)."""
    if trials == 0 or probability in (0.0, 1.0):
        return round(trials * probability), np.ones(1)
    mean, deviation = trials * probability, (trials * probability * (1 - probability)) ** 0.5
    first = max(0, int(mean - WIDEST * deviation) - 1)
    last = min(trials, int(mean + WIDEST * deviation) + 10)
    numbers = np.arange(first, last, dtype=np.float64)
    logarithms = np.concatenate(
        [[0.0], np.cumsum(np.log((trials - numbers) / (numbers + 1) * (probability / (1 - probability))))]
    )
    reached = np.cumsum(np.exp(logarithms - logarithms.max()))
    return first, np.asarray(reached / reached[-1])


def shared_out(total: int, capacity: I64, stream: int) -> I64:
    """Return [places] how many of ``total`` things each place gets; place i has ``capacity[i]`` equally likely seats.

    First each place draws its number alone. Then random places gain or lose single things until the sum is ``total``.
    """
    seats = int(capacity.sum())
    found = binomial(stream_array(stream, len(capacity)), capacity, total / seats)
    number = len(capacity)
    while missing := total - int(found.sum()):
        drawn = stream_array(stream, number + abs(missing))[number:]
        number += abs(missing)
        place, wanted = np.unique(below_array(drawn, len(capacity)).astype(np.int64), return_counts=True)
        room = capacity[place] - found[place] if missing > 0 else found[place]
        found[place] += np.sign(missing) * np.minimum(wanted, room)
    return found


def newly_met(stream: int, drawn: I64, columns: int, keys: I64, met: I64) -> I64:
    """Return [rows] how many of a row's ``keys`` have been emitted after ``drawn`` more cells are drawn.

    A cell is a pair of one of the row's keys and one of the ``columns``, drawn at most once. ``met`` keys have been
    emitted before, in other columns. All rows draw their next cell at once. A cell takes half of a 64-bit number of the
    stream.
    """
    most = int(drawn.max(initial=0))
    order = np.argsort(-drawn, kind="stable")
    keys, known = keys[order], met[order]
    unmet, cells = ((each * columns).astype(np.uint64) for each in (keys - known, keys))
    rows_left = np.searchsorted(-drawn[order], -np.arange(most), side="left").tolist()
    steps = base_array(stream, DrawClass.ARRIVAL, np.arange(most + 1 >> 1)).tolist()
    width, low, half = np.uint64(columns), np.uint64(0xFFFFFFFF), np.uint64(32)
    for cell, rows in enumerate(rows_left):
        if cell % 2 == 0:
            both = stream_array(steps[cell // 2], rows)
            drawn_half = both & low
        else:
            drawn_half = both[:rows] >> half
        drawn_half *= cells[:rows] - np.uint64(cell)
        drawn_half >>= half
        unmet[:rows] -= (drawn_half < unmet[:rows]) * width
    found = np.empty_like(known)
    found[order] = keys - (unmet // width).astype(np.int64)
    return found


@dataclass(frozen=True, eq=False)
class Columns:
    """The ``node`` [threads] of each thread and the number ``emits`` [threads] of values that the thread emits."""

    node: I64
    emits: I64

    @property
    def nodes(self) -> int:
        """Number of nodes: one more than the highest number of a node."""
        return int(self.node.max()) + 1

    def on(self, node: int) -> tuple[int, int]:
        """Return (number of threads on a node, number of values that these threads emit)."""
        there = self.node == node
        return int(there.sum()), int(self.emits[there].sum())


def equal_columns(node: I64, emits: int) -> Columns:
    """Return columns of threads that emit equally many values, except for a remainder."""
    return Columns(node, _evenly(emits, len(node)))


def one_heavy_node(node: I64, emits: int, share_ppm: int, heavy: int) -> Columns:
    """Return columns in which threads of the ``heavy`` node emit a share of all values, and other threads what is left.

    If the ``heavy`` node or all other nodes have no threads, the threads that exist emit all values.
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
    """``emitted`` [rows, nodes]: the number of values of each row on each node; ``keys`` [rows]: the number of keys."""

    emitted: I64
    keys: I64


def keys_of_rows(key_range: int, rows: int) -> I64:
    """Return [rows] how many of the keys from 0 to ``key_range - 1`` are in each row."""
    return key_range // rows + (np.arange(rows) < key_range % rows).astype(np.int64)


def equal_probability(columns: Columns, key_range: int, rows: int, seed: int) -> Container:
    """Return a container in which every thread emits a random set of keys; all sets of one size are equally likely."""
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
    """Return a container in which every thread emits keys of its own rows, each key at most once.

    The rows are cut into consecutive parts, a part for each thread in proportion to the thread's values.
    """
    keys, emits = keys_of_rows(key_range, rows), int(columns.emits.sum())
    ends = np.cumsum(columns.emits) * rows // emits
    node = columns.node[np.searchsorted(ends, np.arange(rows), side="right")]
    emitted = np.zeros((rows, columns.nodes), np.int64)
    emitted[np.arange(rows), node] = shared_out(emits, keys, base(seed, DrawClass.ARRIVAL, 0))
    return Container(emitted, emitted.sum(axis=1))


def copies_of_growth(values: I64, vectors: int, first: int) -> I64:
    """Return [rows] the values copied when full vectors grow, if row i appends ``values[i]`` values to a vector.

    A full vector doubles its capacity, which begins at ``first`` values. The ``vectors`` get equally many values; the
    copied values of a vector are divided evenly among the appended values.
    """
    each = -(-int(values.sum()) // vectors)
    copies = first * ((1 << max(-(-each // first) - 1, 0).bit_length()) - 1)
    upto = np.cumsum(values) * copies // max(each, 1)
    return np.diff(upto, prepend=0)


def met_on_nodes(columns: Columns, container: Container, key_range: int, seed: int) -> tuple[I64, I64]:
    """Return ([rows, nodes] the number of keys emitted on each node, [rows] the number of keys emitted on any node).

    Every thread emits a set of keys, and all sets of the same size are equally likely.
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
    """Return the mean over all threads of the number of keys if thread i emits ``emits[i]`` values, rounded."""
    return round(key_range * (1 - float(np.prod(1 - emits / key_range))))
