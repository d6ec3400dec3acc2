"""Last-level caches: the cache model `lru` against lists kept by hand, the rules of the model `share`, runs with both.

Caches hold memory in chunks of 64 KiB; a domain is the cores that share a cache. The machine of the runs has two
sockets of one core: a line takes 100 ns from the own node's memory, 200 ns from the other's, 20 ns from the own cache,
60 ns from the other cache; ten sequential misses overlap.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from engine_setup import NS, Seen, run, stealing, toy_with
from hypothesis import given
from hypothesis import strategies as st
from task_graphs import Access, Run, body, graph, in_turn, items

from numasim.engine.reference.memory.caches import (
    CACHES,
    CHUNK_BYTES,
    PART_BYTES,
    Cache,
    Found,
    LruCache,
    Piece,
    Place,
    ShareCache,
)
from numasim.plan.effects import Effects
from numasim.workload.graph import Deal, Mode, Region, Workload

KIB = 1024
CHUNK, PART = CHUNK_BYTES, PART_BYTES
REAL = ("share", "lru")

Touch = tuple[int, int, set[int], bool]  # domain, chunk, parts of the chunk, whether the touch writes
parts_of_a_chunk = st.sets(st.integers(0, CHUNK // PART - 1), min_size=1) | st.just(set(range(CHUNK // PART)))
touches = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9), parts_of_a_chunk, st.booleans()), max_size=60)


def walk(cache: Cache, domain: int, chunks: range | tuple[int, ...], size: int = CHUNK, writes: bool = False) -> Found:
    """Walk the first ``size`` bytes of each chunk from ``domain``; each domain is a node."""
    parts = (1 << min(CHUNK // PART, -(-size // PART))) - 1
    pieces = [Piece(chunk, size, parts) for chunk in chunks]
    return cache.first_pass(Place(domain, domain, CHUNK), 0, pieces, writes=writes)


def walk_parts(cache: Cache, touch: Touch) -> Found:
    """Walk whole parts of a chunk."""
    domain, chunk, parts, writes = touch
    piece = Piece(chunk, len(parts) * PART, sum(1 << part for part in parts))
    return cache.first_pass(Place(domain, domain, CHUNK), 0, [piece], writes=writes)


# ---- lru -----------------------------------------------------------------------------------------------------------


def least_recently_used(sequence: list[Touch], llc_bytes: list[int]) -> Iterator[tuple[int, dict[int, int]]]:
    """Return (bytes found in the own cache, bytes by domain found dirty in the caches of others) of each touch.

    Each domain is a list of [chunk, parts, dirty], the most recently used last.
    """
    domains: list[list[list[Any]]] = [[], [], []]
    for domain, chunk, parts, writes in sequence:
        own = next((line for line in domains[domain] if line[0] == chunk), None)
        dirty = [d for d in range(3) if d != domain for line in domains[d] if line[0] == chunk and line[2]]
        there, moved = set(), {}
        if own is None and dirty:
            (other,) = dirty  # a chunk is dirty in no more than one cache
            line = next(line for line in domains[other] if line[0] == chunk)
            there, line[2] = parts & line[1], False
            moved = {other: len(there) * PART}
        kept = own if own is not None else [chunk, there, bool(dirty)]
        here = len(parts & own[1]) * PART if own is not None else 0
        domains[domain] = [line for line in domains[domain] if line is not own]
        domains[domain].append([chunk, kept[1] | parts, kept[2] or writes])
        if writes:
            domains = [[line for line in lines if d == domain or line[0] != chunk] for d, lines in enumerate(domains)]
        while sum(len(line[1]) * PART for line in domains[domain]) > llc_bytes[domain]:
            del domains[domain][0]
        yield here, moved


rooms = st.sampled_from([CHUNK // 2, CHUNK, 3 * CHUNK, 5 * CHUNK + 7])


@given(touches, st.lists(rooms, min_size=3, max_size=3))
def test_lru_is_what_lists_kept_by_hand_say(sequence: list[Touch], llc_bytes: list[int]) -> None:
    cache = LruCache(llc_bytes)
    found = [walk_parts(cache, touch) for touch in sequence]
    assert [(each.hit, each.moved) for each in found] == list(least_recently_used(sequence, llc_bytes))


@given(touches)
def test_share_is_lru_where_everything_fits(sequence: list[Touch]) -> None:
    share, lru = (CACHES[model]([10 * CHUNK] * 3) for model in REAL)
    assert [walk_parts(share, touch) for touch in sequence] == [walk_parts(lru, touch) for touch in sequence]


def test_a_second_walk_finds_all_or_nothing_of_what_exceeds_the_cache() -> None:
    place = Place(0, 0, CHUNK)
    for chunks, part in ((4, 4 * CHUNK), (5, 0)):
        cache = LruCache([4 * CHUNK])
        pieces = [Piece(chunk, CHUNK, 2 ** (CHUNK // PART) - 1) for chunk in range(chunks)]
        cache.first_pass(place, 0, pieces, writes=False)
        assert cache.later_pass(place, 0, pieces, chunks * CHUNK) == (part, chunks * CHUNK)


# ---- share ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("again", "hit"), [(3, CHUNK), (2, 0), (1, 0)])
def test_share_lets_what_comes_to_the_front_push_the_others_back_by_its_age(again: int, hit: int) -> None:
    """Four chunks fill the cache; the first of them is the oldest, and just fits. When a chunk comes to the front
    again, the other chunks age: not at all for the newest chunk, by a quarter of a chunk for the second newest, by half
    a chunk for the third newest.
    """
    cache = ShareCache([4 * CHUNK])
    walk(cache, 0, range(4))
    assert walk(cache, 0, (again,)).hit == CHUNK
    assert walk(cache, 0, (0,)).hit == hit


@pytest.mark.parametrize("model", REAL)
def test_a_chunk_holds_no_more_than_its_size_however_often_it_is_walked(model: str) -> None:
    cache = CACHES[model]([16 * CHUNK] * 2)  # overlapping rows touch more bytes of a chunk than the chunk has
    for domain, writes, seen in ((0, True, Found()), (0, True, Found(CHUNK)), (1, False, Found(0, {0: CHUNK}))):
        assert walk(cache, domain, (0,), 3 * CHUNK, writes) == seen
    assert walk(cache, 1, (0,), 3 * CHUNK).hit == CHUNK


@pytest.mark.parametrize("model", REAL)
def test_caches_that_forward_hand_on_clean_parts_the_next_domain_first(model: str) -> None:
    """Of three parts of a chunk, domain 1 has one, domain 2 another, and domain 0 the two that domain 1 lacks."""
    cache = CACHES[model]([10 * CHUNK] * 3, forwards=True)
    for domain, parts in ((1, {0}), (2, {1}), (0, {1, 2})):
        walk_parts(cache, (domain, 7, parts, False))
    found = walk_parts(cache, (1, 7, {0, 1, 2}, False))
    assert (found.hit, found.moved) == (PART, {2: PART, 0: PART})
    again = walk_parts(cache, (1, 7, {0, 1, 2}, False))
    assert (again.hit, again.moved) == (3 * PART, {})


@pytest.mark.parametrize("model", REAL)
@pytest.mark.parametrize("chunks", [1, 7, 8, 9, 30])
def test_sweeps_find_everything_or_nothing(model: str, chunks: int) -> None:
    """The same bytes are walked five times. Later walks find all bytes if the bytes fit into the cache, else none."""
    cache = CACHES[model]([8 * CHUNK])
    found = [walk(cache, 0, range(chunks)).hit for _ in range(5)]
    assert found == [0] + [chunks * CHUNK if chunks <= 8 else 0] * 4


@pytest.mark.parametrize("model", REAL)
def test_a_cache_that_is_used_again_and_again_holds_no_more_than_its_size(model: str) -> None:
    """The walked memory grows by the size of the cache at a time; all earlier memory is walked in between."""
    cache = CACHES[model]([8 * CHUNK])
    for size in (8, 8, 16, 16, 24, 24):
        walk(cache, 0, range(size))
    assert walk(cache, 0, range(24)).hit <= 8 * CHUNK


# ---- runs ----------------------------------------------------------------------------------------------------------

DATA = Region("data", 16 * 64 * KIB, True)
SIZES = {"llc": "256KiB", "llc_scope": "socket", "llc_hit_ns": 20, "llc_remote_hit_ns": 60}
TWO = toy_with({"sockets": 2, "cores": 1}, caches=SIZES)
OF_EACH = {key: value for key, value in SIZES.items() if key != "llc_scope"}
TWO_SIZES = {**OF_EACH, "llc_cores": ["0", "1"], "llc_sizes": ["256KiB", "128KiB"]}
UNLIKE = toy_with({"sockets": 2, "cores": 1}, caches=TWO_SIZES)
HOME_0 = stealing(placement={"policy": "bind", "node": 0})
in_data = partial(in_turn, regions=(DATA,))


def read(offset: int, size: int, passes: int = 1) -> Run:
    return Run(0, (Access(0, offset, size, passes=passes),))


def write(offset: int, size: int, mode: Mode = Mode.WRITE) -> Run:
    return Run(0, (Access(0, offset, size, mode=mode),))


def times(seen: Seen) -> list[int]:
    """Return the time of each executed segment in ns, in the order of execution."""
    return [(end - start) // NS for start, end in sorted((start, end) for _, _, start, end in seen.stretches)]


def cached(work: Workload, model: str, machine: object = TWO) -> Seen:
    return run(work, 2, HOME_0, machine=machine, effects=Effects(cache=model))


@pytest.mark.parametrize("model", REAL)
def test_what_is_read_again_comes_from_the_own_cache(model: str) -> None:
    # 6400 bytes are 100 lines: 10 ns each from the own memory, 2 ns from the cache, 20 ns from the other node
    seen = cached(in_data((0, read(0, 6400)), (0, read(0, 6400)), (1, read(0, 6400)), (1, read(0, 6400))), model)
    assert times(seen) == [1000, 200, 2000, 200]
    assert (seen["bytes_cache"], seen["bytes_local"], seen["bytes_remote"]) == (12_800, 6400, 6400)
    assert seen["work_local_ps"] == (1000 + 200) * 2 * NS
    assert seen["inflation_numa_ps"] == 1000 * NS


def test_without_a_cache_every_pass_goes_to_memory() -> None:
    # contention couples the workers, so that the engine takes the same path as with a cache, also for the model `none`
    seen = run(in_data((0, read(0, 6400, passes=3)), (0, read(0, 6400))), 2, HOME_0, machine=TWO,
               effects=Effects(contention="fluid"))  # fmt: skip
    assert times(seen) == [3000, 1000]
    assert (seen["bytes_cache"], seen["bytes_local"]) == (0, 4 * 6400)


@pytest.mark.parametrize("model", REAL)
def test_a_machine_without_caches_finds_nothing(model: str) -> None:
    seen = cached(in_data((0, read(0, 6400)), (0, read(0, 6400))), model, toy_with({"sockets": 2, "cores": 1}))
    assert (times(seen), seen["bytes_cache"]) == ([1000, 1000], 0)


@pytest.mark.parametrize("model", REAL)
def test_dirty_bytes_come_from_the_cache_of_the_writer_over_the_link(model: str) -> None:
    # worker 0 writes: it fetches and writes back 100 lines, 10 ns each; worker 1 fetches them from its cache at 6 ns
    seen = cached(in_data((0, write(0, 6400)), (1, read(0, 6400)), (1, read(0, 6400))), model)
    assert times(seen) == [2000, 600, 200]
    traffic = {kind: pairs.tolist() for kind, pairs in seen.result.traffic.items()}
    assert traffic == {
        "read": [[0, 0], [0, 0]],
        "ownership": [[6400, 0], [0, 0]],
        "written": [[6400, 0], [0, 0]],
        "cache": [[0, 0], [6400, 0]],
    }
    assert (seen["bytes_c2c"], seen["bytes_cache"], seen["bytes_remote"]) == (6400, 6400, 0)
    assert seen.of_worker("inflation_numa_ps") == [0, (600 - 200) * NS]


@pytest.mark.parametrize("model", REAL)
def test_clean_lines_come_from_caches_that_forward(model: str) -> None:
    """To read 16 KiB (256 lines, ten at a time) takes 5,120 ns from the other node's memory, 1,536 from its cache."""
    work = in_data((0, read(0, 16 * KIB)), (1, read(0, 16 * KIB)))
    forwarding = toy_with({"sockets": 2, "cores": 1}, caches={**SIZES, "forward": "yes"})
    assert times(cached(work, model))[1] == 5120
    assert times(cached(work, model, forwarding))[1] == 1536


