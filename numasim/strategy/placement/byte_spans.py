"""Counting the bytes of two-dimensional accesses by page class, exactly and without walking pages.

An access is ``rows`` pieces of ``row_bytes`` bytes, ``stride`` bytes apart. For a memory cut at a few borders, the
bytes below a border follow from how many rows end before it; for one that repeats with a period, rows repeat as well.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]
CELLS_AT_ONCE = 1 << 21  # rows times slots that temporaries hold


class Spans(NamedTuple):
    """Accesses, one an entry."""

    offset: I64
    row_bytes: I64
    rows: I64
    stride: I64


def stepped_bytes(spans: Spans, border: I64) -> tuple[I64, I64, I64]:
    """Return (access, step, bytes) for the steps that each access touches; step i begins at byte ``border[i]``."""
    reach = spans.offset + (spans.rows - 1) * spans.stride + spans.row_bytes
    low = np.searchsorted(border, spans.offset, side="right") - 1
    high = np.searchsorted(border, np.maximum(reach - 1, spans.offset), side="right") - 1
    touched = high - low + 1
    access = np.repeat(np.arange(len(low)), touched)
    step = np.arange(len(access)) - np.repeat(np.cumsum(touched) - touched, touched) + low[access]
    mine = Spans(*(part[access] for part in spans))
    end = np.append(border[1:], np.iinfo(np.int64).max)[step]
    return access, step, _bytes_below(mine, end) - _bytes_below(mine, border[step])


def _bytes_below(spans: Spans, border: I64) -> I64:
    """Return [accesses] the bytes of each access before its ``border``, by counting the rows that end before it."""
    offset, row_bytes, rows, stride = spans
    step = np.maximum(stride, 1)
    whole = np.clip((border - row_bytes - offset) // step + 1, 0, rows)
    begun = np.clip(-((offset - border) // step), whole, rows)
    cut = begun - whole  # rows that cross the border; more than one only where rows overlap
    inside = cut * (border - offset) - stride * (cut * (whole + begun - 1) // 2)
    constant = np.clip(border - offset, 0, row_bytes) * rows
    return np.asarray(np.where(stride > 0, whole * row_bytes + inside, constant))


def cyclic_bytes(spans: Spans, page_bytes: int, slots: int) -> I64:
    """Return [accesses, slots] the bytes of each access in pages p with ``p mod slots`` equal to the slot."""
    period = page_bytes * slots
    distinct = np.minimum(period // np.gcd(spans.stride, period), spans.rows)
    total = np.zeros((len(distinct), slots), np.int64)
    for some in _batches(distinct, max(1, CELLS_AT_ONCE // slots)):
        access = np.repeat(np.arange(some.start, some.stop), distinct[some])
        first = np.cumsum(distinct[some]) - distinct[some]
        row = np.arange(len(access)) - np.repeat(first, distinct[some])
        repeats = -(-(spans.rows[access] - row) // distinct[access])
        start = (spans.offset[access] + row * spans.stride[access]) % period
        by_slot = _below_in_slots(start + spans.row_bytes[access], page_bytes, slots)
        by_slot -= _below_in_slots(start, page_bytes, slots)
        by_slot *= repeats[:, None]
        total[some] = np.add.reduceat(by_slot, first, axis=0)
    return total


def _batches(rows: I64, most: int) -> list[slice]:
    """Cut the accesses into runs of about ``most`` rows."""
    batch = np.cumsum(rows) // most
    starts = np.flatnonzero(np.diff(batch, prepend=-1))
    return [slice(a, b) for a, b in zip(starts.tolist(), [*starts[1:].tolist(), len(rows)], strict=True)]


def _below_in_slots(position: I64, page_bytes: int, slots: int) -> I64:
    """Return [positions, slots] how many of the bytes 0 .. position - 1 lie in each slot's pages."""
    cycles, rest = np.divmod(position, page_bytes * slots)
    begin = np.arange(slots, dtype=np.int64) * page_bytes
    return cycles[:, None] * page_bytes + np.clip(rest[:, None] - begin, 0, page_bytes)


class PagePrefix:
    """How many of the pages before each one live on each node, for memory whose homes follow no rule."""

    def __init__(self, home: npt.NDArray[np.integer[Any]], page_bytes: int, nodes: int) -> None:
        self._home = np.append(home, 0)
        self._page_bytes = page_bytes
        self._before = np.zeros((len(home) + 1, nodes), np.int32)
        self._before[np.arange(1, len(home) + 1), home] = 1
        np.cumsum(self._before, axis=0, out=self._before)

    def bytes_by_home(self, spans: Spans) -> I64:
        """Return [accesses, nodes] the bytes of each access on each node."""
        total = np.zeros((len(spans.offset), self._before.shape[1]), np.int64)
        for some in _batches(spans.rows, max(1, CELLS_AT_ONCE // self._before.shape[1])):
            rows = spans.rows[some]
            access = np.repeat(np.arange(some.start, some.stop), rows)
            first = np.cumsum(rows) - rows
            row = np.arange(len(access)) - np.repeat(first, rows)
            start = spans.offset[access] + row * spans.stride[access]
            by_home = self._below(start + spans.row_bytes[access]) - self._below(start)
            total[some] = np.add.reduceat(by_home, first, axis=0)
        return total

    def _below(self, position: I64) -> I64:
        """Return [positions, nodes] how many of the bytes 0 .. position - 1 live on each node."""
        page, rest = np.divmod(position, self._page_bytes)
        found = self._before[page].astype(np.int64) * self._page_bytes
        found[np.arange(len(page)), self._home[page]] += rest
        return found
