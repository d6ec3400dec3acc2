"""Figures of scores: chains of values from strategy to strategy, the score sheet, and the effect of each mechanism.

The figure of chains has a panel for each row of a class of quantities: the published and the simulated values under
each strategy, in the order of the tables. A grey band shows the ceiling of the class: on average no model can be nearer
to the published values. The score sheet has a strip for each class: the score with intervals, the best simple rule and
the bound. The figure of ablations has a panel for each class: its score with all mechanisms, and without each
mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, PercentFormatter

from numasim.report.figures.style import legend_below, line_colour, panel_grid, panels_of, styled
from numasim.reproduce.findings import Ablation
from numasim.reproduce.metrics import METRICS
from numasim.reproduce.table_cells import Cell, Score, Table
from numasim.reproduce.table_figure import AXIS_WORDS, ERROR_COLOUR, PUBLISHED_LINE
from numasim.reproduce.text import met, named, simulated_estimate

MET_COLOUR, MISSED_COLOUR = line_colour(0), line_colour(1)
ASKED_COLOUR, NULL_COLOUR = "#DCEBDC", "#595959"
BOUND_COLOUR = "#4C8C4C"
WIDTH_INCHES = 8.2
STRIP_INCHES = 0.62


@styled
def score_figure(scores: Sequence[Score]) -> Figure:
    """Draw a strip for each score on the scale of its metric; the side on which the bound is met is shaded."""
    figure = Figure(figsize=(WIDTH_INCHES, STRIP_INCHES * len(scores) + 0.6), layout="constrained")
    strips = figure.subplots(len(scores), 1, squeeze=False)
    for axes, score in zip(strips.flat, scores, strict=True):
        _strip(axes, score)
    legend_below(
        figure,
        [
            Line2D([], [], color=MET_COLOUR, marker="o", label="our score; 95 % over seeds (wide), rows (thin)"),
            Line2D([], [], color=MISSED_COLOUR, marker="X", label="bound missed"),
            Line2D(
                [], [], color=NULL_COLOUR, marker="D", markerfacecolor="white", linestyle="", label="best simple rule"
            ),
            Patch(facecolor=ASKED_COLOUR, edgecolor=BOUND_COLOUR, label="asked for"),
        ],
    )
    return figure


def _strip(axes: Axes, score: Score) -> None:
    metric = METRICS[score.metric]
    axes.set_xlim(*_limits(score))
    axes.set_ylim(-1, 1)
    axes.set_yticks([])
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
    if score.bound is not None:
        ends = axes.get_xlim()
        axes.axvspan(score.bound, ends[1] if metric.rising else ends[0], color=ASKED_COLOUR, zorder=0)
        axes.axvline(score.bound, color=BOUND_COLOUR, linewidth=1.2)
    _points(axes, score)
    axes.tick_params(axis="x", labelsize=8, pad=1)
    if metric.percent:
        axes.xaxis.set_major_formatter(PercentFormatter(1))
    label = f"{score.name}\n{metric.label}"
    axes.set_ylabel(label, rotation=0, ha="right", va="center", fontsize=9, labelpad=6)


def _points(axes: Axes, score: Score) -> None:
    missed = met(score) is False
    colour, marker = (MISSED_COLOUR, "X") if missed else (MET_COLOUR, "o")
    if score.rows:
        axes.plot([score.rows.low, score.rows.high], [0, 0], color=colour, linewidth=1.2, alpha=0.8)
    if score.seeds:
        axes.plot([score.seeds.low, score.seeds.high], [0, 0], color=colour, linewidth=4, alpha=0.45)
    if score.null is not None:
        axes.plot(score.null, 0, color=NULL_COLOUR, marker="D", markerfacecolor="white", markersize=6, clip_on=False)
    axes.plot(score.value, 0, color=colour, marker=marker, markersize=7, clip_on=False, zorder=4)


def _limits(score: Score) -> tuple[float, float]:
    """Return the ends of the axis: the perfect value and the worst shown value, with margins."""
    perfect = METRICS[score.metric].best
    ends = [end for each in (score.seeds, score.rows) if each for end in (each.low, each.high)]
    known = [value for value in (score.value, *ends, score.null, score.bound) if value is not None]
    shown = [value for value in known if not math.isnan(value)]
    if METRICS[score.metric].rising:
        return min(0.0, *shown) - 0.02, perfect + 0.02
    reach = max(shown) - perfect
    return perfect - 0.03 * reach, perfect + 1.12 * (reach or 1)


PANEL_COLUMNS = 2
BAR_INCHES = 0.24
FULL, FULL_COLOUR, SAME_COLOUR = "as modelled", "#4D4D4D", "#B3B3B3"
BETTER_COLOUR, WORSE_COLOUR = line_colour(2), line_colour(1)


@styled
def ablation_figure(scores: Sequence[Score], ablations: Sequence[Ablation]) -> Figure:
    """Draw a panel for each score: its value under each ablation, the first with all mechanisms, and the bound."""
    rows = -(-len(scores) // PANEL_COLUMNS)
    height = rows * (BAR_INCHES * len(ablations) + 0.75) + 0.5
    figure = Figure(figsize=(WIDTH_INCHES, height), layout="constrained")
    for axes, score in zip(panels_of(figure, len(scores), PANEL_COLUMNS, sharey=True), scores, strict=True):
        _panel(axes, score, ablations)
    legend_below(
        figure,
        [
            Patch(color=FULL_COLOUR, label=FULL),
            Patch(color=WORSE_COLOUR, label="worse without"),
            Patch(color=BETTER_COLOUR, label="better without"),
            Line2D([], [], color=BOUND_COLOUR, label="asked for"),
        ],
    )
    return figure


def _panel(axes: Axes, score: Score, ablations: Sequence[Ablation]) -> None:
    metric = METRICS[score.metric]
    found = {each.mechanism: named(score.name, each.scores) for each in ablations}
    values = {name: other.value for name, other in found.items() if other is not None}
    full = next(iter(values.values()), score.value)
    names = [f"no {name}" if at else FULL for at, name in enumerate(values)]
    colours = [_colour(score, value, full) if at else FULL_COLOUR for at, value in enumerate(values.values())]
    places = range(len(names))
    start = 0.0 if metric.rising else metric.best
    axes.barh(list(places), [value - start for value in values.values()], left=start, color=colours, height=0.7)
    axes.margins(x=0.05)
    axes.xaxis.set_major_locator(MaxNLocator(6))
    axes.set_yticks(list(places), names)
    axes.set_ylim(len(ablations) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    if score.bound is not None:
        axes.axvline(score.bound, color=BOUND_COLOUR, linewidth=2)
    if metric.percent:
        axes.xaxis.set_major_formatter(PercentFormatter(1))
    axes.set_title(f"{score.name}: {metric.label}")


def _colour(score: Score, value: float, full: float) -> str:
    if value == full:
        return SAME_COLOUR
    return BETTER_COLOUR if METRICS[score.metric].beats(value, full) else WORSE_COLOUR


# ---- Chains ----

CHAIN_COLUMNS = 3
CHAIN_INCHES = 2.7, 1.9  # width and height of a panel
PUBLISHED_COLOUR, SIMULATED_COLOUR = "black", line_colour(0)
BAND_COLOUR = "#D9D9D9"
HEADROOM = 1.08  # over the largest value, and below the smallest if it is negative


def chains(tables: Sequence[Table], score: str) -> dict[str, list[Cell]]:
    """Return the cells of the class ``score`` by row, in the order of tables, each row after its first cell's baseline.

    Rows with a single cell are left out.
    """
    found: dict[str, list[Cell]] = {}
    for table in tables:
        at = {(cell.row, cell.column): cell for cell in table.cells}
        for cell in table.cells:
            if cell.score == score:
                before = at.get((cell.row, cell.baseline))
                found.setdefault(cell.row, [before] if before else []).append(cell)
    return {row: cells for row, cells in found.items() if len(cells) > 1}


@styled
def chain_figure(rows: Mapping[str, Sequence[Cell]], score: Score) -> Figure:
    """Draw the `chains` of a class, at least one, over the variants of the cells."""
    unit = next(iter(rows.values()))[0].unit
    titles = [(row, "") for row in rows]
    figure, panels = panel_grid(
        titles,
        columns=CHAIN_COLUMNS,
        width=CHAIN_INCHES[0],
        height=CHAIN_INCHES[1],
        x_label="",
        y_label=AXIS_WORDS.get(unit, f"{score.name} ({unit})"),
        share_y=False,
    )
    for index, (axes, cells) in enumerate(zip(panels, rows.values(), strict=False)):
        _chain(axes, cells, score.ceiling or 0.0)
        lowest = index + CHAIN_COLUMNS >= len(panels)  # the lowest panel of its column
        names = [cell.variant if lowest else "" for cell in cells]
        axes.set_xticks(range(len(cells)), names, rotation=40, ha="right", rotation_mode="anchor")
    legend_below(figure, _handles(score))
    return figure


def _chain(axes: Axes, cells: Sequence[Cell], ceiling: float) -> None:
    places = np.arange(len(cells))
    published = np.array([cell.published for cell in cells])
    if ceiling:
        axes.fill_between(places, published * (1 - ceiling), published * (1 + ceiling), color=BAND_COLOUR, linewidth=0)
    axes.plot(places, published, color=PUBLISHED_COLOUR, linestyle=PUBLISHED_LINE, marker="o", markerfacecolor="white")
    found = [simulated_estimate(cell) for cell in cells]
    values = np.array([each.value for each in found])
    margins = [values - [each.low for each in found], [each.high for each in found] - values]
    axes.errorbar(places, values, np.nan_to_num(margins), fmt="none", ecolor=ERROR_COLOUR, elinewidth=1, zorder=4)
    axes.plot(places, values, color=SIMULATED_COLOUR, linewidth=2, marker="s", zorder=3)
    drawn = np.append(published, values)
    lowest = float(np.nanmin(drawn))
    if lowest < 0:
        axes.axhline(0, color=ERROR_COLOUR, linewidth=0.8)
    axes.set_ylim(HEADROOM * min(0.0, lowest), HEADROOM * float(np.nanmax(drawn)))


def _handles(score: Score) -> list[Line2D | Patch]:
    published = Line2D([], [], color=PUBLISHED_COLOUR, linestyle=PUBLISHED_LINE, marker="o", markerfacecolor="white")
    published.set_label("published")
    simulated = Line2D([], [], color=SIMULATED_COLOUR, marker="s", linewidth=2, label="simulated, 95 % over seeds")
    if not score.ceiling:
        return [published, simulated]
    return [published, simulated, Patch(facecolor=BAND_COLOUR, label="ceiling: no model is nearer on average")]