@pytest.mark.parametrize("model", REAL)
def test_what_another_writes_is_written_back_by_it(model: str) -> None:
    # worker 1 takes 100 dirty lines at 6 ns and writes them back to node 0: 100 lines at 20 ns
    seen = cached(in_data((0, write(0, 6400)), (1, write(0, 6400)), (0, read(0, 6400))), model)
    assert times(seen) == [2000, 600 + 2000, 600]
    assert seen.result.traffic["written"].tolist() == [[6400, 0], [6400, 0]]
    assert seen.result.traffic["cache"].tolist() == [[0, 6400], [6400, 0]]


@pytest.mark.parametrize("model", REAL)
@pytest.mark.parametrize(("others", "found_by"), [(1, {0, 1}), (2, {0}), (3, {0}), (4, set())])
def test_unlike_caches_have_room_by_their_own_size(others: int, found_by: set[int], model: str) -> None:
    """Worker 0 has a cache of four chunks, worker 1 of two: each reads a chunk, ``others`` chunks, the first again."""
    for worker in (0, 1):
        steps = ((worker, read(0, CHUNK)), (worker, read(CHUNK, others * CHUNK)), (worker, read(0, CHUNK)))
        seen = cached(in_data(*steps), model, UNLIKE)
        assert seen["bytes_cache"] == (CHUNK if worker in found_by else 0)


