"""Dependences that follow from the data that tasks read and write, as OpenMP's ``depend`` clauses give them.

In the order of their creation a task waits for the last writer of what it reads (read after write), and, of what it
writes, for its last writer and for those that have read it since (write after write, write after read). Blocks of
memory may overlap in any way: each region is cut at all their ends.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort

NOBODY = -1


class _Piece:
    """Bytes that were always accessed together: who wrote them last, and who has read them since."""

    __slots__ = ("end", "readers", "writer")

    def __init__(self, end: int, writer: int, readers: list[int]) -> None:
        self.end, self.writer, self.readers = end, writer, readers


class RegionHistory:
    """Who accessed the bytes of one region last, among the tasks of one parent."""

    __slots__ = ("_begins", "_pieces")

    def __init__(self) -> None:
        self._begins: list[int] = []  # of the pieces, ascending; bytes outside of them were not accessed
        self._pieces: dict[int, _Piece] = {}

    def access(self, task: int, begin: int, end: int, writes: bool, found: set[int]) -> None:
        """Let ``task`` read or write the bytes from ``begin`` to ``end``, and add to ``found`` those it waits for."""
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
        """The pieces that make up the bytes from ``begin`` to ``end``, after cutting those that cross these."""
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
