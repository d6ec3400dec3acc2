"""Regions of memory and which segments access them: as the program declares it, or else by its dependences.

A program declares accesses with `numasim/record.h`. Where it declares none, a task is taken to access what its
dependences name: from the address to the next one of another dependence in the same block of memory, or to the end of
the block. An address in no block that was recorded stands for one cache line.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from numasim.errors import InputError
from numasim.record.event_kinds import Dependence
from numasim.record.event_times import TimedEvents
from numasim.record.event_walk import Walked
from numasim.record.memory_blocks import Block, blocks_at, memory_events
from numasim.record.recorded_rows import Rows
from numasim.workload.graph import Mode, Op, Region
from numasim.workload.recorded import Recorded

LINE_BYTES = 64
ARGUMENT_MASK = (1 << 32) - 1
OUTSIDE = "static and stack memory"
_MODES = {Dependence.IN: Mode.READ, Dependence.OUT: Mode.WRITE}
Access = tuple[int, int, int, int]  # region, offset, bytes, mode


@dataclass(frozen=True)
class RecordedData:
    """The regions, and by segment its accesses.

    ``source`` says where they are from, "" where there are none; ``unknown`` counts addresses of dependences whose
    bytes are not known, each of which stands for a cache line.
    """

    regions: tuple[Region, ...] = ()
    accesses: Mapping[int, list[Access]] = field(default_factory=dict)
    source: str = ""
    unknown: int = 0
    guessed: int = 0

    def counted(self, place: Recorded) -> Recorded:
        """``place`` with how many sizes there are, and how many of them are guesses."""
        return replace(place, sizes=sum(map(len, self.accesses.values())), guessed_sizes=self.guessed)


@dataclass(frozen=True)
class _Use:
    """An access of a segment to ``bytes`` from ``address`` on, at some time; of a dependence the bytes are 0."""

    segment: int
    tick: int
    address: int
    bytes: int
    mode: int


def data_of(rows: Rows, walked: Walked, threads: Sequence[TimedEvents]) -> RecordedData:
    """The data of a recording. InputError for a declared access that runs beyond its block of memory."""
    declared = [_Use(at, *each) for at, accesses in rows.accesses.items() for each in accesses]
    uses = declared or _by_dependences(rows, walked)
    if not uses:
        return RecordedData()
    blocks = blocks_at(memory_events(threads), [(use.tick, use.address) for use in uses])
    placed = list(zip(uses, blocks, strict=True))
    regions = _Regions(placed)
    accesses: dict[int, list[Access]] = {}
    for use, block in placed:
        accesses.setdefault(use.segment, []).append(regions.access(use, block))
    source = "declared accesses" if declared else "dependences"
    unknown = 0 if declared else len({use.address for use, block in placed if block is None})
    return RecordedData(tuple(regions.found), accesses, source, unknown)


def _by_dependences(rows: Rows, walked: Walked) -> list[_Use]:
    """What tasks use by their dependences, in the first segment of each."""
    found = []
    for row, number in enumerate(rows.task):
        task = walked.tasks[number]
        segment = next((op & ARGUMENT_MASK for op in rows.ops[row] if op >> 32 == Op.RUN), None)
        if segment is not None and task.dependences:
            modes: dict[int, int] = {}
            for address, kind in task.dependences:
                if address:
                    mode = _MODES.get(Dependence(kind), Mode.READ_WRITE)
                    modes[address] = modes.get(address, 0) | mode
            found += [_Use(segment, task.made, address, 0, mode) for address, mode in modes.items()]
    return found


class _Regions:
    """A region for each block that is used, and one for each span of memory in no block."""

    def __init__(self, placed: Sequence[tuple[_Use, Block | None]]) -> None:
        self.found: list[Region] = []
        self._of_block: dict[int, int] = {}
        self._starts: dict[int, list[int]] = {}  # by block, the addresses of dependences
        for use, block in placed:
            if block is not None:
                self._add_block(block)
                self._starts.setdefault(block.number, []).append(use.address)
        for number, starts in self._starts.items():
            self._starts[number] = sorted(set(starts))
        spans = [(use.address, use.address + (use.bytes or LINE_BYTES)) for use, block in placed if block is None]
        self._spans = merged(spans)
        self._first_span = len(self.found)
        for at, (begin, end) in enumerate(self._spans):
            self.found.append(Region(f"{OUTSIDE} {at + 1}", end - begin, True))

    def _add_block(self, block: Block) -> None:
        if block.number not in self._of_block:
            self._of_block[block.number] = len(self.found)
            self.found.append(Region(f"block {len(self.found) + 1}", block.bytes, block.initialised))

    def access(self, use: _Use, block: Block | None) -> Access:
        """The access as numbers of its region."""
        if block is None:
            span = bisect_right(self._spans, (use.address, 1 << 64)) - 1
            offset = use.address - self._spans[span][0]
            return self._first_span + span, offset, use.bytes or LINE_BYTES, use.mode
        offset = use.address - block.address
        size = use.bytes or self._to_next(use.address, block)
        if offset + size > block.bytes:
            problem = f"the program declares an access of {use.bytes:,} bytes, {offset:,} bytes into a block"
            raise InputError(problem, expected=f"at most {block.bytes - offset:,} bytes: the block has {block.bytes:,}")
        return self._of_block[block.number], offset, size, use.mode

    def _to_next(self, address: int, block: Block) -> int:
        starts = self._starts[block.number]
        after = bisect_right(starts, address)
        return (starts[after] if after < len(starts) else block.address + block.bytes) - address


def merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The union of ``spans``, (begin, end) each, in ascending order; spans that touch are one."""
    found: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found
