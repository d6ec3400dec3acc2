"""Figures of a reproduction: heights, points and marks equal the values of the cells and scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cells_by_hand import cell, table
from made_up_findings import made_up
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from numasim.reproduce.findings import Ablation
from numasim.reproduce.score_figures import (
    BETTER_COLOUR,
    FULL_COLOUR,
    WORSE_COLOUR,
    ablation_figure,
    chain_figure,
    score_figure,
)
from numasim.reproduce.study import read_study
from numasim.reproduce.table_cells import Interval, Score, Table
from numasim.reproduce.table_figure import table_figure


def drawn(what: Table) -> Figure:
    figure = table_figure(what)
    assert figure is not None
    figure.draw_without_rendering()
    return figure


def bars(axes: Axes) -> list[Rectangle]:
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def score(value: float, metric: str = "mape", **more: float | Interval | None) -> Score:
    known = {"seeds": None, "null": None, "bound": None, **more}
    return Score(name="times", metric=metric, value=value, cells=3, **known)  # type: ignore[arg-type]


# ---- bars ----


def test_rows_of_like_size_share_a_panel() -> None:
    figure = drawn(table([cell("a", 2.0, 1.0, 3.0), cell("b", 4.0, 5.0)]))
    (axes,) = figure.axes
    assert [bar.get_height() for bar in bars(axes)] == [2.0, 2.0, 4.0, 5.0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["a", "b"]
    assert axes.get_ylabel() == "makespan (s)"


def test_rows_of_unlike_size_have_a_panel_each() -> None:
    figure = drawn(table([cell("a", 2.0, 2.5), cell("b", 400.0, 5.0), cell("c", 3.0, 3.0)]))
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["a", "b", "c"]
    assert [[bar.get_height() for bar in bars(axes)] for axes in figure.axes] == [[2.0, 2.5], [400.0, 5.0], [3.0, 3.0]]


def test_what_was_not_simulated_has_no_bar_but_a_word() -> None:
    (axes,) = drawn(table([cell("a", 2.0, 2.5), cell("b", 4.0)])).axes
    assert len(bars(axes)) == 3
    assert [text.get_text() for text in axes.texts] == ["none"]


def test_error_bars_are_the_interval_over_the_seeds() -> None:
    (axes,) = drawn(table([cell("a", 20.0, 20.0, 21.0)])).axes
    (segment,) = axes.collections[0].get_segments()  # type: ignore[attr-defined]
    half = 12.706204736 * 0.5  # Student's t for one degree of freedom, times the standard error
    assert segment[:, 1] == pytest.approx([20.5 - half, 20.5 + half])


# ---- regression ----


def regression(x: tuple[float, ...], y: tuple[float, ...], slope: float, intercept: float) -> Table:
    published = {"slope": 2.0, "intercept": 0.0, "r": 0.9}
    simulated = {"slope": slope, "intercept": intercept, "r": 1.0}
    cells = [cell(row, published[row], simulated[row], column="printed") for row in published]
    extra = {"steal_success": x, "makespan_s": y}
    figure = read_study("thesis").part("regression_figure").regression_figure
    return replace(table(cells, "regression-1"), extra=extra, figure=figure)


def test_a_regression_shows_its_runs_and_both_lines() -> None:
    (axes,) = drawn(regression((1.0, 2.0, 3.0), (2.0, 3.0, 4.0), slope=1.0, intercept=1.0)).axes
    points, simulated, published = axes.lines
    np.testing.assert_allclose(points.get_data(), [[1, 2, 3], [2, 3, 4]])
    np.testing.assert_allclose(simulated.get_ydata(), 1 + np.asarray(simulated.get_xdata()))
    np.testing.assert_allclose(published.get_ydata(), 2 * np.asarray(published.get_xdata()))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("successful steals", "execution time (s)")
    assert all(axes.get_xlim()[0] < x < axes.get_xlim()[1] for x in (1, 3))
    assert all(axes.get_ylim()[0] < y < axes.get_ylim()[1] for y in (2, 4))


# ---- lines ----


def test_numbers_of_workers_make_lines() -> None:
    cells = [cell(str(count), 10.0 * count, 11.0 * count, column=name) for count in (2, 4, 6, 8) for name in ("x", "y")]
    figure = drawn(table(cells))
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["x (s)", "y (s)"]
    for axes in figure.axes:
        published, simulated, *_ = axes.lines
        np.testing.assert_allclose(published.get_data(), [[2, 4, 6, 8], [20, 40, 60, 80]])
        np.testing.assert_allclose(simulated.get_data(), [[2, 4, 6, 8], [22, 44, 66, 88]])


# ---- labels ----


@pytest.mark.parametrize("identity", ["3.3", "3.6", "6.2", "6.4"])
def test_no_label_covers_another(identity: str) -> None:
    (shown,) = (found for found in made_up().tables if found.id == identity)
    figure = drawn(shown)
    for axes in figure.axes:
        texts = [axes.title, axes._left_title, *axes.get_xticklabels(), *axes.get_yticklabels()]
        boxes = [text.get_window_extent() for text in texts if text.get_text() and text.get_visible()]
        assert not any(a.overlaps(b) for index, a in enumerate(boxes) for b in boxes[:index])
        assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes)


# ---- scores and ablations ----


def test_a_strip_shows_score_interval_null_and_bound() -> None:
    intervals = {"seeds": Interval(0.08, 0.12), "rows": Interval(0.05, 0.2)}
    (axes,) = score_figure([score(0.1, null=0.3, bound=0.15, **intervals)]).axes
    bound, over_rows, over_seeds, null, ours = axes.lines
    assert list(over_rows.get_xdata()) == [0.05, 0.2]
    assert list(over_seeds.get_xdata()) == [0.08, 0.12]
    assert [list(line.get_xdata()) for line in (null, ours)] == [[0.3], [0.1]]
    assert list(bound.get_xdata()) == [0.15, 0.15]
    assert axes.get_xlim()[1] > 0.3


@pytest.mark.parametrize(("metric", "better"), [("mape", 0.4), ("sign-agreement", 0.6)])
def test_the_shaded_side_is_the_better_one(metric: str, better: float) -> None:
    (axes,) = score_figure([score(0.9, metric, bound=0.5)]).axes
    (asked,) = bars(axes)
    ends = sorted((asked.get_x(), asked.get_x() + asked.get_width()))
    assert ends[0] < better < ends[1]
    assert 0.5 in ends


def test_an_ablation_is_coloured_by_what_it_does_to_the_score() -> None:
    ablations = [Ablation(str(value), "", (score(value),)) for value in (0.1, 0.2, 0.05)]
    # Colours compare with the first ablation (0.1), since the study's score (0.13) comes from other runs.
    (axes,) = ablation_figure([score(0.13, bound=0.15)], ablations).axes
    assert [bar.get_width() for bar in bars(axes)] == [0.1, 0.2, 0.05]
    expected = [FULL_COLOUR, WORSE_COLOUR, BETTER_COLOUR]
    assert [to_hex(bar.get_facecolor()).upper() for bar in bars(axes)] == expected
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["as modelled", "no 0.2", "no 0.05"]


# ---- chains from strategy to strategy ----


@pytest.mark.parametrize(("last", "lines"), [(3.0, 2), (-2.0, 3)])
def test_all_points_of_a_chain_are_in_sight_those_below_zero_too(last: float, lines: int) -> None:
    figure = chain_figure({"vacation": [cell("vacation", 46.0, 20.0), cell("vacation", 7.0, last)]}, score(5.0))
    (axes,) = figure.axes
    bottom, top = axes.get_ylim()
    assert bottom <= min(0.0, last)
    assert top > 46.0
    assert (bottom < 0.0) == (last < 0.0)
    # the two series, and a line at zero
    assert len([line for line in axes.lines if len(line.get_xdata()) == 2]) == lines
