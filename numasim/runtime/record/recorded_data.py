"""Regions of memory, and the segments that access them: as the program declares, or else by the program's dependences.

A program declares accesses with `numasim/record.h`. If a program declares none, a task is assumed to access the data
that its dependences name. A dependence names an address without a size. The size is then the size of the memory block
or variable, if no other dependence names an address in the block; else the size is a guess (`footprints`). An address
outside all recorded blocks and variables stands for one cache line, which is a guess, too.
"""

from __future__ import annotations

import shutil
from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from numasim.errors import InputError
from numasim.runtime.record.event_files import Dependence, Event
from numasim.runtime.record.event_times import TimedEvents
from numasim.runtime.record.event_walk import Walked
from numasim.runtime.record.recorded_rows import Rows
from numasim.schema.enumerations import MOST_ACCESS_ROWS
from numasim.workload.graph import Mode, Op, Region

# ---- the blocks of memory that a program allocated -------------------------------------------------------------------

SAMPLES = 16  # pages of a large block whose existence the recorder checks
LARGE_BYTES = 65536  # the least size of a large block


@dataclass(eq=False)
class Block:
    """An allocated block or a variable, and whether the program wrote it before its first parallel region.

    An address may have different blocks at different times.
    """

    address: int
    bytes: int
    initialised: bool
    name: str = ""  # the name of a variable
    asked: bool = False  # whether a question of `blocks_at` was about an address in the block


@dataclass(frozen=True)
class MemoryEvent:
    """A change of the blocks, or a question about an address. ``kind`` is an `Event`, or `QUESTION` with the question's
    number in ``value``.
    """

    tick: int
    kind: int
    address: int
    value: int = 0
    name: str = ""


QUESTION = 0
FROM_THE_START = -1  # a time before all ticks, at which global variables begin to exist


def memory_events(threads: Sequence[TimedEvents]) -> list[MemoryEvent]:
    """Return the variables, allocations, releases, counts of touched pages and begins of regions of all threads."""
    found = []
    for thread in threads:
        for events in (thread.aside, thread.events):
            first, operands = events.first.tolist(), events.operands.tolist()
            rows = zip(events.kind.tolist(), events.argument.tolist(), events.ticks.tolist(), first[:-1], strict=True)
            for kind, argument, tick, at in rows:
                match kind:
                    case Event.GLOBAL:
                        address, size, *words = operands[at : at + argument]
                        found.append(MemoryEvent(FROM_THE_START, kind, address, size, _text(words)))
                    case Event.ALLOCATE:
                        found.append(MemoryEvent(tick, kind, operands[at], operands[at + 1]))
                    case Event.RELEASE:
                        found.append(MemoryEvent(tick, kind, operands[at]))
                    case Event.TOUCHED:
                        found.append(MemoryEvent(tick, kind, operands[at], argument))
                    case Event.PARALLEL:
                        found.append(MemoryEvent(tick, kind, 0))
    return found


def _text(words: Sequence[int]) -> str:
    """Return the name whose bytes are packed in ``words``, seven bytes in each word."""
    return b"".join(word.to_bytes(8, "little")[:7] for word in words).rstrip(b"\0").decode(errors="replace")


def blocks_at(events: Iterable[MemoryEvent], questions: Sequence[tuple[int, int]]) -> list[Block | None]:
    """Return, for each (tick, address) of ``questions``, the block that had the address at this time, or None.

    A large block was initialised before the parallel part if most of its sampled pages existed at the begin of the
    region with the first question about the block. A small block was initialised if it was allocated before the first
    region.
    """
    asked = [MemoryEvent(tick, QUESTION, address, at) for at, (tick, address) in enumerate(questions)]
    order = {Event.GLOBAL: 0, Event.ALLOCATE: 0, Event.TOUCHED: 1, Event.PARALLEL: 2, QUESTION: 3, Event.RELEASE: 4}
    addresses: list[int] = []  # the addresses of the existing blocks, in ascending order
    live: dict[int, Block] = {}  # the existing blocks by their addresses
    is_parallel = False
    found: list[Block | None] = [None] * len(questions)
    for event in sorted([*events, *asked], key=lambda each: (each.tick, order[each.kind])):
        match event.kind:
            case Event.ALLOCATE | Event.GLOBAL:
                if event.address not in live:
                    insort(addresses, event.address)
                written = event.value < LARGE_BYTES and not is_parallel
                live[event.address] = Block(event.address, event.value, written, event.name)
            case Event.RELEASE:
                if live.pop(event.address, None):
                    del addresses[bisect_right(addresses, event.address) - 1]
            case Event.TOUCHED:
                block = live.get(event.address)
                if block and not block.asked:
                    block.initialised = 2 * event.value >= SAMPLES
            case Event.PARALLEL:
                is_parallel = True
            case _:  # a question
                at = bisect_right(addresses, event.address) - 1
                block = live[addresses[at]] if at >= 0 else None
                if block and event.address < block.address + block.bytes:
                    block.asked = True
                    found[event.value] = block
    return found


