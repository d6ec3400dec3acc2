"""The blocks of memory that a program allocated: which of them an address was in, at what time, and who touched it."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from numasim.runtime.record.event_kinds import Event
from numasim.runtime.record.event_times import TimedEvents

SAMPLES = 16  # pages of a large block that the recorder looks at
LARGE_BYTES = 65536  # the blocks of which it does


@dataclass
class Block:
    """An allocated block or a variable, and whether the program wrote it before it was in a parallel region."""

    number: int
    address: int
    bytes: int
    initialised: bool
    name: str = ""  # of a variable


@dataclass(frozen=True)
class MemoryEvent:
    """A change of the blocks, or a question: ``kind`` is an `Event`, or `QUESTION` with a number in ``value``."""

    tick: int
    kind: int
    address: int
    value: int = 0
    name: str = ""


QUESTION = 0
FROM_THE_START = -1  # before all ticks: when the variables come to exist


def memory_events(threads: Sequence[TimedEvents]) -> list[MemoryEvent]:
    """Variables, allocations, releases, looks at pages and begins of parallel regions of all threads."""
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
    """The name whose bytes are in ``words``, seven in each."""
    return b"".join(word.to_bytes(8, "little")[:7] for word in words).rstrip(b"\0").decode(errors="replace")


def blocks_at(events: Iterable[MemoryEvent], questions: Sequence[tuple[int, int]]) -> list[Block | None]:
    """For each of ``questions``, (tick, address), the block that the address was in, or None.

    A block was initialised before the parallel part if most of the pages that were looked at existed when the region
    began in which it is asked for first; a small one, if it was allocated before the first region.
    """
    asked = [MemoryEvent(tick, QUESTION, address, at) for at, (tick, address) in enumerate(questions)]
    order = {Event.GLOBAL: 0, Event.ALLOCATE: 0, Event.TOUCHED: 1, Event.PARALLEL: 2, QUESTION: 3, Event.RELEASE: 4}
    live = _Live()
    found: list[Block | None] = [None] * len(questions)
    for event in sorted([*events, *asked], key=lambda each: (each.tick, order[each.kind])):
        if event.kind == QUESTION:
            found[event.value] = live.asked(event.address)
        else:
            live.change(event)
    return found


class _Live:
    """The blocks that exist at some moment."""

    def __init__(self) -> None:
        self._addresses: list[int] = []
        self._blocks: dict[int, Block] = {}
        self._asked: set[int] = set()
        self._parallel = False
        self._made = 0

    def change(self, event: MemoryEvent) -> None:
        """Take an event that is no question."""
        match event.kind:
            case Event.ALLOCATE | Event.GLOBAL:
                if event.address not in self._blocks:
                    insort(self._addresses, event.address)
                written = event.value < LARGE_BYTES and not self._parallel
                self._blocks[event.address] = Block(self._made, event.address, event.value, written, event.name)
                self._made += 1
            case Event.RELEASE:
                if self._blocks.pop(event.address, None):
                    del self._addresses[bisect_right(self._addresses, event.address) - 1]
            case Event.TOUCHED:
                block = self._blocks.get(event.address)
                if block and block.number not in self._asked:
                    block.initialised = 2 * event.value >= SAMPLES
            case Event.PARALLEL:
                self._parallel = True

    def asked(self, address: int) -> Block | None:
        """The block that ``address`` is in."""
        at = bisect_right(self._addresses, address) - 1
        block = self._blocks[self._addresses[at]] if at >= 0 else None
        if block is None or address >= block.address + block.bytes:
            return None
        self._asked.add(block.number)
        return block


# ---- How many bytes a task accesses by a dependence. A dependence names an address, not a size -----------------------
#
# The size is a guess from all addresses that dependences name in the same block of memory. The first rule that
# applies decides:
#
# 1. Only the beginning of the block is named. The task accesses the whole block; this is no guess.
# 2. The addresses are the beginnings of the tiles of a row-major matrix that fills the block. A tile is as wide as the
# smallest gap between addresses. A wider gap begins the next group of tiles, and groups begin at even distances. A row
# of the matrix is as long as the largest group. A tile has as many rows as lie between the beginnings of two groups.
# 3. Otherwise the task accesses the bytes from its address to the next address, or to the end of the block.


class Footprint(NamedTuple):
    """``rows`` rows of ``row_bytes`` bytes, ``stride`` bytes apart, and whether that is a guess."""

    row_bytes: int
    rows: int = 1
    stride: int = 0
    guessed: bool = True


def footprints(offsets: Sequence[int], size: int) -> dict[int, Footprint]:
    """The footprint at each of ``offsets``: bytes from the beginning of a block of ``size`` bytes, ascending."""
    if list(offsets) == [0]:
        return {0: Footprint(size, guessed=False)}
    tile = _tile(offsets, size)
    if tile is not None:
        return dict.fromkeys(offsets, tile)
    return {offset: Footprint(end - offset) for offset, end in pairwise([*offsets, size])}


def _tile(offsets: Sequence[int], size: int) -> Footprint | None:
    """A tile of a matrix of ``size`` bytes whose tiles begin at ``offsets``; None where they are not those of tiles."""
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