def test_items_of_ranges_fit_into_the_cache_of_who_runs_them() -> None:
    """Each item walks 192 KiB twice. Of the second walk a cache of 256 KiB serves all, a cache of 128 KiB 128 KiB."""
    size = 192 * KIB
    regions = (Region("data", size, True),)
    work = items(2, 0, deal=Deal.CYCLIC, accesses=(Access(0, 0, size, passes=2),), steps=((1, 0, 0),), regions=regions)
    seen = cached(work, "share", UNLIKE)
    assert seen.of_worker("tasks") == [1, 1]
    assert seen["bytes_cache"] == 2 * size + 128 * KIB
    assert (seen["bytes_local"], seen["bytes_remote"]) == (0, size + (size - 128 * KIB))


@pytest.mark.parametrize("model", REAL)
def test_a_dirty_chunk_belongs_to_whoever_read_it_last(model: str) -> None:
    """The chunk has left the cache of its writer; the writer fetches the chunk back from the cache of its reader."""
    leave = (0, read(CHUNK, 4 * CHUNK))
    seen = cached(in_data((0, write(0, CHUNK)), (1, read(0, CHUNK)), leave, (0, read(0, CHUNK))), model)
    assert seen["bytes_c2c"] == 2 * CHUNK
    assert seen.result.traffic["cache"].tolist() == [[0, CHUNK], [CHUNK, 0]]


