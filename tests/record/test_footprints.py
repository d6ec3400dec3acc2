"""Sizes of accesses by dependences, which name only addresses: true values by hand, and the sizes that stay a guess.

A block is a piece of memory that the program allocated, or a variable. A footprint is the bytes of one access.
"""

from __future__ import annotations

import pytest
from event_writer import EventWriter, timed_events

from numasim.errors import InputError
from numasim.runtime.record.event_files import Event
from numasim.runtime.record.event_times import PieceCosts
from numasim.runtime.record.event_walk import walk
from numasim.runtime.record.recorded_data import Access, Footprint, RecordedData, data_of, footprints
from numasim.runtime.record.recorded_rows import rows_of
from numasim.schema.enumerations import Mode

MIB, N, TILE, DOUBLE = 1 << 20, 1024, 128, 8
# 128 rows of 1,024 bytes, 8,192 bytes apart; 131,072 bytes in all
OF_A_TILE = Footprint(TILE * DOUBLE, TILE, N * DOUBLE)


@pytest.mark.parametrize("half", [False, True])
def test_tiles_of_a_row_major_matrix_have_their_rows(half: bool) -> None:
    """Tiles of the whole matrix, or only the tiles on and below its diagonal.

    Taken as bytes from address to address, 56 of all 64 tiles would have 1,024 bytes, and 8 would have 1,041,408.
    """
    tiles = [DOUBLE * (i * N + j) for i in range(0, N, TILE) for j in range(0, i + 1 if half else N, TILE)]
    assert footprints(tiles, 8 * MIB) == dict.fromkeys(tiles, OF_A_TILE)


def test_the_whole_block_is_no_guess() -> None:
    assert footprints([0], 4096) == {0: Footprint(4096, guessed=False)}
    assert footprints([64], 4096) == {64: Footprint(4032)}


@pytest.mark.parametrize(
    ("offsets", "size"),
    [
        (list(range(0, 2 * MIB, 32768)), 2 * MIB),  # rows, one after the other
        ([0, 8, 100, 108], 256),  # two groups of addresses, which do not fill the block evenly
        ([0, 8, 128, 136], 250),  # the size of the block is not a multiple of the distance of groups
        ([0, 8, 16, 64, 72, 80], 128),  # 64 bytes are not whole rows of 24
        ([64, 72, 128, 136], 192),  # the first group is not at the begin of the block
        ([0, 100, 150], 400),
    ],
)
def test_other_addresses_reach_to_the_next_one(offsets: list[int], size: int) -> None:
    ends = [*offsets[1:], size]
    found = footprints(offsets, size)
    assert found == {start: Footprint(end - start) for start, end in zip(offsets, ends, strict=True)}


# ---- events by hand


def data(writer: EventWriter) -> RecordedData:
    times = timed_events(writer)
    walked = walk(times)
    return data_of(rows_of(walked, PieceCosts()), walked, times)


def variable(writer: EventWriter, name: bytes, address: int, size: int) -> EventWriter:
    words = [int.from_bytes(name[at : at + 7], "little") for at in range(0, len(name), 7)]
    return writer.add(Event.GLOBAL, 2 + len(words), address, size, *words)


def test_variables_are_regions_of_their_names_and_sizes() -> None:
    """Variables exist from the begin of the program, although the recorder notes them at the first parallel region."""
    writer = EventWriter().program().create().depend((1 << 20, 3)).begin_new().done(5).region(3)
    variable(variable(writer, b"a_long_name_of_one", 1 << 20, 4096), b"x", 1 << 21, 640)
    writer.create().depend(((1 << 21) + 320, 3)).begin_new().done(5).end_region()
    found = data(writer)
    assert [(each.name, each.bytes) for each in found.regions] == [("a_long_name_of_one", 4096), ("x", 640)]
    assert [each for one in found.accesses.values() for each in one] == [
        Access(0, 0, 4096, 1, 0, Mode.READ_WRITE),
        Access(1, 320, 320, 1, 0, Mode.READ_WRITE),
    ]
    assert (found.guessed, found.unknown) == (1, 0)


def declared(*numbers: int, block: int = 1024) -> RecordedData:
    writer = EventWriter().program().region(2).add(Event.ALLOCATE, 0, 4096, block).create().begin_new()
    return data(writer.add(Event.ACCESS, Mode.READ, *numbers, after=1).done(5).end_region())


def test_declared_tiles_are_what_they_say() -> None:
    found = declared(4096 + 16, 16, 8, 128)  # address, bytes, rows, stride; first to last byte: 7 x 128 + 16
    assert list(found.accesses.values()) == [[Access(0, 16, 16, 8, 128, Mode.READ)]]
    assert (found.source, found.guessed) == ("declared accesses", 0)
    declared(4096 + 112, 16, 8, 128)  # ends with the block
    with pytest.raises(InputError, match="an access of 912 bytes, 113 bytes into a block; expected at most 911 bytes"):
        declared(4096 + 113, 16, 8, 128)
    with pytest.raises(InputError, match="rows of 16 bytes that begin every 8 bytes"):
        declared(4096, 16, 8, 8)
