"""Statements and numbers of the pages on concepts against the model, and against the runs of which pictures are drawn.

The test finds pictures and sentences that have become wrong because a machine or a rule has changed.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

import numasim as ns
from numasim.parts.yaml.document import parse
from numasim.parts.yaml.nodes import Source

CONCEPTS = Path(__file__).parents[2] / "docs" / "concepts"
FRAGMENT = re.compile(r"`((?:dispatch|steal|locks|placement|spawn): *[\[{][^`]*)`")


FRAGMENTS = [found for page in sorted(CONCEPTS.glob("*.md")) for found in FRAGMENT.findall(page.read_text())]


@pytest.mark.parametrize("fragment", [" ".join(found.split()) for found in FRAGMENTS])
def test_pieces_of_strategies_in_the_text_can_be_used(fragment: str) -> None:
    """numasim accepts each fragment that a page shows by itself; a dispatch rule for data alone would be refused."""
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


# ---- numbers of pictures ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drawn() -> Any:
    spec = importlib.util.spec_from_file_location("draw_pictures", CONCEPTS.parent / "pictures" / "draw.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def value(drawn: Any, column: str, policy: str, contention: str = "fluid") -> float:
    strategy = {"like": "randomized", "placement": policy}
    found: float = drawn.mean(column, **drawn.EIGHT_SOCKETS, strategy=strategy, model={"contention": contention})
    return found


def caption(page: str, picture: str) -> list[float]:
    """Return the numbers with a unit in the description of a picture."""
    found = re.search(rf"!\[(.*?)\]\(\.\./pictures/{picture}\.svg\)", (CONCEPTS / page).read_text(), re.DOTALL)
    assert found is not None
    return [float(number) for number in re.findall(r"([0-9.]+) (?:ms|times)", found[1])]


def test_makespans_under_policies(drawn: Any) -> None:
    policies = ("first-touch-master", "interleave")
    times = [round(value(drawn, "makespan_ps", policy) / 1e9) for policy in policies]
    assert caption("placement.md", "placement_policies") == times


def test_speed_ups_with_and_without_contention(drawn: Any) -> None:
    def speed_up(*which: str) -> float:
        return round(value(drawn, "speedup", *which), 1)

    found = [speed_up("interleave", "none"), speed_up("first-touch-master"), speed_up("interleave")]
    assert caption("contention.md", "contention_effects") == found