# ---- the number of bytes that a task accesses by a dependence, which names an address but no size --------------------
#
# The size is a guess, based on all addresses that dependences name in the same block of memory. The first applicable
# rule decides:
#
# 1. Only the beginning of the block is named. The task accesses the whole block; this size is not a guess.
# 2. The addresses are the beginnings of the tiles of a row-major matrix that fills the block. A tile is as wide as the
# smallest gap between addresses. A wider gap begins the next group of tiles, and groups begin at even distances. A row
# of the matrix is as long as the largest group. A tile has as many rows as lie between the beginnings of two groups.
# 3. Otherwise the task accesses the bytes from its address to the next address, or to the end of the block.


class Footprint(NamedTuple):
    """Size of an access: ``rows`` rows of ``row_bytes`` bytes, ``stride`` bytes apart, and whether it is a guess."""

    row_bytes: int
    rows: int = 1
    stride: int = 0
    guessed: bool = True


def footprints(offsets: Sequence[int], size: int) -> dict[int, Footprint]:
    """Return the footprint at each of ``offsets``: ascending, in bytes from the begin of a block of ``size`` bytes."""
    if list(offsets) == [0]:
        return {0: Footprint(size, guessed=False)}
    tile = _tile(offsets, size)
    if tile is not None:
        return dict.fromkeys(offsets, tile)
    return {offset: Footprint(end - offset) for offset, end in pairwise([*offsets, size])}


