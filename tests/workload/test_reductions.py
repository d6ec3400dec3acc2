"""The container of a reduction (rows of keys and values), bytes and times of its rows: by hand and by statistics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from workload_setup import make

from numasim.draws import stream_array
from numasim.workload.algorithms.emitted_keys import (
    binomial,
    copies_of_growth,
    disjoint_subranges,
    equal_columns,
    equal_probability,
    keys_of_rows,
    newly_met,
    one_heavy_node,
)
from numasim.workload.graph import I64, Kind, Workload

FOUR_ROWS: dict[str, Any] = {
    **{"emits": 8, "rows": 4, "threads": 2, "nodes": (0, 1), "key_filler": "disjoint-subranges"},
    **{"value_bytes": 4096, "emit_ns": 10, "key_ns": 100, "copy_ns": 1, "vector_values": 1},
}


def on_nodes(work: Workload) -> list[list[int]]:
    """Return [rows][node accesses] the bytes that each row reads."""
    (family,) = work.ranges
    rows = np.arange(family.count)
    each = [access.amounts.of(rows, 0, 0).tolist() for access in family.node_accesses]
    return [list(row) for row in zip(*each, strict=True)]


def times_ps(work: Workload) -> list[int]:
    """Return [rows] the compute times."""
    (family,) = work.ranges
    assert family.compute is not None
    return [int(time) for time in family.compute.of(np.arange(family.count), 0, 0)]


def test_four_rows_of_two_threads() -> None:
    """Keys 0 to 7 are in rows 0, 1, 2, 3, 0, 1, 2, 3; rows 0 and 1 are thread 0's. Each vector gets four values and
    grows from one to two and to four: three copies, of which each value bears three quarters. Appended and copied
    values fill fresh memory, 8 + 2 * 3 in all; vectors of one and of two values are given back, 2 * 3 in all.
    """
    work = make("reduce", **FOUR_ROWS)
    (family,) = work.ranges
    assert on_nodes(work) == [[8192, 0], [8192, 0], [0, 8192], [0, 8192]]
    assert copies_of_growth(np.array([2, 2, 2, 2]), 2, 1).tolist() == [1, 2, 1, 2]
    assert times_ps(work) == [221_000, 222_000, 221_000, 222_000]
    assert family.freed is not None
    assert family.fresh is not None
    assert (4 * family.fresh.mean, 4 * family.freed.mean) == (14 * 4096, 6 * 4096)
    assert [access.returned_ppm for access in family.node_accesses] == [0, 0]
    assert work.facts == {"emits": 8, "keys": 8}


def test_a_buffer_brings_every_value_out() -> None:
    sizes: dict[str, Any] = {"emits": 40, "rows": 4, "threads": 8, "nodes": (0,) * 8}
    one, all_of_them = (
        make("reduce", **sizes, key_ns=1, emit_ns=0, copy_ns=0, combiner=how) for how in ("associative", "buffer")
    )
    times = [sum(times_ps(work)) for work in (one, all_of_them)]
    assert times == [1000 * one.facts["keys"], 1000 * 40]
    assert one.facts["keys"] < 40


def test_map_reduce_emits_on_the_nodes_of_its_threads() -> None:
    work = make("map-reduce", emits=9, rows=3, threads=2, nodes=(0, 1), value_bytes=100, map_ns=7)
    assert work.kind.tolist() == [Kind.IMPLICIT] * 2
    assert work.segment_compute_ps.tolist() == [4 * 7000, 5 * 7000]
    assert [region.bytes for region in work.regions] == [400, 500]
    assert [phase.name for phase in work.phases] == ["map", "reduce"]
    assert work.tasks == 3


@given(st.data())
@settings(max_examples=40)
def test_every_emit_is_in_one_row(data: st.DataObject) -> None:
    threads = data.draw(st.integers(1, 6))
    node: I64 = np.sort(np.array(data.draw(st.lists(st.integers(0, 2), min_size=threads, max_size=threads)), np.int64))
    emits, rows = data.draw(st.integers(1, 60)), data.draw(st.integers(1, 9))
    key_range = emits + data.draw(st.integers(0, 9))
    heavy = data.draw(st.booleans())
    columns = one_heavy_node(node, emits, 700_000, int(node[0])) if heavy else equal_columns(node, emits)
    assert columns.emits.sum() == emits
    for found in (
        equal_probability(columns, key_range, rows, data.draw(st.integers(0, 99))),
        disjoint_subranges(columns, key_range, rows, 0),
    ):
        assert found.emitted.sum() == emits
        assert (found.keys <= np.minimum(keys_of_rows(key_range, rows), found.emitted.sum(axis=1))).all()
        assert (found.keys >= found.emitted.max(axis=1) / threads).all()
    drawn = equal_probability(columns, key_range, rows, 5)
    assert drawn.emitted.sum(axis=0).tolist() == [columns.on(each)[1] for each in range(columns.nodes)]


@pytest.mark.parametrize("threads", [1, 2, 3, 4, 16])
def test_distinct_keys_and_their_spread(threads: int) -> None:
    """Of k keys, each emitted by each of P threads with probability 1 / P, a row has k d on average, d = 1 - (1 - 1 /
    P)^P, with the variance k d (1 - d); and of values k on average, with the variance k (1 - 1 / P).
    """
    rows, keys = 4000, 50
    found = equal_probability(equal_columns(np.arange(threads) % 2, rows * keys), rows * keys, rows, 3)
    share = 1 - (1 - 1 / threads) ** threads
    values = found.emitted.sum(axis=1)
    assert abs(found.keys.mean() - keys * share) < 5 * (keys / rows) ** 0.5
    assert found.keys.var() == pytest.approx(keys * share * (1 - share), rel=0.12, abs=1e-9)
    assert values.mean() == keys
    assert values.var() == pytest.approx(keys * (1 - 1 / threads), rel=0.12, abs=1e-9)


def test_all_threads_of_the_heavy_node_emit_its_share() -> None:
    columns = one_heavy_node(np.array([0, 0, 1, 1, 1]), 100, 900_000, 0)
    assert columns.emits.tolist() == [45, 45, 3, 3, 4]
    assert one_heavy_node(np.array([0, 0]), 10, 900_000, 0).emits.tolist() == [5, 5]
    assert one_heavy_node(np.array([1, 1]), 10, 900_000, 0).emits.tolist() == [5, 5]


def test_binomial_numbers_have_its_mean_and_variance() -> None:
    draws = stream_array(7, 20_000)
    for trials, probability in ((12, 0.3), (400, 0.25), (100_000, 0.01)):
        found = binomial(draws, np.full(len(draws), trials), probability)
        deviation = (trials * probability * (1 - probability)) ** 0.5
        assert abs(found.mean() - trials * probability) < 5 * deviation / len(draws) ** 0.5
        assert found.std() == pytest.approx(deviation, rel=0.03)
    assert binomial(draws[:3], np.array([0, 5, 9]), 1.0).tolist() == [0, 5, 9]


def test_cells_that_are_all_drawn_meet_every_key() -> None:
    keys = np.array([3, 5])
    assert newly_met(1, keys * 4, 4, keys, np.zeros(2, np.int64)).tolist() == [3, 5]
    assert newly_met(1, np.zeros(2, np.int64), 4, keys, np.array([1, 2])).tolist() == [1, 2]
    assert newly_met(1, np.array([1, 1]), 4, keys, np.zeros(2, np.int64)).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("first", "values", "copies"),
    [
        *[(1, 0, 0), (1, 1, 0), (1, 2, 1), (1, 3, 3), (1, 4, 3), (1, 5, 7), (1, 8, 7), (1, 9, 15)],
        *[(100, 1, 0), (100, 100, 0), (100, 101, 100), (100, 200, 100), (100, 201, 300)],
    ],
)
def test_a_vector_that_doubles(first: int, values: int, copies: int) -> None:
    assert copies_of_growth(np.array([values]), 1, first).tolist() == [copies]
