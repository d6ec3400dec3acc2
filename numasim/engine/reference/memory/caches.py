"""Last-level caches (model 2.4): how much of an access is in the own domain's cache, in another's, or in memory.

A domain is the cores that share a last-level cache. Caches hold memory in chunks of 64 KiB. A chunk leaves a cache as a
whole. The bytes of a chunk that have been brought in are noted in parts of 1 KiB, so that neither blocks that share a
chunk nor rows of a wide matrix find bytes that nobody has fetched. There are three models:

- ``none``: every pass goes to memory.
- ``share``: a chunk that a domain has touched stays in the domain's cache as long as the chunk and the bytes that were
  brought into the cache after this touch fit into the cache together. Of further passes over an access, a cache serves
  the part of the segment's bytes that fits into the worker's fair share: the size of the cache over the number of
  workers of the domain that have work.
- ``lru``: every domain keeps its chunks in order of use and drops the least recently used chunks. Results under ``lru``
  show how accurate ``share`` is.

A write removes the chunk from all other domains. A chunk that is dirty (written and not yet written back) in another
domain's cache comes from that cache and stays dirty in the reader's cache. If caches forward, clean chunks come from
other domains, too: each sends the missing bytes that it has, beginning with the domain after the reader's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from numasim.plan.plan import Plan

CHUNK_BYTES = 1 << 16
PART_BYTES = CHUNK_BYTES // 64  # a chunk's parts are the bits of a word


class Piece(NamedTuple):
    """The bytes that an access touches in a chunk: the number of bytes, and the parts with these bytes as bits."""

    chunk: int
    bytes: int
    parts: int


Pieces = Iterable[Piece]  # each chunk once, in ascending order


class Place(NamedTuple):
    """The place from which an access comes: ``share_bytes`` is the worker's fair share of its domain's cache."""

    domain: int
    node: int
    share_bytes: int


@dataclass(slots=True)
class Found:
    """The bytes that one pass over an access found: in the own cache, and in other caches by sending node."""

    hit: int = 0
    moved: dict[int, int] = field(default_factory=dict)


class NoCache:
    """Every pass goes to memory."""

    def first_pass(self, place: Place, region: int, pieces: Pieces, *, writes: bool) -> Found:
        """Find nothing."""
        return Found()

    def later_pass(self, place: Place, region: int, pieces: Pieces, footprint: int) -> tuple[int, int]:
        """Find nothing."""
        return 0, 1


def found_of(piece: Piece, parts: int, held: int) -> int:
    """Return how many bytes of ``piece`` a cache holds that has ``held`` bytes of the chunk, in its ``parts``."""
    here = piece.bytes * (piece.parts & parts).bit_count() // piece.parts.bit_count()
    return min(here, held)


def missing_of(piece: Piece, parts: int, found: int) -> Piece:
    """Return what is left of ``piece`` after a cache that holds ``parts`` of the chunk gave ``found`` bytes."""
    return Piece(piece.chunk, piece.bytes - found, piece.parts & ~parts)


class ChunkCache(ABC):
    """The caches of all domains, asked chunk by chunk; the key of a chunk is (region, number of the chunk)."""

    def __init__(self, llc_bytes: Sequence[int], *, forwards: bool = False) -> None:
        self._llc_bytes = llc_bytes
        self._forwards = forwards

    def first_pass(self, place: Place, region: int, pieces: Pieces, *, writes: bool) -> Found:
        """Walk an access once, with its effect on the caches; return the bytes that were found."""
        found = Found()
        for piece in pieces:
            self._touch(place, region, piece, writes, found)
        return found

    @abstractmethod
    def later_pass(self, place: Place, region: int, pieces: Pieces, footprint: int) -> tuple[int, int]:
        """Return the fraction, as (part, whole), of each further pass that the last-level cache serves."""

    @abstractmethod
    def _touch(self, place: Place, region: int, piece: Piece, writes: bool, found: Found) -> None:
        """Access a piece of ``region``, with its effect on the caches; add the bytes in caches to ``found``."""

    @abstractmethod
    def _copy(self, domain: int, key: tuple[int, int]) -> Copy | None:
        """Return the copy of a chunk in the cache of a domain; None if there is none."""

    def _forward(self, mine: int, key: tuple[int, int], piece: Piece, found: Found) -> None:
        """Add to ``found`` the bytes of a piece that the domains after domain ``mine`` have, each byte once."""
        domains = len(self._llc_bytes)
        for step in range(1, domains):
            other = self._copy((mine + step) % domains, key) if piece.parts else None
            if other is not None:
                here = found_of(piece, other.parts, other.bytes)
                if here:
                    found.moved[other.node] = found.moved.get(other.node, 0) + here
                piece = missing_of(piece, other.parts, here)


@dataclass(slots=True)
class Copy:
    """A copy of a chunk in one domain's cache."""

    bytes: int  # bytes of the chunk that have been brought in
    parts: int  # the parts with these bytes, as bits
    node: int  # node of the worker that touched the copy last
    stamp: int = 0  # `ShareCache`: the domain's time at the last touch
    dirty: bool = False  # `LruCache`


