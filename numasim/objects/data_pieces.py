"""The memory of a task graph that is made in Python: regions, and pieces of them that tasks read and write."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import NamedTuple, SupportsIndex

from numasim.errors import InputError


class Block(NamedTuple):
    """Consecutive bytes of a region."""

    region: DataRegion
    offset: int
    size: int


@dataclass(frozen=True, eq=False)
class DataRegion:
    """A contiguous range of memory of a graph; ``region[a:b]`` is its bytes from a up to b, both in bytes."""

    graph: object
    number: int
    name: str
    size: int

    def __getitem__(self, span: slice) -> Block:
        """The bytes of a slice without a step; InputError for one that is empty or leaves the region."""
        if not isinstance(span, slice) or span.step not in (None, 1):
            raise InputError(f"got {span!r} in region {self.name!r}", expected="a range of bytes such as [0:4096]")
        first, end = 0 if span.start is None else span.start, self.size if span.stop is None else span.stop
        if not 0 <= first < end <= self.size:
            raise InputError(
                f"the bytes {first} to {end} are not in region {self.name!r}",
                expected=f"at least one byte of 0 to {self.size}",
            )
        return Block(self, first, end - first)

    @property
    def whole(self) -> Block:
        """All of its bytes."""
        return Block(self, 0, self.size)


@dataclass(frozen=True, eq=False)
class Tiles:
    """A region cut into ``rows`` x ``columns`` tiles of ``tile_bytes`` bytes, row by row; ``tiles[i, j]`` is one."""

    region: DataRegion
    rows: int
    columns: int
    tile_bytes: int

    def __getitem__(self, place: tuple[int, int]) -> Block:
        """The tile in a row and a column, from 0; InputError if there is none."""
        if not (
            isinstance(place, tuple) and len(place) == 2 and all(isinstance(each, SupportsIndex) for each in place)
        ):
            raise InputError(f"got {place!r} in {self.region.name!r}", expected="a row and a column such as [0, 1]")
        row, column = map(index, place)
        if not (0 <= row < self.rows and 0 <= column < self.columns):
            raise InputError(
                f"there is no tile [{row}, {column}] of {self.region.name!r}",
                expected=f"rows 0 to {self.rows - 1} and columns 0 to {self.columns - 1}",
            )
        return Block(self.region, (row * self.columns + column) * self.tile_bytes, self.tile_bytes)
