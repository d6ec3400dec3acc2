"""Statements of the pages on concepts against the model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import numasim as ns
from numasim.parts.yaml.document import parse
from numasim.parts.yaml.nodes import Source

CONCEPTS = Path(__file__).parents[2] / "docs" / "concepts"
FRAGMENT = re.compile(r"`((?:dispatch|steal|locks|placement|spawn): *[\[{][^`]*)`")


def fragments() -> list[str]:
    pages = [page.read_text() for page in sorted(CONCEPTS.glob("*.md"))]
    return [" ".join(found.split()) for page in pages for found in FRAGMENT.findall(page)]


@pytest.mark.parametrize("fragment", fragments())
def test_pieces_of_strategies_in_the_text_can_be_used(fragment: str) -> None:
    """A page must not show a fragment alone that numasim refuses alone, such as a dispatch rule for data."""
    fields: Any = parse(fragment, Source("a page", Path())).plain()
    assert ns.Strategy(like="randomized", **fields)


def test_probes_delay_nobody_who_works() -> None:
    """By hand: one worker holds eight tasks of 10 us, which nobody may steal. The worker takes 80 us, whether eleven
    thieves on other cores look every 100 ns or every 50 us.
    """
    assert makespan_us(wait_ns=100) == makespan_us(wait_ns=50_000) == 80


def makespan_us(wait_ns: int) -> float:
    graph = ns.Graph("held", deal="master")
    graph.range(8, compute_ns=10_000)
    looks = [{"from": "others", "leave": 100}]
    how = ns.Strategy(name="looks", steal=looks, mapping="scatter", backoff={"first_ns": wait_ns, "factor": 1})
    model = {"clock": "fixed", "cache": "none"}
    run = ns.run(machine="xeon-e5-2620-2s", workload=graph, strategy=how, workers=12, runtime="bare", model=model)
    return run.counters["makespan_ps"] / 10**6
