"""Dependences that follow from the data that tasks read and write, as with the ``depend`` clauses of OpenMP.

A task waits only for tasks that were created before the task. Before a read of bytes, the task waits for the last
writer of the bytes (read after write). Before a write, the task waits for the last writer and for all later readers
(write after write, write after read). Blocks of memory may overlap in any way: a region is cut at the ends of all
blocks.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field
from operator import index
from typing import NamedTuple, SupportsIndex

from numasim.errors import InputError

NOBODY = -1


class _Piece:
    """Bytes that were always accessed together: the end, the last writer, and the readers after the last write."""

    __slots__ = ("end", "readers", "writer")

    def __init__(self, end: int, writer: int, readers: list[int]) -> None:
        self.end, self.writer, self.readers = end, writer, readers


class RegionHistory:
    """The last accesses to the bytes of a region, among the tasks of one parent."""

    __slots__ = ("_begins", "_pieces")

    def __init__(self) -> None:
        self._begins: list[int] = []  # first bytes of the pieces, ascending; other bytes were not accessed
        self._pieces: dict[int, _Piece] = {}

    def access(self, task: int, begin: int, end: int, writes: bool, found: set[int]) -> None:
        """Let ``task`` read or write the bytes from ``begin`` to ``end``; add its predecessors to ``found``."""
        piece = self._pieces.get(begin)
        pieces = [piece] if piece is not None and piece.end == end else self._cut(begin, end)
        for each in pieces:
            if each.writer != NOBODY and not (writes and each.readers):
                found.add(each.writer)
            if writes:
                found.update(each.readers)
                each.writer, each.readers = task, []
            elif not each.readers or each.readers[-1] != task:
                each.readers.append(task)
        found.discard(task)

    def _cut(self, begin: int, end: int) -> list[_Piece]:
        """Return the pieces of the bytes from ``begin`` to ``end``, after cutting pieces at both ends."""
        self._split(begin)
        self._split(end)
        found, at = [], begin
        while at < end:
            piece = self._pieces.get(at)
            if piece is None:
                following = bisect_right(self._begins, at)
                stop = min(end, self._begins[following]) if following < len(self._begins) else end
                piece = self._pieces[at] = _Piece(stop, NOBODY, [])
                insort(self._begins, at)
            found.append(piece)
            at = piece.end
        return found

    def _split(self, at: int) -> None:
        number = bisect_left(self._begins, at) - 1
        if number < 0 or at in self._pieces:
            return
        piece = self._pieces[self._begins[number]]
        if piece.end > at:
            self._pieces[at] = _Piece(piece.end, piece.writer, list(piece.readers))
            piece.end = at
            insort(self._begins, at)


# ---- The memory of a task graph made in Python: regions, and parts of regions that tasks read and write --------


class Block(NamedTuple):
    """Consecutive bytes of a region."""

    region: DataRegion
    offset: int
    size: int


@dataclass(frozen=True, eq=False)
class DataRegion:
    """A contiguous range of memory of a graph; ``region[a:b]`` are the bytes from a up to b."""

    graph: object = field(repr=False)
    number: int
    name: str
    size: int

    def __getitem__(self, span: slice) -> Block:
        """Return the bytes of a slice without a step; raise InputError if the slice is empty or leaves the region."""
        if not isinstance(span, slice) or span.step not in (None, 1):
            raise InputError(f"got {span!r} in region {self.name!r}", expected="a range of bytes such as [0:4096]")
        first, end = 0 if span.start is None else span.start, self.size if span.stop is None else span.stop
        if not 0 <= first < end <= self.size:
            expected = f"at least one byte of 0 to {self.size}"
            raise InputError(f"the bytes {first} to {end} are not in region {self.name!r}", expected=expected)
        return Block(self, first, end - first)

    @property
    def whole(self) -> Block:
        """The part of all bytes of the region."""
        return Block(self, 0, self.size)


@dataclass(frozen=True, eq=False)
class Tiles:
    """A region cut into ``rows`` x ``columns`` tiles of ``tile_bytes`` bytes, row by row; ``tiles[i, j]`` is a tile."""

    region: DataRegion
    rows: int
    columns: int
    tile_bytes: int

    def __getitem__(self, place: tuple[int, int]) -> Block:
        """Return the tile in a row and a column, both from 0; raise InputError if the tile does not exist."""
        name, is_pair = self.region.name, isinstance(place, tuple) and len(place) == 2
        if not (is_pair and all(isinstance(each, SupportsIndex) for each in place)):
            raise InputError(f"got {place!r} in {name!r}", expected="a row and a column such as [0, 1]")
        row, column = map(index, place)
        if not (0 <= row < self.rows and 0 <= column < self.columns):
            expected = f"rows 0 to {self.rows - 1} and columns 0 to {self.columns - 1}"
            raise InputError(f"there is no tile [{row}, {column}] of {name!r}", expected=expected)
        return Block(self.region, (row * self.columns + column) * self.tile_bytes, self.tile_bytes)
