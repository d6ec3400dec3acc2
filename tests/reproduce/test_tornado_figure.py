"""Tornado charts: lengths, order and labels of bars are those of the study."""

from __future__ import annotations

import math

import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from numasim.reproduce.figures.tornado_figure import COLOURS, tornado_figure
from numasim.reproduce.score.sensitivity import EFFECT, Conclusion, Influence, Sensitivity, Side

SOURCE = "somebody"


def influence(name: str, **values: float) -> Influence:
    return Influence(name, "vendor", SOURCE, {end: Side(f"{name} {end}", {"gain": v}) for end, v in values.items()})


def study(*influences: Influence, seeds: tuple[float, ...] = (0.1, 0.12, 0.05)) -> Sensitivity:
    return Sensitivity((Conclusion("gain", EFFECT, 0.1, seeds, 0.0),), influences, 9)


def drawn(found: Sensitivity) -> Axes:
    figure = tornado_figure(found)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    return axes


def bars(axes: Axes) -> dict[tuple[float, str], tuple[float, float]]:
    """From where to where each bar goes, by line and end of the range."""
    ends = {colour.lower(): end for end, colour in COLOURS.items()}
    found = {}
    for patch in axes.patches:
        if isinstance(patch, Rectangle) and to_hex(patch.get_facecolor()) in ends:
            line = round(patch.get_y() + patch.get_height() / 2)
            found[line, ends[to_hex(patch.get_facecolor())]] = (patch.get_x(), patch.get_x() + patch.get_width())
    return found


def test_bars_go_from_the_value_to_both_ends_longest_first() -> None:
    axes = drawn(
        study(
            influence("small", low=0.09, high=0.11), influence("large", low=-0.2, high=0.3), influence("one", low=0.2)
        )
    )
    assert [label.get_text() for label in axes.get_yticklabels()] == ["large", "one", "small"]
    assert bars(axes) == {
        (0, "low"): pytest.approx((0.1, -0.2)),
        (0, "high"): pytest.approx((0.1, 0.3)),
        (1, "low"): pytest.approx((0.1, 0.2)),
        (2, "low"): pytest.approx((0.1, 0.09)),
        (2, "high"): pytest.approx((0.1, 0.11)),
    }
    labels = {text.get_text() for text in axes.texts}
    assert labels == {"large low", "large high", "one low", "small low", "small high"}


def test_every_influence_has_a_bar_or_is_counted() -> None:
    axes = drawn(study(influence("still", low=0.1), influence("large", low=0.2), influence("lost", high=math.nan)))
    assert [label.get_text() for label in axes.get_yticklabels()] == ["large"]
    assert axes.get_xlabel() == "moved by 1 of 3 changes"


def test_ends_that_go_the_same_way_do_not_hide_each_other() -> None:
    axes = drawn(study(influence("one", low=0.2, high=0.3)))
    found = {bar.get_y(): bar.get_height() for bar in axes.patches if isinstance(bar, Rectangle)}
    low, high = sorted(y for y in found if -1 < y < 1 and found[y] < 0.5)
    assert low + found[low] == pytest.approx(high)


def test_lines_and_band() -> None:
    axes = drawn(study(influence("one", low=0.2)))
    value, bound = axes.lines
    assert list(value.get_xdata()) == [0.1, 0.1]
    assert list(bound.get_xdata()) == [0.0, 0.0]
    band = axes.patches[0]
    assert isinstance(band, Rectangle)
    assert (band.get_x(), band.get_width()) == pytest.approx((0.05, 0.07))
    low, high = axes.get_xlim()
    assert low < 0
    assert high > 0.2


def test_only_the_conclusions_that_are_asked_for() -> None:
    two = Sensitivity(
        (Conclusion("gain", EFFECT, 0.1, (0.1,), 0.0), Conclusion("times", "mape", 0.2, (0.2,), None)),
        (influence("one", low=0.2),),
        9,
    )
    assert len(tornado_figure(two).axes) == 2
    (axes,) = tornado_figure(two, ["times"]).axes
    assert axes.get_title(loc="left") == "times: mean relative error"
    assert axes.get_xlabel() == "moved by 0 of 1 changes"
    assert "no conclusions" in tornado_figure(two, ["steals"]).texts[0].get_text()
