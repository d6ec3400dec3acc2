"""Numbers of pages on concepts agree with the runs of which the pictures are drawn.

The test finds pictures and sentences that have become wrong because a machine or a rule has changed.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def drawn() -> Any:
    spec = importlib.util.spec_from_file_location("draw_pictures", DOCS / "pictures" / "draw.py")
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
    found = re.search(rf"!\[(.*?)\]\(\.\./pictures/{picture}\.svg\)", (DOCS / "concepts" / page).read_text(), re.DOTALL)
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
