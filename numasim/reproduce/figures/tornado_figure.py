"""Tornado charts: how far each conclusion moves when one input is changed, a panel for each, longest bar on top."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator, PercentFormatter

from numasim.report.figures.grid import empty_figure, legend_below
from numasim.report.figures.style import line_colour, styled
from numasim.reproduce.figures.score_figure import BOUND_COLOUR
from numasim.reproduce.score.metrics import METRICS
from numasim.reproduce.score.sensitivity import EFFECT, Conclusion, Influence, Sensitivity

COLOURS = {"low": line_colour(5), "high": line_colour(4)}
WORDS = {"low": "low or first", "high": "high or second"}
CHANCE_COLOUR, BASE_COLOUR = "#E0E0E0", "#4D4D4D"
WIDTH_INCHES = 10.2
PANEL_COLUMNS = 2
BAR_INCHES = 0.25
HEADING_INCHES = 0.85  # of a panel, with its axis
LEGEND_INCHES = 0.5
BAR_HEIGHT = 0.72
LABEL_ROOM = 0.32  # of the width of the bars, on either side


@styled
def tornado_figure(found: Sensitivity, conclusions: Sequence[str] = ()) -> Figure:
    """Draw the named conclusions, or all; changes without influence on one are named below its panel."""
    shown = [each for each in found.conclusions if not conclusions or each.name in conclusions]
    if not shown or not found.influences:
        return empty_figure("there are no changes or no conclusions")
    columns = min(PANEL_COLUMNS, len(shown))
    lines = [shown[start : start + columns] for start in range(0, len(shown), columns)]
    heights = [max(len(found.sorted_for(each)) for each in line) * BAR_INCHES + HEADING_INCHES for line in lines]
    figure = Figure(figsize=(WIDTH_INCHES, sum(heights) + LEGEND_INCHES), layout="constrained")
    panels = figure.subplots(len(lines), columns, squeeze=False, height_ratios=heights)
    for axes, each in zip(panels.flat, shown, strict=False):
        _panel(axes, each, found.sorted_for(each), len(found.influences))
    for unused in panels.flat[len(shown) :]:
        unused.remove()
    legend_below(figure, _handles())
    return figure


def _panel(axes: Axes, conclusion: Conclusion, influences: Sequence[Influence], of: int) -> None:
    axes.grid(visible=False, axis="y")
    axes.axvspan(min(conclusion.seeds), max(conclusion.seeds), color=CHANCE_COLOUR, linewidth=0, zorder=0)
    for place, influence in enumerate(influences):
        _bars(axes, place, conclusion, influence)
    axes.axvline(conclusion.value, color=BASE_COLOUR, linewidth=1.2)
    if conclusion.bound is not None:
        axes.axvline(conclusion.bound, color=BOUND_COLOUR, linewidth=1.6, linestyle=(0, (3, 1.5)))
    axes.set_yticks(range(len(influences)), [influence.name for influence in influences])
    axes.set_ylim(max(1, len(influences)) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    low, high = axes.get_xlim()
    axes.set_xlim(low - LABEL_ROOM * (high - low), high + LABEL_ROOM * (high - low))
    axes.xaxis.set_major_locator(MaxNLocator(4))
    if _percent(conclusion):
        axes.xaxis.set_major_formatter(PercentFormatter(1))
    axes.set_title(f"{conclusion.name}: {_what(conclusion)}")
    axes.set_xlabel(f"moved by {len(influences)} of {of} changes", fontsize=9)


def _bars(axes: Axes, place: int, conclusion: Conclusion, influence: Influence) -> None:
    """Draw a bar for each side; where both point the same way, the shorter one is in front, with its label inside."""
    sides = {
        name: (side, value - conclusion.value)
        for name, side in influence.sides.items()
        if not math.isnan(value := side.values.get(conclusion.name, math.nan))
    }
    same_way = len(sides) > 1 and math.prod(length for _, length in sides.values()) > 0
    for level, (name, (side, length)) in enumerate(sorted(sides.items(), key=lambda item: -abs(item[1][1]))):
        height = BAR_HEIGHT / 2 if same_way else BAR_HEIGHT
        middle = place + (height * (0.5 if name == "high" else -0.5) if same_way else 0)
        axes.barh(middle, length, height, left=conclusion.value, color=COLOURS[name], linewidth=0, zorder=2 + level)
        if length:
            _label(axes, middle, conclusion.value + length, side.label, length > 0, small=same_way)


def _label(axes: Axes, y: float, x: float, text: str, right: bool, small: bool) -> None:
    axes.annotate(
        text,
        (x, y),
        (3 if right else -3, 0),
        textcoords="offset points",
        ha="left" if right else "right",
        va="center",
        fontsize=6 if small else 7.5,
        zorder=5,
        path_effects=[withStroke(linewidth=1.5, foreground="white")],
    )


def _percent(conclusion: Conclusion) -> bool:
    return conclusion.metric == EFFECT or METRICS[conclusion.metric].percent


def _what(conclusion: Conclusion) -> str:
    return "gain in speed" if conclusion.metric == EFFECT else METRICS[conclusion.metric].label


def _handles() -> list[Patch | Line2D]:
    return [
        *(Patch(color=COLOURS[side], label=WORDS[side]) for side in COLOURS),
        Line2D([], [], color=BASE_COLOUR, linewidth=1.2, label="as modelled"),
        Patch(color=CHANCE_COLOUR, label="other seeds"),
        Line2D([], [], color=BOUND_COLOUR, linewidth=1.6, linestyle=(0, (3, 1.5)), label="no gain, or asked for"),
    ]
