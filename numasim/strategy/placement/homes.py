"""The homes of a region's pages that are known before a run: in closed form, or page by page (model 2.2).

A region is a contiguous range of a program's memory; the home of a page is the node whose memory holds the page.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError
from numasim.frozen import Frozen
from numasim.workload.forest_arrays import offsets, ragged

# ---- The bytes of two-dimensional accesses by home of page, counted without a walk over pages ------------------------
#
# An access is ``rows`` rows of ``row_bytes`` bytes, ``stride`` bytes apart. If homes change at a few borders, the bytes
# below a border follow from the number of rows that end before the border. If homes repeat with a period, rows are
# counted by their position in the period.

I64 = npt.NDArray[np.int64]
CELLS_AT_ONCE = 1 << 21  # the most entries of temporary arrays


class Spans(NamedTuple):
    """Accesses: each array is [accesses]; ``offset`` is the first byte in the region."""

    offset: I64
    row_bytes: I64
    rows: I64
    stride: I64


def _bytes_below(spans: Spans, border: I64) -> I64:
    """Return [accesses] the bytes of each access before its ``border``."""
    offset, row_bytes, rows, stride = spans
    step = np.maximum(stride, 1)
    whole = np.clip((border - row_bytes - offset) // step + 1, 0, rows)
    begun = np.clip(-((offset - border) // step), whole, rows)
    cut = begun - whole  # number of rows that cross the border; several rows cross only if rows overlap
    inside = cut * (border - offset) - stride * (cut * (whole + begun - 1) // 2)
    constant = np.clip(border - offset, 0, row_bytes) * rows
    return np.asarray(np.where(stride > 0, whole * row_bytes + inside, constant))


def _summed_rows(spans: Spans, distinct: I64, columns: int, below: Callable[[I64], I64]) -> I64:
    """Return [accesses, columns] the bytes of each access in each column, a part of memory such as the pages of a node.

    ``below`` (positions) returns [positions, columns] how many of the bytes 0 .. position - 1 lie in each column. Row r
    of an access has as many bytes in each column as row ``r mod distinct`` of the same access.
    """
    total = np.zeros((len(distinct), columns), np.int64)
    batch = np.cumsum(distinct) // max(1, CELLS_AT_ONCE // columns)
    starts = np.flatnonzero(np.diff(batch, prepend=-1)).tolist()
    for begin, end in pairwise([*starts, len(distinct)]):
        count = distinct[begin:end]
        access = np.repeat(np.arange(begin, end), count)
        row = ragged(np.zeros_like(count), count)
        repeats = -(-(spans.rows[access] - row) // distinct[access])
        start = spans.offset[access] + row * spans.stride[access]
        by_column = below(start + spans.row_bytes[access])
        by_column -= below(start)
        by_column *= repeats[:, None]
        total[begin:end] = np.add.reduceat(by_column, offsets(count)[:-1], axis=0)
    return total


I16 = npt.NDArray[np.int16]
MOST_TABULATED = 2**28  # most pages times nodes of a region whose homes follow no rule: a gigabyte of counts
NO_HOME = -1  # the home of a page that is not placed, or whose bytes live on several nodes


class Homes(ABC):
    """The homes of the pages of one region; each class says what ``node`` has."""

    node: npt.NDArray[np.integer[Any]]
    page_bytes: int

    @abstractmethod
    def of_pages(self, pages: int) -> I16:
        """Return [pages] the nodes of the first ``pages`` pages."""

    @abstractmethod
    def bytes_by_home(self, spans: Spans, nodes: int) -> I64:
        """Return [spans, nodes] the bytes of each access on each node."""

    def pages_by_home(self, pages: int, nodes: int) -> I64:
        """Return [nodes] how many of the first ``pages`` pages live on each node."""
        whole = Spans(*(np.array([part], np.int64) for part in (0, pages * self.page_bytes, 1, 0)))
        return np.asarray(self.bytes_by_home(whole, nodes)[0] // self.page_bytes)

    @property
    def single(self) -> int | None:
        """Return the node on which all pages live, or None if pages live on several nodes."""
        return int(self.node[0]) if (self.node == self.node[0]).all() else None

    @property
    def alike(self) -> bool:
        """Return whether accesses of equal rows and strides have equally many bytes on each node at any offset."""
        return self.single is not None


class CyclicHomes(Frozen, Homes):
    """Page p lives on ``node[p mod len(node)]``; an index of ``node`` is a slot."""

    node: I64
    page_bytes: int

    def of_pages(self, pages: int) -> I16:
        """Return [pages] the nodes of the first ``pages`` pages."""
        return np.resize(self.node.astype(np.int16), pages)

    def bytes_by_home(self, spans: Spans, nodes: int) -> I64:
        """Return [spans, nodes] the bytes of each access on each node."""
        period = self.page_bytes * len(self.node)
        distinct = np.minimum(period // np.gcd(spans.stride, period), spans.rows)
        by_slot = _summed_rows(spans, distinct, len(self.node), self._below)
        total = np.zeros((len(by_slot), nodes), np.int64)
        for slot, home in enumerate(self.node):
            total[:, home] += by_slot[:, slot]
        return total

    def _below(self, position: I64) -> I64:
        """Return [positions, slots] how many of the bytes 0 .. position - 1 lie in the pages of each slot."""
        cycles, rest = np.divmod(position, self.page_bytes * len(self.node))
        begin = np.arange(len(self.node), dtype=np.int64) * self.page_bytes
        return cycles[:, None] * self.page_bytes + np.clip(rest[:, None] - begin, 0, self.page_bytes)


class SteppedHomes(Frozen, Homes):
    """Pages ``first[i]`` to ``first[i + 1] - 1`` live on ``node[i]``."""

    first: I64
    node: I64
    page_bytes: int

    def of_pages(self, pages: int) -> I16:
        """Return [pages] the nodes of the first ``pages`` pages."""
        length = np.diff(np.append(np.minimum(self.first, pages), pages))
        return np.repeat(self.node.astype(np.int16), length)

    def bytes_by_home(self, spans: Spans, nodes: int) -> I64:
        """Return [spans, nodes] the bytes of each access on each node."""
        border = self.first * self.page_bytes
        reach = spans.offset + (spans.rows - 1) * spans.stride + spans.row_bytes
        low = np.searchsorted(border, spans.offset, side="right") - 1
        high = np.searchsorted(border, np.maximum(reach - 1, spans.offset), side="right") - 1
        touched = high - low + 1  # steps that each access touches
        access = np.repeat(np.arange(len(low)), touched)
        step = ragged(low, touched)
        mine = Spans(*(part[access] for part in spans))
        end = np.append(border[1:], np.iinfo(np.int64).max)[step]
        total = np.zeros((len(spans.offset), nodes), np.int64)
        np.add.at(total, (access, self.node[step]), _bytes_below(mine, end) - _bytes_below(mine, border[step]))
        return total


class TabulatedHomes(Frozen, Homes):
    """Page p lives on ``node[p]``."""

    node: I16
    page_bytes: int
    nodes: int

    def of_pages(self, pages: int) -> I16:
        """Return [pages] the nodes of the first ``pages`` pages."""
        return self.node[:pages]

    def pages_by_home(self, pages: int, nodes: int) -> I64:
        """Return [nodes] how many of the first ``pages`` pages live on each node."""
        return np.bincount(self.node[:pages], minlength=nodes)

    def bytes_by_home(self, spans: Spans, nodes: int) -> I64:
        """Return [spans, nodes] the bytes of each access on each node."""
        return _summed_rows(spans, spans.rows, self.nodes, self._below)

    def _below(self, position: I64) -> I64:
        """Return [positions, nodes] how many of the bytes 0 .. position - 1 live on each node."""
        page, rest = np.divmod(position, self.page_bytes)
        found = self._pages_before[page].astype(np.int64) * self.page_bytes
        home = self.node[np.minimum(page, len(self.node) - 1)]  # behind the last page ``rest`` is 0
        found[np.arange(len(page)), home] += rest
        return found

    @cached_property
    def _pages_before(self) -> npt.NDArray[np.int32]:
        """Return [pages + 1, nodes] how many pages before each page live on each node."""
        before = np.zeros((len(self.node) + 1, self.nodes), np.int32)
        before[np.arange(1, len(self.node) + 1), self.node] = 1
        return np.cumsum(before, axis=0, out=before)


class HashedHomes(Frozen, Homes):
    """The bytes of every page live on all nodes of ``node``, in grains of ``grain`` bytes.

    Hashing spreads any access evenly: the grains of an access are dealt to the nodes in ascending order, whatever the
    addresses.
    """

    node: I64  # ascending
    grain: int

    def of_pages(self, pages: int) -> I16:
        """Return [pages] the only node if there is one node, else `NO_HOME`: the bytes of a page live on all nodes."""
        return np.full(pages, NO_HOME if self.single is None else self.single, np.int16)

    def pages_by_home(self, pages: int, nodes: int) -> I64:
        """Return [nodes] the pages dealt evenly to the nodes; the first nodes get the remainder."""
        dealt: I64 = _dealt(np.array([pages]), 1, self.node, nodes)[0]
        return dealt

    def bytes_by_home(self, spans: Spans, nodes: int) -> I64:
        """Return [spans, nodes] the bytes of each access on each node."""
        return _dealt(spans.row_bytes * spans.rows, self.grain, self.node, nodes)

    @property
    def alike(self) -> bool:
        """Return True: hashing spreads any access evenly."""
        return True


def _dealt(count: I64, grain: int, node: I64, nodes: int) -> I64:
    """Return [counts, nodes] ``count`` dealt to the nodes ``node`` in turn, in grains; the last grain may be short."""
    grains, rest = np.divmod(count, grain)
    rounds, over = np.divmod(grains, len(node))
    slot = np.arange(len(node))
    dealt = (rounds[:, None] + (slot < over[:, None])) * grain
    dealt += np.where(slot == over[:, None], rest[:, None], 0)
    total = np.zeros((len(count), nodes), np.int64)
    total[:, node] = dealt
    return total


def require_tabulated(name: str, pages: int, nodes: int) -> None:
    """Raise InputError if a table with the home of each page of the region ``name`` would be too large."""
    if pages * nodes > MOST_TABULATED:
        problem = f"region {name!r} has {pages} pages, too many to place one by one on {nodes} nodes"
        expected = f"at most {MOST_TABULATED // nodes} pages, or a policy with a closed form such as interleave"
        raise InputError(problem, path=("strategy", "placement"), expected=expected)


def row_homes(page_home: npt.NDArray[np.integer], page_bytes: int, row_bytes: int) -> I64:
    """Return [rows] the node of the first page of every row of ``row_bytes`` bytes (Vikranth's thesis, Table 5.1).

    ``page_home`` [pages] is the node of each page, -1 for an unplaced page; every row begins in one of these pages.
    """
    rows = -(-len(page_home) * page_bytes // row_bytes)
    return np.asarray(page_home[np.arange(rows) * row_bytes // page_bytes], np.int64)
