"""Accesses of any shape, for properties of pages."""

from __future__ import annotations

from hypothesis import strategies as st
from task_graphs import Access

from numasim.workload.graph import Mode, Pattern


def accesses(page_bytes: int, regions: int, pattern: Pattern) -> st.SearchStrategy[Access]:
    """Up to three rows, overlapping, touching or apart, within the first 31 pages of one of the first regions."""
    return st.builds(
        Access,
        region=st.integers(0, regions - 1),
        offset=st.integers(0, 10 * page_bytes),
        row_bytes=st.integers(1, 9 * page_bytes),
        rows=st.integers(1, 3),
        stride=st.integers(0, 6 * page_bytes),
        mode=st.sampled_from(Mode),
        pattern=st.just(pattern),
        passes=st.integers(1, 2),
    )
