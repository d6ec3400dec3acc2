"""Measured times of cache lines between processors, as a matrix, and the levels that the matrix shows.

Four tables are read: the CSV file and the terminal's table of core-to-core-latency, the table of c2clat (also inside a
program for gnuplot), and the CSV file of CoherencyLatency. All of them print nanoseconds one way. A program that
measures keeps its cache line on one memory page for the whole run, so on one node: on processors that ask the line's
home node (AMD's EPYC), pairs far from this node are slower than others of the same level.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from numasim.errors import InputError
from numasim.parts.base import MOST_PROCESSORS

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
GAP = 1.25  # the times of two levels differ by at least this factor
WITHIN = 0.15  # levels stand for a matrix if nine of ten pairs are within this part of the time of their level
ODD = 1.5  # a pair whose time differs by this factor from the time of its level fits no level
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_CELL = re.compile(r"[0-9]{1,9}(\.[0-9]{0,30})?")
_NUMBERS = re.compile(r"\s*(CPU\s+)?[0-9]{1,6}(\s+[0-9]{1,6})*\s*")
_ERROR = re.compile(r"\s*±\s*[0-9.]+")  # the standard error behind a time on the terminal


@dataclass(frozen=True)
class CoreTimes:
    """Times in ns to move a cache line between two processors, one way.

    ``ns`` is [processors, processors] and NaN where nothing was measured; ``cpus`` has the system's number of each row,
    or is None if the table has none; ``place`` is the file and the line of the first row.
    """

    ns: Floats
    cpus: tuple[int, ...] | None
    place: str

    @property
    def source(self) -> str:
        """Return the name of the file, without its folders, and the line of the first row."""
        return Path(self.place).name

    @property
    def both_ways(self) -> Floats:
        """Return [processors, processors] the mean of both directions, or the direction that was measured."""
        other = self.ns.T
        mean = np.where(np.isnan(self.ns), other, np.where(np.isnan(other), self.ns, (self.ns + other) / 2))
        np.fill_diagonal(mean, 0)
        return mean


def read_core_times(text: str, name: str) -> CoreTimes | None:
    """Return the matrix in the text of the file ``name``, or None if the text has no such matrix.

    Raise InputError with the line if the rows of a matrix do not fit together.
    """
    lines = _COLOUR.sub("", text).splitlines()
    found = _comma_rows(lines, name) if any("," in line for line in lines[:3]) else _table_rows(lines, name)
    if found is None or not np.isfinite(found.ns).any():
        return None
    if np.isnan(found.both_ways).any():
        raise InputError("some pairs of processors have no time", place=found.place, expected="a time for each pair")
    return found


def _comma_rows(lines: Sequence[str], name: str) -> CoreTimes | None:
    rows = [(at, [cell.strip() for cell in line.split(",")]) for at, line in enumerate(lines, 1) if line.strip()]
    if rows and rows[0][1][0] == "offset":
        rows = [(at, cells[1:]) for at, cells in rows[1:]]
    if not rows or not all(cell in ("", "x") or _CELL.fullmatch(cell) for _, cells in rows for cell in cells):
        return None
    return _matrix(rows, None, name)


def _table_rows(lines: Sequence[str], name: str) -> CoreTimes | None:
    """Read a header of processors' numbers and a row for each of these processors that begins with its number."""
    for at, line in enumerate(lines):
        head = line.split()
        if not _NUMBERS.fullmatch(line) or len(head) < 2 + (head[0] == "CPU"):
            continue
        cpus = tuple(int(word) for word in head if word != "CPU")
        rows = list(_rows_of(lines[at + 1 :], at + 2, cpus))
        if len(rows) == len(cpus):
            return _matrix(rows, cpus, name)
    return None


def _rows_of(lines: Sequence[str], first: int, cpus: Sequence[int]) -> Iterator[tuple[int, list[str]]]:
    for at, (line, cpu) in enumerate(zip(lines, cpus, strict=False)):
        head, *cells = _ERROR.sub("", line).split() or [""]
        if head != str(cpu) or not all(map(_CELL.fullmatch, cells)):
            return
        yield first + at, cells


def _matrix(rows: Sequence[tuple[int, Sequence[str]]], cpus: tuple[int, ...] | None, name: str) -> CoreTimes | None:
    count = len(rows)
    if count < 2 or count > MOST_PROCESSORS:
        return None
    ns = np.full((count, count), np.nan)
    for place, (at, cells) in enumerate(rows):
        if len(cells) > count:
            problem = f"the row of processor {place} has {len(cells)} cells"
            raise InputError(problem, place=f"{name}:{at}", expected=f"at most {count}, one for each row")
        for column, cell in enumerate(cells):
            if column != place and cell not in ("", "x"):
                ns[place, column] = float(cell)
    ns[ns == 0] = np.min(ns[ns > 0], initial=2.0) / 2  # less than a step of the measuring program's clock
    return CoreTimes(ns, cpus, f"{name}:{rows[0][0]}")