@dataclass(slots=True)
class Chunk:
    """The copies of a chunk by domain, and the domain whose copy is dirty; -1: no copy is dirty."""

    copies: dict[int, Copy] = field(default_factory=dict)
    dirty: int = -1


class ShareCache(ChunkCache):
    """The model ``share``: chunks age with the bytes that their domain brings in.

    A domain's time is counted in bytes. In a least-recently-used order a chunk moves back with all bytes that are
    brought in after its touch, and with every older chunk that is touched and so comes to the front. Since about ``age
    / size`` of all chunks are younger than a touched chunk of that age, a touch adds this part of the chunk's bytes to
    the time. Otherwise a cache whose contents are used often would hold more than its size.
    """

    def __init__(self, llc_bytes: Sequence[int], *, forwards: bool = False) -> None:
        super().__init__(llc_bytes, forwards=forwards)
        self._time = [0] * len(llc_bytes)
        self._chunks: defaultdict[tuple[int, int], Chunk] = defaultdict(Chunk)

    def _touch(self, place: Place, region: int, piece: Piece, writes: bool, found: Found) -> None:
        key, mine = (region, piece.chunk), place.domain
        chunk = self._chunks[key]
        kept, parts, passed = piece.bytes, piece.parts, piece.bytes
        copy = self._present(chunk, mine)
        if copy is not None:
            here = found_of(piece, copy.parts, copy.bytes)
            found.hit += here
            kept, parts = copy.bytes + piece.bytes - here, copy.parts | piece.parts
            passed = piece.bytes - here + copy.bytes * self._age(copy, mine) // self._llc_bytes[mine]
            if self._forwards:
                self._forward(mine, key, missing_of(piece, copy.parts, here), found)
        elif self._forwards:
            self._forward(mine, key, piece, found)
        else:
            self._fetch(chunk, piece, mine, found)
        self._time[mine] += passed
        if writes:
            chunk.copies, chunk.dirty = {}, mine
        chunk.copies[mine] = Copy(min(CHUNK_BYTES, kept), parts, place.node, self._time[mine])

    def _copy(self, domain: int, key: tuple[int, int]) -> Copy | None:
        return self._present(self._chunks[key], domain)

    def _fetch(self, chunk: Chunk, piece: Piece, mine: int, found: Found) -> None:
        """If a chunk is dirty in another domain, add the piece's bytes there to ``found``; it is dirty here now."""
        other = self._present(chunk, chunk.dirty)
        if other is not None:
            found.moved[other.node] = found.moved.get(other.node, 0) + found_of(piece, other.parts, other.bytes)
            chunk.dirty = mine

    def _age(self, copy: Copy, domain: int) -> int:
        return self._time[domain] - copy.stamp

    def _present(self, chunk: Chunk, domain: int) -> Copy | None:
        copy = chunk.copies.get(domain)
        return copy if copy is not None and self._age(copy, domain) + copy.bytes <= self._llc_bytes[domain] else None

    def later_pass(self, place: Place, region: int, pieces: Pieces, footprint: int) -> tuple[int, int]:
        """Return (the worker's fair share of the cache, bytes of the segment), the first at most the second."""
        return min(place.share_bytes, footprint), max(1, footprint)


