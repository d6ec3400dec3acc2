"""Worklists and transactions: lengths, keys, additions and ops follow model 9.7."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from workload_setup import make, program

from numasim.draws import DrawClass, base, below, draw, stream_array
from numasim.workload.families.worklists import pareto, zipf
from numasim.workload.graph import Mode, Op
from numasim.workload.sync_parameters import Role, SyncObject, running_weights

UNITS: dict[str, Any] = {"units": 40, "low_ns": 100, "high_ns": 10_000}
DRAWS = stream_array(5, 40_000)


@pytest.mark.parametrize("tail", ["0", "0.5", "1", "2"])
def test_lengths_are_paretos(tail: str) -> None:
    """The share of lengths above x is ((L / x)^a - (L / H)^a) / (1 - (L / H)^a), and log(H / x) / log(H / L) if a = 0;
    lengths lie between L and H.
    """
    low, high, exponent = 1000, 100_000, float(tail)
    found = pareto(DRAWS, low, high, Decimal(tail))
    assert low <= found.min() <= found.max() <= high
    for x in (1500, 5000, 30_000):
        if exponent:
            least = (low / high) ** exponent
            expected = ((low / x) ** exponent - least) / (1 - least)
        else:
            expected = np.log(high / x) / np.log(high / low)
        deviation = np.sqrt(expected * (1 - expected) / len(DRAWS))
        assert abs(np.mean(found > x) - expected) < 4 * deviation


def test_a_length_without_room_is_that_length() -> None:
    assert set(pareto(DRAWS[:9], 7, 7, Decimal(1)).tolist()) == {7}
    assert set(pareto(DRAWS[:9], 0, 0, Decimal(1)).tolist()) == {0}
    assert pareto(DRAWS[:99], 0, 50, Decimal(1)).min() >= 1


def test_keys_are_zipfs_and_those_of_objects() -> None:
    sums = running_weights(10, 1_500_000)
    found = zipf(DRAWS[:200], 10, Decimal("1.5"))
    places = [below(number, int(sums[-1])) for number in DRAWS[:200].tolist()]
    assert found.tolist() == [next(key for key, end in enumerate(sums.tolist()) if end > place) for place in places]
    assert zipf(DRAWS[:200], 10, Decimal(0)).tolist() == [below(number, 10) for number in DRAWS[:200].tolist()]


def test_who_adds_a_unit_is_drawn_among_those_before_it() -> None:
    """Of 40 units of work, 10 are in the worklist from the begin. Running units add the others, in order of numbers."""
    work = make("worklist", **UNITS, added=0.75, graph_seed=3)
    expected = {unit: below(draw(base(3, DrawClass.ARRIVAL, unit), 0), unit) for unit in range(10, 40)}
    children = [sum(parent == unit for parent in expected.values()) for unit in range(40)]
    spawns = [sum(op == Op.SPAWN for op, _ in program(work, row)) for row in range(40)]
    assert sorted(spawns) == sorted(children)
    assert [spawns[root] for root in work.phases[0].roots] == children[:10]
    assert all(program(work, row)[0][0] == Op.RUN for row in range(40))


def test_what_is_handed_over_is_written_once_and_read_once() -> None:
    """A unit that adds a unit writes the piece of memory that the added unit reads; the first units have no piece."""
    work = make("worklist", **UNITS, added=0.5, added_bytes=128)
    rows = list(zip(work.accesses.offset.tolist(), work.accesses.mode.tolist(), strict=True))
    for piece in range(20):
        assert sorted(mode for offset, mode in rows if offset == 128 * piece) == [Mode.READ, Mode.WRITE]
    assert len(rows) == 40
    assert [region.bytes for region in work.regions] == [64, 20 * 128]
    for row in range(40):
        mine = slice(work.segment_accesses[row], work.segment_accesses[row + 1])
        written = {at // 128 for at, mode in rows[mine] if mode == Mode.WRITE}
        assert len(written) == sum(op == Op.SPAWN for op, _ in program(work, row))
        assert sum(mode == Mode.READ for _, mode in rows[mine]) == (row not in work.phases[0].roots)


@pytest.mark.parametrize(("written", "writes"), [(1, 4), (0.5, 2), (0.3, 1), (0, 0)])
def test_a_share_of_what_the_last_part_looks_up_is_written(written: float, writes: int) -> None:
    """A transaction in two halves looks up four records in each."""
    options = {"lookups": 8, "records": 100, "record_bytes": 32, "objects": 5, "loads": 0, "stores": 1}
    work = make("transactions", **UNITS, **options, written=written)
    modes = work.accesses.mode.reshape(-1, 8)
    assert (modes[:, :4] == Mode.READ).all()
    assert ((modes[:, 4:] == Mode.READ_WRITE).sum(axis=1) == writes).all()


def test_a_unit_is_plain_work_and_a_transaction() -> None:
    """A fifth of a unit is outside its transaction: of 10 lookups 2 are outside, 4 in each half of the transaction."""
    options = {"outside": 0.2, "lookups": 10, "records": 100, "record_bytes": 32}
    work = make("transactions", **UNITS, objects=7, loads=2, object_skew=0.5, undo_ns=3, **options)
    ops = [Op.RUN, Op.BEGIN, Op.RUN, Op.LOAD, Op.LOAD, Op.STORE, Op.RUN, Op.COMMIT]
    assert work.op_code.tolist() == ops * 40
    assert np.diff(work.segment_accesses).tolist() == [2, 4, 4] * 40
    assert work.accesses.mode.tolist() == ([Mode.READ] * 6 + [Mode.READ_WRITE] * 4) * 40
    times = work.segment_compute_ps.reshape(40, 3)
    assert (abs(times - times.sum(1)[:, None] * [0.2, 0.4, 0.4]) <= 1).all()
    assert work.words == (SyncObject("objects", Role.OBJECTS, 0, 7, 500_000, 3000),)


def test_an_iteration_begins_with_what_one_thread_does_alone() -> None:
    work = make("worklist", **UNITS, iterations=3, alone_ns=5)
    assert [(phase.serial, len(phase.roots)) for phase in work.phases] == [(True, 1), (False, 40)]
    assert [(loop.first, loop.end, loop.repeat) for loop in work.loops] == [(0, 2, 3)]
    assert work.segment_compute_ps[program(work, work.phases[0].roots[0])[0][1]] == 5000
    assert work.tasks == 3 * 40
