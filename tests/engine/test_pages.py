"""The page map against a walk over single bytes (model 2.2)."""

from __future__ import annotations

from engine_setup import plan_of, stealing, toy
from hypothesis import given
from hypothesis import strategies as st
from task_graphs import Access, Run, graph, task

from numasim.engine.pages import PageMap
from numasim.engine.plan import Plan
from numasim.workload.graph import Mode, Pattern, Region

KIB = 1024
GRANULE = 16 * 4 * KIB
REGIONS = (Region("data", 5 * GRANULE, True), Region("fresh", 5 * GRANULE - 9 * KIB, False))
THREE_NODES = toy(sockets=3, cores=1)

accesses = st.builds(
    Access,
    region=st.integers(0, 1),
    offset=st.integers(0, GRANULE),
    row_bytes=st.integers(1, GRANULE),
    rows=st.integers(1, 3),
    stride=st.integers(0, GRANULE),
    mode=st.sampled_from(Mode),
    pattern=st.just(Pattern.SEQUENTIAL),
    passes=st.just(1),
)
touched = st.lists(st.tuples(accesses, st.integers(0, 2)), min_size=1, max_size=6)


@given(
    st.lists(st.tuples(accesses, st.integers(0, 2)), min_size=1, max_size=6), st.sampled_from(["block", "first-touch"])
)
def test_touches_equal_a_walk_over_pages(touches: list[tuple[Access, int]], policy: str) -> None:
    work = graph(task(Run(0, tuple(access for access, _ in touches))), regions=REGIONS)
    plan = plan_of(work, 3, stealing(placement=policy), machine=THREE_NODES)
    pages, homes = PageMap(plan), Homes(plan)
    for at, (access, node) in enumerate(touches):
        assert pages.bytes_at(at).tolist() == homes.bytes_at(access)
        placed = homes.place(access, node)
        touch = pages.touch(at, node)
        assert (touch.bytes_by_home.tolist(), touch.placed) == (homes.bytes_at(access), placed)
        assert touch.bytes_by_home.sum() == access.row_bytes * access.rows


class Homes:
    """Homes of single pages, granule by granule."""

    def __init__(self, plan: Plan) -> None:
        self.home = [
            [plan.placement.home_of_page(r, page) for page in range(-(-region.bytes // (4 * KIB)))]
            for r, region in enumerate(REGIONS)
        ]

    def bytes_at(self, access: Access) -> list[int]:
        total = [0, 0, 0]
        for start, end in _pieces(access):
            home = self.home[access.region][start // (4 * KIB)]
            if home >= 0:
                total[home] += end - start
        return total

    def place(self, access: Access, node: int) -> int:
        home = self.home[access.region]
        placed = 0
        for start, _ in _pieces(access):
            first = start // GRANULE * 16
            for page in range(first, min(first + 16, len(home))):
                placed += home[page] < 0
                home[page] = node if home[page] < 0 else home[page]
        return placed


def _pieces(access: Access) -> list[tuple[int, int]]:
    """(first byte, end) of what an access takes of each page, row by row."""
    found = []
    for row in range(access.rows):
        at = access.offset + row * access.stride
        end = at + access.row_bytes
        while at < end:
            border = min(end, (at // (4 * KIB) + 1) * 4 * KIB)
            found.append((at, border))
            at = border
    return found