@pytest.mark.parametrize(("mode", "kind"), [(Mode.WRITE, "ownership"), (Mode.READ_WRITE, "read")])
def test_writing_fetches_first_and_hits_save_both_ways(mode: Mode, kind: str) -> None:
    seen = cached(in_data((0, write(0, 6400, mode)), (0, write(0, 6400, mode))), "share")
    assert times(seen) == [2000, 400]
    assert seen.result.traffic[kind].sum() == seen.result.traffic["written"].sum() == 6400
    assert seen["bytes_cache"] == 2 * 6400


def test_further_passes_share_the_cache_with_who_works_beside() -> None:
    # two workers share 256 KiB of cache and walk 256 KiB twice each: in the second pass each worker finds half
    one_domain = toy_with({"cores": 2}, caches=SIZES)
    bodies = (body(read(0, 256 * KIB, 2)), body(read(512 * KIB, 256 * KIB, 2)))
    seen = cached(graph(*bodies, deal=Deal.CYCLIC, regions=(DATA,)), "share", one_domain)
    assert seen["bytes_cache"] == 2 * 128 * KIB
    assert times(seen) == [(256 + 128) * 16 * 10 + 128 * 16 * 2] * 2
    alone = cached(graph(bodies[0], regions=(DATA,)), "share", one_domain)
    assert alone["bytes_cache"] == 256 * KIB


@pytest.mark.parametrize("model", REAL)
def test_what_fits_into_the_second_level_takes_no_time_when_passed_again(model: str) -> None:
    machine = toy_with({"sockets": 2, "cores": 1}, caches={**SIZES, "l2": "32KiB"})
    seen = cached(in_data((0, read(0, 32 * KIB, 5)), (0, read(64 * KIB, 33 * KIB, 2))), model, machine)
    assert times(seen) == [512 * 10, 528 * 10 + 528 * 2]
    assert seen["bytes_cache"] == 4 * 32 * KIB + 33 * KIB
