"""The score sheet as a figure: a strip for each class with our score, its interval, the null model and the bound."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter

from numasim.report.figures.grid import legend_below
from numasim.report.figures.style import line_colour, styled
from numasim.reproduce.pages.number_text import met
from numasim.reproduce.score.metrics import METRICS
from numasim.reproduce.table_cells import Score

MET_COLOUR, MISSED_COLOUR = line_colour(0), line_colour(1)
ASKED_COLOUR, NULL_COLOUR = "#DCEBDC", "#595959"
BOUND_COLOUR = "#4C8C4C"
WIDTH_INCHES = 8.2
STRIP_INCHES = 0.62


@styled
def score_figure(scores: Sequence[Score]) -> Figure:
    """Draw one strip for each score, each on the scale of its own metric, the better side shaded."""
    figure = Figure(figsize=(WIDTH_INCHES, STRIP_INCHES * len(scores) + 0.6), layout="constrained")
    strips = figure.subplots(len(scores), 1, squeeze=False)
    for axes, score in zip(strips.flat, scores, strict=True):
        _strip(axes, score)
    legend_below(
        figure,
        [
            Line2D([], [], color=MET_COLOUR, marker="o", label="our score; 95 % over seeds (wide), rows (thin)"),
            Line2D([], [], color=MISSED_COLOUR, marker="X", label="bound missed"),
            Line2D([], [], color=NULL_COLOUR, marker="D", markerfacecolor="white", linestyle="", label="null model"),
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
    """From perfect to the worst value shown, with a margin, within the range of the metric."""
    perfect = METRICS[score.metric].best
    ends = [end for each in (score.seeds, score.rows) if each for end in (each.low, each.high)]
    known = [value for value in (score.value, *ends, score.null, score.bound) if value is not None]
    shown = [value for value in known if not math.isnan(value)]
    if METRICS[score.metric].rising:
        return min(0.0, *shown) - 0.02, perfect + 0.02
    reach = max(shown) - perfect
    return perfect - 0.03 * reach, perfect + 1.12 * (reach or 1)
