"""The home nodes of pages against the formulas of the model (2.2), and bytes of accesses by home node against a walk
over single bytes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategy_setup import on_nodes, toy_machine

from numasim.parts.models.placement_model import PlacementSpec
from numasim.strategy.placement.compile_placement import Placement, place
from numasim.workload.graph import Region, Workload
from numasim.workload.registry import generate, workload_spec

PAGE = 16
WORKER_NODES = [1, 0, 2, 1, 0]
REGIONS = (Region("input", 37 * PAGE + 5, initialised=True), Region("output", 9 * PAGE, initialised=False))
POLICIES = [
    {"policy": "first-touch"},
    {"policy": "first-touch-master"},
    {"policy": "parallel-first-touch"},
    {"policy": "interleave"},
    {"policy": "interleave", "nodes": (2, 0, 2)},
    {"policy": "interleave", "nodes": "workers", "grain": 3 * PAGE + 5},
    {"policy": "bind", "node": 2},
    {"policy": "block"},
    {"policy": "first-touch-init", "tasks": 7},
    {"policy": "random"},
    {"policy": "random", "nodes": (2, 0, 2)},
]


ROOMY = (Region("input", 83 * PAGE + 5, initialised=True), Region("output", 80 * PAGE, initialised=False))


def placing(regions: tuple[Region, ...] = REGIONS, **policy: object) -> Placement:
    return place(PlacementSpec.model_validate(policy), toy_machine(3), on_nodes(WORKER_NODES), with_regions(*regions))


def with_regions(*regions: Region) -> Workload:
    """Return a program that has these regions and accesses none of them."""
    return replace(generate(workload_spec("fib", n=1)), regions=regions)


def homes(placement: Placement, region: int) -> list[int]:
    pages = -(-REGIONS[region].bytes // PAGE)
    return placement.page_homes(region)[:pages].tolist()


def test_homes_are_those_of_the_model() -> None:
    pages, dynamic = 38, [-1] * 9
    assert homes(placing(policy="first-touch"), 0) == [1] * pages
    assert homes(placing(policy="first-touch"), 1) == dynamic
    assert homes(placing(policy="first-touch-master"), 1) == [1] * 9
    assert homes(placing(policy="parallel-first-touch"), 0) == [WORKER_NODES[p * 5 // pages] for p in range(pages)]
    assert homes(placing(policy="parallel-first-touch"), 1) == dynamic
    assert homes(placing(policy="interleave"), 0) == [p % 3 for p in range(pages)]
    assert homes(placing(policy="interleave", nodes=(2, 0)), 1) == [2, 0, 2, 0, 2, 0, 2, 0, 2]
    assert homes(placing(policy="by-region", nodes=(2, 0)), 0) == [2] * pages
    assert homes(placing(policy="by-region", nodes=(2, 0)), 1) == [0] * 9
    assert homes(placing(policy="interleave", grain=2 * PAGE + 1), 1) == [0, 0, 1, 1, 2, 2, 0, 0, 1]
    assert homes(placing(policy="interleave", grain=1), 1) == [0, 1, 2] * 3  # a grain has at least one page
    assert homes(placing(policy="bind", node=2), 1) == [2] * 9
    assert homes(placing(policy="block"), 0) == [p * 3 // pages for p in range(pages)]


def test_memory_may_be_dealt_to_the_nodes_of_workers_alone() -> None:
    """Pages go to the nodes that have workers, in the order of the nodes' ids, whatever the order of the workers."""
    spec = PlacementSpec.model_validate({"policy": "interleave", "nodes": "workers"})
    placement = place(spec, toy_machine(4), on_nodes([3, 0, 3]), with_regions(*REGIONS))
    assert homes(placement, 1) == [0, 3, 0, 3, 0, 3, 0, 3, 0]
    assert spec.named_nodes == ()


def test_alike_homes_and_dynamic_regions() -> None:
    """All places of a region have equal homes if its pages are on one node, or its bytes are hashed over the nodes."""
    alike = {"first-touch", "first-touch-master", "bind", "hash-home"}
    assert {p["policy"] for p in (*POLICIES, {"policy": "hash-home"}) if placing(**p).is_alike(0)} == alike
    assert [placing(**p).dynamic.tolist() for p in POLICIES[:3]] == [[False, True], [False, False], [False, True]]
    assert not placing(policy="first-touch").is_alike(1)


def test_more_blocks_than_pages() -> None:
    small = with_regions(Region("small", 2 * PAGE, initialised=True), Region("empty", 0, initialised=True))
    placement = place(PlacementSpec(policy="parallel-first-touch"), toy_machine(3), on_nodes(WORKER_NODES), small)
    assert placement.page_homes(0).tolist() == [WORKER_NODES[0], WORKER_NODES[5 // 2]]
    assert len(placement.page_homes(1)) == 0


accesses = st.tuples(
    st.integers(0, 1),  # region
    st.integers(0, 400),  # offset
    st.integers(0, 90),  # bytes a row
    st.integers(0, 12),  # rows
    st.integers(0, 70),  # stride: zero, overlapping and spaced rows
)


@given(policy=st.sampled_from(POLICIES), rows=st.lists(accesses, min_size=1, max_size=20))
@settings(max_examples=150)
def test_bytes_by_home_equal_a_walk_over_bytes(policy: dict[str, object], rows: list[tuple[int, ...]]) -> None:
    placement = placing(ROOMY, **policy)
    homes = [placement.page_homes(region).tolist() for region in range(2)]
    expected = np.zeros((len(rows), 3), np.int64)
    for i, (region, offset, row_bytes, count, stride) in enumerate(rows):
        for row in range(count):
            for byte in range(offset + row * stride, offset + row * stride + row_bytes):
                home = homes[region][byte // PAGE]
                if home >= 0:
                    expected[i, home] += 1
    found = placement.bytes_by_home(*(np.array(column) for column in zip(*rows, strict=True)))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("policy", [{"policy": "interleave"}, {"policy": "block"}, {"policy": "parallel-first-touch"}])
def test_many_large_accesses_lose_no_byte(policy: dict[str, object]) -> None:
    """More accesses than one chunk holds, and a row longer than 2**40 bytes."""
    region = with_regions(Region("huge", 2**44, initialised=True))
    placement = place(PlacementSpec.model_validate(policy), toy_machine(3), on_nodes(WORKER_NODES), region)
    count = 70_000
    rows = np.where(np.arange(count) % 100 == 0, 7, 1)
    row_bytes = np.where(np.arange(count) == 5, 2**40 + 3, np.arange(count) % 1000 + 1)
    offset = np.arange(count) * 1_000_003
    found = placement.bytes_by_home(np.zeros(count, np.int64), offset, row_bytes, rows, np.full(count, 4321))
    np.testing.assert_array_equal(found.sum(axis=1), row_bytes * rows)
