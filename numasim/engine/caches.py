"""Last-level caches (model 2.4): what of an access is found in the own domain's cache, in another's, or in memory.

Memory is followed in chunks of 64 KiB. A chunk that an access has touched is present as a whole up to the bytes that
have been brought in; which bytes of it those are is not followed. Three models:

- ``none``: every pass goes to memory.
- ``share``: a chunk belongs to the domain that touched it last. It is there as long as it and what has been brought
  into that cache since fit into it, and if it is dirty, other domains find it there as well. One record a chunk and
  one comparison: no list has to be kept. Of further passes over an access, a worker's fair share serves its part: the
  cache over the number of workers that have work in its domain.
- ``lru``: every domain keeps its chunks in order of use and drops the least recently used ones. It says how good
  ``share`` is. A write takes the chunk from all other domains.

Writing fetches what is written first (read for ownership) and writes it back some time; both count as traffic where
the chunk was not found. A dirty chunk that is found in another domain's cache comes from there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from numasim.engine.plan import Plan

CHUNK_BYTES = 1 << 16
Pieces = Iterable[tuple[int, int]]  # (chunk, bytes touched of it), each chunk once, in ascending order


class Place(NamedTuple):
    """Where an access comes from: ``share_bytes`` is the worker's fair share of its domain's cache."""

    domain: int
    node: int
    share_bytes: int


@dataclass(slots=True)
class Found:
    """What one pass over an access found: bytes in the own cache, bytes by sending node from others' caches."""

    hit: int = 0
    moved: dict[int, int] = field(default_factory=dict)


class Cache(Protocol):
    """The last-level caches of a machine."""

    def first_pass(self, place: Place, region: int, pieces: Pieces, *, writes: bool) -> Found:
        """Walk an access once."""

    def later_pass(self, place: Place, region: int, pieces: Pieces, footprint: int) -> tuple[int, int]:
        """The fraction, as (part, whole), of each further pass that the last-level cache serves."""


class NoCache:
    """Every pass goes to memory."""

    def first_pass(self, place: Place, region: int, pieces: Pieces, *, writes: bool) -> Found:
        """Find nothing."""
        return Found()

    def later_pass(self, place: Place, region: int, pieces: Pieces, footprint: int) -> tuple[int, int]:
        """Find nothing."""
        return 0, 1


class ChunkCache(ABC):
    """Caches that are asked chunk by chunk, ``(region, chunk)``."""

    def first_pass(self, place: Place, region: int, pieces: Pieces, *, writes: bool) -> Found:
        """Walk an access once."""
        found = Found()
        for chunk, touched in pieces:
            self._touch(place, (region, chunk), touched, writes, found)
        return found

    @abstractmethod
    def _touch(self, place: Place, key: tuple[int, int], touched: int, writes: bool, found: Found) -> None:
        """Look for ``touched`` bytes of a chunk and add what was found to ``found``."""


@dataclass(slots=True)
class Record:
    """The last touch of a chunk; ``stamp`` is the time of its domain by then."""

    domain: int
    node: int
    stamp: int
    bytes: int
    dirty: bool


class ShareCache(ChunkCache):
    """Chunks belong to the domain of their last touch and age with what it brings in.

    A domain's time is in bytes. A chunk is pushed back by all that is brought in after it, and by every older chunk
    that is found and so comes to the front: of the chunks in a cache about ``age / size`` are younger than one of that
    age. So much of what is found counts as brought in; without it a cache whose contents are used often enough would
    hold more than its size.
    """

    def __init__(self, llc_bytes: int, domains: int) -> None:
        self._llc_bytes = llc_bytes
        self._time = [0] * domains
        self._records: dict[tuple[int, int], Record] = {}

    def _touch(self, place: Place, key: tuple[int, int], touched: int, writes: bool, found: Found) -> None:
        record = self._records.get(key)
        hit, kept, dirty, passed = 0, min(CHUNK_BYTES, touched), writes, touched
        if record is not None and self._is_present(record, place.domain):
            here = min(touched, record.bytes)
            if record.domain == place.domain:
                hit, kept, dirty = here, min(CHUNK_BYTES, record.bytes + touched - here), writes or record.dirty
                passed = touched - hit + hit * self._age(record) // self._llc_bytes
            else:
                dirty = True
                found.moved[record.node] = found.moved.get(record.node, 0) + here
        found.hit += hit
        self._time[place.domain] += passed
        self._records[key] = Record(place.domain, place.node, self._time[place.domain], kept, dirty)

    def _age(self, record: Record) -> int:
        return self._time[record.domain] - record.stamp

    def _is_present(self, record: Record, domain: int) -> bool:
        fits = self._age(record) + record.bytes <= self._llc_bytes
        return fits and (record.dirty or record.domain == domain)

    def later_pass(self, place: Place, region: int, pieces: Pieces, footprint: int) -> tuple[int, int]:
        """The worker's share of the cache over the footprint of its segment."""
        return min(place.share_bytes, footprint), max(1, footprint)