# ---- levels ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Level:
    """Pairs of processors that share a unit of this level and of no narrower level.

    ``unit`` is [processors] the number of each processor's unit. ``median_ns``, ``low_ns`` and ``high_ns`` are the
    median, the tenth and the ninetieth percentile of the times of ``pairs`` pairs. Of nodes or sockets whose medians
    differ by `GAP` only the fastest count, since the measuring program's line lay on a page near them; ``far`` is the
    number of pairs that do not count for this reason.
    """

    unit: Ints
    median_ns: float
    low_ns: float
    high_ns: float
    pairs: int
    far: int


@dataclass(frozen=True)
class Levels:
    """The levels of a matrix, narrow levels first, and how far the pairs are from the times of their levels.

    ``errors`` has the part by which the time of a pair's level differs from the pair's time, for each pair that counts;
    ``odd`` has the pairs of rows whose times differ by a factor of `ODD` or more.
    """

    levels: tuple[Level, ...]
    errors: Floats
    odd: tuple[tuple[int, int], ...]

    @property
    def stand_for_the_matrix(self) -> bool:
        """Return whether nine of ten pairs are within `WITHIN` of the time of their level."""
        return float(np.percentile(self.errors, 90)) <= WITHIN


def levels_of_units(times: CoreTimes, units: Sequence[Ints], homed: Collection[int] = ()) -> Levels:
    """Return the levels of given units, narrow units first; each of ``units`` has the unit of each processor.

    The time of a level is the median over its pairs. Levels without pairs are left out. ``homed`` has the places in
    ``units`` of nodes and sockets: of these units only those near the measured line's page count.
    """
    ns = times.both_ways
    upper = np.triu_indices(len(ns), 1)
    value = ns[upper]
    open_pairs = np.ones(len(value), bool)
    expected = np.full(len(value), np.nan)
    found = []
    for at, unit in enumerate(units):
        mine = open_pairs & (unit[upper[0]] == unit[upper[1]])
        open_pairs &= ~mine
        if not mine.any():
            continue
        near = mine
        if at in homed:
            near = mine & np.isin(unit[upper[0]], _near_units(value[mine], unit[upper[0][mine]]))
        low, median, high = np.percentile(value[near], (10, 50, 90))
        counted = int(near.sum())
        found.append(Level(unit, float(median), float(low), float(high), counted, int(mine.sum()) - counted))
        expected[near] = median
    known = np.isfinite(expected)
    factor = np.maximum(value[known] / expected[known], expected[known] / value[known])
    rows, columns = (side[known][factor >= ODD].tolist() for side in upper)
    errors = np.abs(expected[known] - value[known]) / value[known]
    return Levels(tuple(found), errors, tuple(zip(rows, columns, strict=True)))


def _near_units(value: Floats, unit: Ints) -> Ints:
    """Return the units whose median is less than `GAP` times the least median of a unit."""
    medians = {int(each): float(np.median(value[unit == each])) for each in np.unique(unit)}
    return np.array([each for each, median in medians.items() if median < GAP * min(medians.values())], np.int64)


def found_levels(times: CoreTimes) -> Levels:
    """Return the levels that the matrix shows by itself.

    Processors are joined into ever larger groups by the mean time between groups (average linkage). A level ends where
    the next joining takes `GAP` times as long, if the groups are then equally large, or pairs and single processors (as
    on a hybrid processor), or at most twice as large as others.
    """
    ns = times.both_ways
    joined = linkage(squareform(ns, checks=False), "average")
    height = joined[:, 2]
    units = []
    for lower, upper in pairwise(height):
        if upper >= GAP * lower:
            unit = fcluster(joined, (lower + upper) / 2, "distance").astype(np.int64)
            if _is_regular(np.bincount(unit)[1:]):
                units.append(unit)
    whole = np.zeros(len(ns), np.int64)
    kept = [unit for unit, wider in pairwise([*units, whole]) if _largest(unit) < _largest(wider)]
    return levels_of_units(times, [*kept, whole])


def _largest(unit: Ints) -> int:
    return int(np.unique(unit, return_counts=True)[1].max())


def _is_regular(sizes: Ints) -> bool:
    different = np.unique(sizes)
    if len(different) == 1:
        return bool(different[0] > 1)
    hybrid = different.tolist() == [1, 2] and bool(4 * (sizes == 2).sum() >= sizes.sum())
    return hybrid or bool(sizes.min() > 1 and sizes.max() <= 2 * sizes.min())
