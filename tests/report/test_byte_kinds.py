"""Bars of bytes by kind: heights are the sums of the node-pair table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

from numasim.report.figures.heatmaps import KINDS, byte_kinds

KIND_GB = {"bytes_read": 4, "bytes_ownership": 3, "bytes_written": 2, "bytes_cache": 1}


@pytest.fixture
def frame() -> pd.DataFrame:
    runs = [("plain", "a"), ("plain", "b"), ("bound", "c")]
    return pd.DataFrame(
        {"run_id": run, "strategy": name, "machine": "m", "workload": "w", "workers": 4, "error": None}
        for name, run in runs
    )


@pytest.fixture
def pairs(frame: pd.DataFrame) -> pd.DataFrame:
    """Within a node twice what goes between nodes; run c moves three times as much as the others."""
    rows = []
    for run in frame["run_id"]:
        for source, target in np.ndindex(2, 2):
            scale = (2 if source == target else 1) * (3 if run == "c" else 1) * 10**9
            moved = {kind: scale * gigabytes for kind, gigabytes in KIND_GB.items()}
            rows.append({"run_id": run, "node_from": source, "node_to": target, **moved})
    return pd.DataFrame(rows)


def heights(axes: Axes) -> list[list[float]]:
    bars = [float(patch.get_height()) for patch in axes.patches]  # type: ignore[attr-defined]
    return [bars[start : start + 2] for start in range(0, len(bars), 2)]


def test_heights_are_means_over_the_repeats_within_and_between_nodes(frame: pd.DataFrame, pairs: pd.DataFrame) -> None:
    plain, bound = byte_kinds(frame, pairs).axes
    expected = [[4.0 * KIND_GB[kind], 2.0 * KIND_GB[kind]] for kind in KINDS]
    assert heights(plain) == expected
    assert heights(bound) == [[3 * value for value in line] for line in expected]
    tops = [patch.get_y() + patch.get_height() for patch in bound.patches]  # type: ignore[attr-defined]
    assert max(tops) == 120 < bound.get_ylim()[1]


def test_only_kinds_that_are_known(frame: pd.DataFrame, pairs: pd.DataFrame) -> None:
    figure = byte_kinds(frame, pairs.drop(columns=["bytes_cache"]))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [label for label, _ in KINDS.values()][:3]
    unknown = byte_kinds(frame, pairs[["run_id", "node_from", "node_to"]])
    assert "not known" in unknown.texts[0].get_text()