@dataclass(slots=True)
class Line:
    """A chunk in one domain's cache."""

    bytes: int
    dirty: bool
    node: int


class LruCache(ChunkCache):
    """Every domain keeps chunks in order of use."""

    def __init__(self, llc_bytes: int, domains: int) -> None:
        self._llc_bytes = llc_bytes
        self._chunks: list[OrderedDict[tuple[int, int], Line]] = [OrderedDict() for _ in range(domains)]
        self._filled = [0] * domains

    def _touch(self, place: Place, key: tuple[int, int], touched: int, writes: bool, found: Found) -> None:
        mine = self._chunks[place.domain]
        line = mine.get(key)
        if line is not None:
            mine.move_to_end(key)
            here = min(touched, line.bytes)
            found.hit += here
        else:
            line = mine[key] = Line(0, False, place.node)
            here = self._fetch(place, key, touched, line, found)
        grown = min(CHUNK_BYTES, line.bytes + touched - here)
        self._filled[place.domain] += grown - line.bytes
        line.bytes, line.node = grown, place.node
        if writes:
            line.dirty = True
            self._drop_elsewhere(place.domain, key)
        self._evict(place.domain)

    def _fetch(self, place: Place, key: tuple[int, int], touched: int, line: Line, found: Found) -> int:
        """Take a chunk that is dirty in another domain from there; the bytes that come."""
        for chunks in self._chunks:
            other = chunks.get(key)
            if other is not None and other is not line and other.dirty:
                here = min(touched, other.bytes)
                found.moved[other.node] = found.moved.get(other.node, 0) + here
                self._filled[place.domain] += here
                line.bytes, line.dirty, other.dirty = here, True, False
                return here
        return 0

    def _drop_elsewhere(self, domain: int, key: tuple[int, int]) -> None:
        for other, chunks in enumerate(self._chunks):
            if other != domain:
                line = chunks.pop(key, None)
                self._filled[other] -= line.bytes if line is not None else 0

    def _evict(self, domain: int) -> None:
        chunks = self._chunks[domain]
        while self._filled[domain] > self._llc_bytes:
            _, line = chunks.popitem(last=False)
            self._filled[domain] -= line.bytes

    def later_pass(self, place: Place, region: int, pieces: Pieces, footprint: int) -> tuple[int, int]:
        """What a second walk over the access finds; a third would find the same."""
        found, whole = Found(), 0
        for chunk, touched in pieces:
            whole += touched
            self._touch(place, (region, chunk), touched, False, found)
        return found.hit, max(1, whole)


CACHES: dict[str, Callable[[int, int], Cache]] = {  # of the size and number of last-level caches
    "none": lambda llc_bytes, domains: NoCache(),
    "share": ShareCache,
    "lru": LruCache,
}


def cache_of(plan: Plan) -> Cache:
    """The last-level caches of the plan's machine; a machine without any finds nothing."""
    llc_bytes, domains = plan.machine.caches.llc_bytes, int(plan.machine.llc_of_core.max()) + 1
    return CACHES[plan.effects.cache](llc_bytes, domains) if llc_bytes else NoCache()
