"""The homes of a region's pages that are known before a run: in closed form, or page by page (model 2.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError
from numasim.strategy.placement.byte_spans import PagePrefix, Spans, cyclic_bytes, stepped_bytes

I64 = npt.NDArray[np.int64]
I16 = npt.NDArray[np.int16]
MOST_TABULATED = 2**28  # pages times nodes of a region whose homes follow no rule: a gigabyte
NO_HOME = -1  # of a page that is not placed, or whose bytes live on several nodes


class Homes(Protocol):
    """The homes of the pages of one region."""

    def of_page(self, page: int) -> int:
        """Return the node of ``page``."""
        ...

    def of_pages(self, pages: int) -> I16:
        """[pages] the nodes of the first ``pages`` pages."""
        ...

    def pages_by_home(self, pages: int, nodes: int) -> I64:
        """[nodes] how many of the first ``pages`` pages live on each node."""
        ...

    def bytes_by_home(self, spans: Spans, nodes: int) -> I64:
        """[spans, nodes] the bytes of each access on each node."""
        ...

    @property
    def single(self) -> int | None:
        """The node of every page, or None when there are several."""
        ...

    @property
    def alike(self) -> bool:
        """Whether accesses of one shape have the same bytes on each node, wherever they are."""
        ...


@dataclass(frozen=True)
class CyclicHomes:
    """Page p lives on ``node[p mod len(node)]``."""

    node: I64
    page_bytes: int

    def of_page(self, page: int) -> int:
        """Return the node of ``page``."""
        return int(self.node[page % len(self.node)])

    def of_pages(self, pages: int) -> I16:
        """[pages] the nodes of the first ``pages`` pages."""
        return np.resize(self.node.astype(np.int16), pages)

    def pages_by_home(self, pages: int, nodes: int) -> I64:
        """[nodes] how many of the first ``pages`` pages live on each node."""
        rounds, rest = divmod(pages, len(self.node))
        total = np.zeros(nodes, np.int64)
        np.add.at(total, self.node, rounds + (np.arange(len(self.node)) < rest))
        return total

    def bytes_by_home(self, spans: Spans, nodes: int) -> I64:
        """[spans, nodes] the bytes of each access on each node."""
        by_slot = cyclic_bytes(spans, self.page_bytes, len(self.node))
        total = np.zeros((len(by_slot), nodes), np.int64)
        for slot, home in enumerate(self.node):
            total[:, home] += by_slot[:, slot]
        return total

    @property
    def single(self) -> int | None:
        """The node of every page, or None when there are several."""
        return int(self.node[0]) if (self.node == self.node[0]).all() else None

    @property
    def alike(self) -> bool:
        """Only where all pages live on one node."""
        return self.single is not None


@dataclass(frozen=True)
class SteppedHomes:
    """Pages ``first[i]`` to ``first[i + 1] - 1`` live on ``node[i]``."""

    first: I64
    node: I64
    page_bytes: int

    def of_page(self, page: int) -> int:
        """Return the node of ``page``."""
        return int(self.node[np.searchsorted(self.first, page, side="right") - 1])

    def of_pages(self, pages: int) -> I16:
        """[pages] the nodes of the first ``pages`` pages."""
        length = np.diff(np.append(np.minimum(self.first, pages), pages))
        return np.repeat(self.node.astype(np.int16), length)

    def pages_by_home(self, pages: int, nodes: int) -> I64:
        """[nodes] how many of the first ``pages`` pages live on each node."""
        length = np.diff(np.append(np.minimum(self.first, pages), pages))
        total = np.zeros(nodes, np.int64)
        np.add.at(total, self.node, length)
        return total

    def bytes_by_home(self, spans: Spans, nodes: int) -> I64:
        """[spans, nodes] the bytes of each access on each node."""
        access, step, count = stepped_bytes(spans, self.first * self.page_bytes)
        total = np.zeros((len(spans.offset), nodes), np.int64)
        np.add.at(total, (access, self.node[step]), count)
        return total

    @property
    def single(self) -> int | None:
        """The node of every page, or None when there are several."""
        return int(self.node[0]) if len(self.node) == 1 else None

    @property
    def alike(self) -> bool:
        """Only where all pages live on one node."""
        return self.single is not None


@dataclass(frozen=True)
class TabulatedHomes:
    """Page p lives on ``node[p]``."""

    node: I16
    page_bytes: int
    nodes: int

    def of_page(self, page: int) -> int:
        """Return the node of ``page``."""
        return int(self.node[page])

    def of_pages(self, pages: int) -> I16:
        """[pages] the nodes of the first ``pages`` pages."""
        return self.node[:pages]

    def pages_by_home(self, pages: int, nodes: int) -> I64:
        """[nodes] how many of the first ``pages`` pages live on each node."""
        return np.bincount(self.node[:pages], minlength=nodes)

    def bytes_by_home(self, spans: Spans, nodes: int) -> I64:
        """[spans, nodes] the bytes of each access on each node."""
        return self._prefix.bytes_by_home(spans)

    @cached_property
    def _prefix(self) -> PagePrefix:
        return PagePrefix(self.node, self.page_bytes, self.nodes)

    @property
    def single(self) -> int | None:
        """The node of every page, or None when there are several."""
        return int(self.node[0]) if (self.node == self.node[0]).all() else None

    @property
    def alike(self) -> bool:
        """Only where all pages live on one node."""
        return self.single is not None


@dataclass(frozen=True)
class HashedHomes:
    """The bytes of every page live on all of ``node``, ``grain`` bytes of them on each in turn.

    Hashing spreads any access evenly, so its grains are dealt to the nodes in ascending order, whatever its addresses.
    """

    node: I64  # ascending
    grain: int

    def of_page(self, page: int) -> int:
        """No page lives on one node, unless there is only one."""
        return NO_HOME if self.single is None else self.single

    def of_pages(self, pages: int) -> I16:
        """[pages] likewise."""
        return np.full(pages, self.of_page(0), np.int16)

    def pages_by_home(self, pages: int, nodes: int) -> I64:
        """[nodes] the pages dealt evenly, the remainder to the first nodes."""
        dealt: I64 = _dealt(np.array([pages]), 1, self.node, nodes)[0]
        return dealt

    def bytes_by_home(self, spans: Spans, nodes: int) -> I64:
        """[spans, nodes] the bytes of each access on each node."""
        return _dealt(spans.row_bytes * spans.rows, self.grain, self.node, nodes)

    @property
    def single(self) -> int | None:
        """The node of every page, or None when there are several."""
        return int(self.node[0]) if len(self.node) == 1 else None

    @property
    def alike(self) -> bool:
        """Hashing spreads any access evenly."""
        return True


def _dealt(count: I64, grain: int, node: I64, nodes: int) -> I64:
    """[counts, nodes] ``count`` in grains, dealt to ``node`` in turn from the first one on; the last may be short."""
    grains, rest = np.divmod(count, grain)
    rounds, over = np.divmod(grains, len(node))
    slot = np.arange(len(node))
    dealt = (rounds[:, None] + (slot < over[:, None])) * grain
    dealt += np.where(slot == over[:, None], rest[:, None], 0)
    total = np.zeros((len(count), nodes), np.int64)
    total[:, node] = dealt
    return total


def on_one(node: int, page_bytes: int) -> CyclicHomes:
    """Every page on ``node``."""
    return CyclicHomes(np.array([node]), page_bytes)


def in_blocks(page_node: I64, pages: int, page_bytes: int) -> SteppedHomes:
    """Page p of n on ``page_node[floor(p * L / n)]`` with L the number of blocks; equal neighbours are merged."""
    blocks = len(page_node)
    first = -(-np.arange(blocks, dtype=np.int64) * pages // blocks)
    filled = np.append(first[1:], pages) > first
    first, node = first[filled], page_node[filled]
    changes = np.append(True, node[1:] != node[:-1])
    return SteppedHomes(first[changes], node[changes], page_bytes)


def require_tabulated(name: str, pages: int, nodes: int) -> None:
    """Raise InputError where the homes of so many pages, one by one, would not fit."""
    if pages * nodes > MOST_TABULATED:
        raise InputError(
            f"region {name!r} has {pages} pages, too many to place one by one on {nodes} nodes",
            path=("strategy", "placement"),
            expected=f"at most {MOST_TABULATED // nodes} pages, or a policy with a closed form such as interleave",
        )


def row_homes(page_home: npt.NDArray[np.integer], page_bytes: int, row_bytes: int) -> I64:
    """[rows] the node of the first page of every row of ``row_bytes`` bytes (thesis Table 5.1).

    ``page_home`` [pages] is the node of each page, -1 where it has none yet; the rows are those that begin in it.
    """
    rows = -(-len(page_home) * page_bytes // row_bytes)
    return np.asarray(page_home[np.arange(rows) * row_bytes // page_bytes], np.int64)
