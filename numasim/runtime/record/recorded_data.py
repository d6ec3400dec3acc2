"""Regions of memory and which segments access them: as the program declares it, or else by its dependences.

A program declares accesses with `numasim/record.h`. Where it declares none, a task is taken to access what its
dependences name. A dependence names an address and no size. The size is then that of the block of memory or of the
variable, if no other dependence names an address in it; else it is a guess (`footprints`). An address in no block and
no variable that was recorded stands for one cache line, which is a guess, too.
"""

from __future__ import annotations

import shutil
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from numasim.errors import InputError
from numasim.runtime.record.event_kinds import Dependence
from numasim.runtime.record.event_times import TimedEvents
from numasim.runtime.record.event_walk import Walked
from numasim.runtime.record.memory_blocks import Block, blocks_at, footprints, memory_events
from numasim.runtime.record.recorded_rows import Rows
from numasim.schema.enumerations import MOST_ACCESS_ROWS
from numasim.workload.graph import Mode, Op, Region
from numasim.workload.recording.recorded import Recorded

LINE_BYTES = 64
ARGUMENT_MASK = (1 << 32) - 1
OUTSIDE = "static and stack memory"
_MODES = {Dependence.IN: Mode.READ, Dependence.OUT: Mode.WRITE}


class Access(NamedTuple):
    """``rows`` pieces of ``row_bytes`` bytes, ``stride`` bytes apart, from ``offset`` on in a region, by its number."""

    region: int
    offset: int
    row_bytes: int
    rows: int
    stride: int
    mode: int


@dataclass(frozen=True)
class RecordedData:
    """The regions, and by segment its accesses.

    ``source`` says where they are from, "" where there are none; ``guessed`` counts accesses whose size is a guess,
    ``unknown`` the addresses among them that are in no block and in no variable.
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
    """An access of a segment from ``address`` on, at some time; of a dependence ``row_bytes`` are 0."""

    segment: int
    tick: int
    address: int
    row_bytes: int
    mode: int
    rows: int = 1
    stride: int = 0

    @property
    def extent(self) -> int:
        """Bytes from the first one to the last one; those of a line where nothing is said."""
        return (self.rows - 1) * self.stride + self.row_bytes or LINE_BYTES


def data_of(rows: Rows, walked: Walked, threads: Sequence[TimedEvents]) -> RecordedData:
    """The data of a recording. InputError for declared rows that overlap, and for those beyond their memory block."""
    declared = [_Use(at, *each) for at, accesses in rows.accesses.items() for each in accesses]
    _check_rows(declared)
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
    return RecordedData(tuple(regions.found), accesses, source, unknown, regions.guessed)


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


def _check_rows(declared: Iterable[_Use]) -> None:
    for use in declared:
        if use.rows > 1 and use.stride < use.row_bytes:
            problem = f"the program declares rows of {use.row_bytes:,} bytes that begin every {use.stride:,} bytes"
            raise InputError(
                problem, expected="a stride, the last but one argument of ns_record_tile, of at least that"
            )
        if use.rows > MOST_ACCESS_ROWS:
            problem = f"the program declares a tile of {use.rows:,} rows"
            raise InputError(problem, expected=f"at most {MOST_ACCESS_ROWS:,} rows, the second argument")


class _Regions:
    """A region for each block that is used, and one for each span of memory in no block."""

    def __init__(self, placed: Sequence[tuple[_Use, Block | None]]) -> None:
        self.found: list[Region] = []
        self.guessed = 0
        self._of_block: dict[int, int] = {}
        named: dict[int, set[int]] = {}  # by block, the addresses of dependences in it
        blocks: dict[int, Block] = {}
        for use, block in placed:
            if block is not None:
                self._add_block(block)
                blocks[block.number] = block
                named.setdefault(block.number, set()).add(use.address - block.address)
        self._footprints = {at: footprints(sorted(each), blocks[at].bytes) for at, each in named.items()}
        spans = [(use.address, use.address + use.extent) for use, block in placed if block is None]
        self._spans = merged(spans)
        self._first_span = len(self.found)
        for at, (begin, end) in enumerate(self._spans):
            self.found.append(Region(f"{OUTSIDE} {at + 1}", end - begin, True))

    def _add_block(self, block: Block) -> None:
        if block.number not in self._of_block:
            self._of_block[block.number] = len(self.found)
            taken = {region.name for region in self.found}
            name = block.name or f"block {len(self.found) + 1}"
            name = name if name not in taken else f"{name} {len(self.found) + 1}"
            self.found.append(Region(name, block.bytes, block.initialised))

    def access(self, use: _Use, block: Block | None) -> Access:
        """The access as numbers of its region."""
        if block is None:
            span = bisect_right(self._spans, (use.address, 1 << 64)) - 1
            offset = use.address - self._spans[span][0]
            self.guessed += not use.row_bytes
            return Access(self._first_span + span, offset, use.row_bytes or LINE_BYTES, use.rows, use.stride, use.mode)
        offset, region = use.address - block.address, self._of_block[block.number]
        if not use.row_bytes:
            own = self._footprints[block.number][offset]
            self.guessed += own.guessed
            return Access(region, offset, own.row_bytes, own.rows, own.stride, use.mode)
        if offset + use.extent > block.bytes:
            problem = f"the program declares an access of {use.extent:,} bytes, {offset:,} bytes into a block"
            raise InputError(problem, expected=f"at most {block.bytes - offset:,} bytes: the block has {block.bytes:,}")
        return Access(region, offset, use.row_bytes, use.rows, use.stride, use.mode)


def merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The union of ``spans``, (begin, end) each, in ascending order; spans that touch are one."""
    found: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found


# ---- Whether a program declares accesses: then a recording without any is an error, never a graph without bytes ------

SECTION = b".numasim.record"  # of the files of programs that include numasim/record.h


def require_declared(program: str, data: RecordedData) -> None:
    """InputError where the file of ``program`` declares accesses, and the recording has none of them."""
    if data.source != "declared accesses" and declares(program):
        raise InputError(
            "the program includes numasim/record.h, but no declared access was recorded",
            place=program,
            expected="calls of ns_record_access that run, in a program of position-independent code, as compilers "
            "make it by default (not -no-pie, not -static)",
        )


def declares(program: str) -> bool:
    """Whether the file of ``program`` has the mark of the header."""
    found = shutil.which(program)
    try:
        return found is not None and SECTION in Path(found).read_bytes()
    except OSError:
        return False