class LruCache(ChunkCache):
    """The model ``lru``: every domain keeps its chunks in order of use."""

    def __init__(self, llc_bytes: Sequence[int], *, forwards: bool = False) -> None:
        super().__init__(llc_bytes, forwards=forwards)
        self._chunks: list[OrderedDict[tuple[int, int], Copy]] = [OrderedDict() for _ in llc_bytes]
        self._filled = [0] * len(llc_bytes)

    def _touch(self, place: Place, region: int, piece: Piece, writes: bool, found: Found) -> None:
        mine, key = self._chunks[place.domain], (region, piece.chunk)
        line = mine.get(key)
        if line is not None:
            mine.move_to_end(key)
            here = found_of(piece, line.parts, line.bytes)
            found.hit += here
        else:
            line = mine[key] = Copy(0, 0, place.node)
            here = 0 if self._forwards else self._fetch(place, key, piece, line, found)
        if self._forwards:
            self._forward(place.domain, key, missing_of(piece, line.parts, here), found)
        grown = min(CHUNK_BYTES, line.bytes + piece.bytes - here)
        self._filled[place.domain] += grown - line.bytes
        line.bytes, line.parts, line.node = grown, line.parts | piece.parts, place.node
        if writes:
            line.dirty = True
            self._drop_elsewhere(place.domain, key)
        self._evict(place.domain)

    def _fetch(self, place: Place, key: tuple[int, int], piece: Piece, line: Copy, found: Found) -> int:
        """Take the bytes of the piece from the domain, if any, where the chunk is dirty; return how many there are."""
        for chunks in self._chunks:
            other = chunks.get(key)
            if other is not None and other is not line and other.dirty:
                here = found_of(piece, other.parts, other.bytes)
                found.moved[other.node] = found.moved.get(other.node, 0) + here
                self._filled[place.domain] += here
                line.bytes, line.dirty, other.dirty = here, True, False
                return here
        return 0

    def _copy(self, domain: int, key: tuple[int, int]) -> Copy | None:
        return self._chunks[domain].get(key)

    def _drop_elsewhere(self, domain: int, key: tuple[int, int]) -> None:
        for other, chunks in enumerate(self._chunks):
            if other != domain:
                line = chunks.pop(key, None)
                self._filled[other] -= line.bytes if line is not None else 0

    def _evict(self, domain: int) -> None:
        chunks = self._chunks[domain]
        while self._filled[domain] > self._llc_bytes[domain]:
            _, line = chunks.popitem(last=False)
            self._filled[domain] -= line.bytes

    def later_pass(self, place: Place, region: int, pieces: Pieces, footprint: int) -> tuple[int, int]:
        """Walk the access again, with its effect on the caches; return (the bytes that were found, all bytes)."""
        found, whole = Found(), 0
        for piece in pieces:
            whole += piece.bytes
            self._touch(place, region, piece, False, found)
        return found.hit, max(1, whole)


Cache = NoCache | ChunkCache
CACHES: dict[str, Callable[..., Cache]] = {  # makers of caches: from [domains] sizes in bytes, and whether they forward
    "none": lambda llc_bytes, forwards=False: NoCache(),
    "share": ShareCache,
    "lru": LruCache,
}


def cache_of(plan: Plan) -> Cache:
    """Return the last-level caches of the plan's machine, by the plan's model; `NoCache` without caches."""
    machine = plan.machine
    if not machine.caches.llc_bytes:
        return NoCache()
    return CACHES[plan.effects.cache](machine.llc_bytes_of_domain, forwards=machine.caches.forwards)