def _tile(offsets: Sequence[int], size: int) -> Footprint | None:
    """Return the tile of a matrix of ``size`` bytes whose tiles begin at ``offsets``; None if no matrix fits."""
    gaps = [after - before for before, after in pairwise(offsets)]
    width = min(gaps, default=size)
    firsts = [0, *(at for at, gap in enumerate(gaps, 1) if gap > width)]
    longest = max(after - before for before, after in pairwise([*firsts, len(offsets)]))
    height, row = size // len(firsts), longest * width
    begins = [offsets[at] for at in firsts]
    evenly = begins == list(range(0, size, height)) and len(begins) * height == size
    if len(firsts) < 2 or longest < 2 or not evenly or height % row:
        return None
    return Footprint(width, height // row, row)


# ---- regions and accesses --------------------------------------------------------------------------------------------

LINE_BYTES = 64
ARGUMENT_MASK = (1 << 32) - 1
OUTSIDE = "static and stack memory"
_MODES: dict[int, Mode] = {Dependence.IN: Mode.READ, Dependence.OUT: Mode.WRITE}


class Access(NamedTuple):
    """An access to ``rows`` pieces of ``row_bytes`` bytes, ``stride`` bytes apart, from ``offset`` on in a region."""

    region: int
    offset: int
    row_bytes: int
    rows: int
    stride: int
    mode: int


@dataclass(frozen=True)
class RecordedData:
    """The regions of memory, and for the number of each segment that accesses memory, its accesses.

    ``source`` says where the accesses come from; "" if there are none. ``guessed`` counts the accesses with a guessed
    size. ``unknown`` counts the addresses of such accesses outside all blocks and variables.
    """

    regions: tuple[Region, ...] = ()
    accesses: Mapping[int, list[Access]] = field(default_factory=dict)
    source: str = ""
    unknown: int = 0
    guessed: int = 0


@dataclass(frozen=True)
class _Use:
    """An access of a segment at some time, from ``address`` on. For a dependence, ``row_bytes`` is 0."""

    segment: int
    tick: int
    address: int
    row_bytes: int
    mode: int
    rows: int = 1
    stride: int = 0

    @property
    def extent(self) -> int:
        """Return the bytes from the first byte to the last byte of the access; a cache line if the size is unknown."""
        return (self.rows - 1) * self.stride + self.row_bytes or LINE_BYTES


def data_of(rows: Rows, walked: Walked, threads: Sequence[TimedEvents]) -> RecordedData:
    """Return the data of a recording. Raise InputError for declared rows that overlap or exceed their memory block."""
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
    """Return the accesses of tasks by their dependences, assigned to the first segment of each task."""
    found = []
    for row, number in enumerate(rows.task):
        task = walked.tasks[number]
        segment = next((op & ARGUMENT_MASK for op in rows.ops[row] if op >> 32 == Op.RUN), None)
        if segment is not None and task.dependences:
            modes: dict[int, int] = {}
            for address, kind in task.dependences:
                if address:
                    mode = _MODES.get(kind, Mode.READ_WRITE)
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
    """The regions: one for each used block, and one for each span of used memory outside all blocks."""

    def __init__(self, placed: Sequence[tuple[_Use, Block | None]]) -> None:
        self.found: list[Region] = []
        self.guessed = 0
        named: dict[Block, set[int]] = {}  # for each block, the offsets of the used addresses
        for use, block in placed:
            if block is not None:
                named.setdefault(block, set()).add(use.address - block.address)
        for number, block in enumerate(named, 1):
            name = block.name or f"block {number}"
            taken = name in {region.name for region in self.found}
            self.found.append(Region(f"{name} {number}" if taken else name, block.bytes, block.initialised))
        self._of_block = {block: at for at, block in enumerate(named)}
        self._footprints = {block: footprints(sorted(each), block.bytes) for block, each in named.items()}
        self._spans = merged([(use.address, use.address + use.extent) for use, block in placed if block is None])
        for number, (begin, end) in enumerate(self._spans, 1):
            self.found.append(Region(f"{OUTSIDE} {number}", end - begin, True))

    def access(self, use: _Use, block: Block | None) -> Access:
        """Return the access with a region number and an offset in place of an address."""
        if block is None:
            span = bisect_right(self._spans, (use.address, 1 << 64)) - 1
            region, offset = len(self._of_block) + span, use.address - self._spans[span][0]
            self.guessed += not use.row_bytes
            return Access(region, offset, use.row_bytes or LINE_BYTES, use.rows, use.stride, use.mode)
        offset, region = use.address - block.address, self._of_block[block]
        if not use.row_bytes:
            own = self._footprints[block][offset]
            self.guessed += own.guessed
            return Access(region, offset, own.row_bytes, own.rows, own.stride, use.mode)
        if offset + use.extent > block.bytes:
            problem = f"the program declares an access of {use.extent:,} bytes, {offset:,} bytes into a block"
            raise InputError(problem, expected=f"at most {block.bytes - offset:,} bytes: the block has {block.bytes:,}")
        return Access(region, offset, use.row_bytes, use.rows, use.stride, use.mode)


def merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the union of ``spans``, each (begin, end), in ascending order. Adjacent spans become one span."""
    found: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found


# ---- declarations of accesses: if a program declares accesses, a recording without any is an error -------------------

SECTION = b".numasim.record"  # a section of every program that includes numasim/record.h


def require_declared(program: str, data: RecordedData) -> None:
    """Raise InputError if ``program`` contains the mark of numasim/record.h, but no access was declared."""
    found = shutil.which(program)
    try:
        if found is None or data.source == "declared accesses" or SECTION not in Path(found).read_bytes():
            return
    except OSError:
        return
    raise InputError(
        "the program includes numasim/record.h, but no declared access was recorded",
        place=program,
        expected="calls of ns_record_access that run, in a program of position-independent code, as compilers "
        "make it by default (not -no-pie, not -static)",
    )
