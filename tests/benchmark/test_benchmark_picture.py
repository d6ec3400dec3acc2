"""The picture of the rates shows every line, over workers, in both panels."""

from __future__ import annotations

import numpy as np
import pytest

from numasim.benchmark.benchmark_findings import Findings, Rate
from numasim.benchmark.rates_plot import rate_text, rates_figure

POINTS = {"reference": (2, 24), "native": (2, 24, 128, 1024)}
MODES = ("eager", "skipping")


def findings() -> Findings:
    rates = tuple(
        Rate(engine, mode, workload, "m", workers, 1000, 1e5 * workers * scale)
        for engine, counts in POINTS.items()
        for mode in MODES
        for workload, scale in (("independent", 3), ("fib", 1))
        for workers in counts
    )
    return Findings({}, 5, 400_000.0, rates, (), (), (), (), (), 2.5, (), 150.0)


def test_each_engine_and_mode_is_a_line_of_its_rates() -> None:
    figure = rates_figure(findings())
    assert [axes.get_title("left") for axes in figure.axes] == ["independent tasks", "calls of fib"]
    for axes, scale in zip(figure.axes, (3, 1), strict=True):
        lines = {line.get_label(): line for line in axes.get_lines()}
        assert set(lines) == {f"{engine}, {mode}" for engine in POINTS for mode in MODES} | {"bare SimPy timeouts"}
        for engine, counts in POINTS.items():
            points = np.array(lines[f"{engine}, eager"].get_xydata())
            assert points.tolist() == [[count, 1e5 * count * scale] for count in counts]
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        assert axes.get_xlabel() == "workers"
    assert figure.axes[0].get_ylabel() == "simulated tasks per second"


def test_lines_differ_in_colour_and_marker() -> None:
    lines = rates_figure(findings()).axes[0].get_lines()[:-1]
    assert len({line.get_color() for line in lines}) == len({line.get_marker() for line in lines}) == len(lines) == 4


@pytest.mark.parametrize(("rate", "text"), [(50, "50"), (1e5, "100 k"), (3e7, "30 M"), (1e10, "10 G")])
def test_a_rate_is_written_with_a_prefix(rate: float, text: str) -> None:
    assert rate_text(rate) == text
