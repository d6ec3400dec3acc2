"""The contribution of each mechanism: a panel for each class, with its score as modelled and with one switched off."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, PercentFormatter

from numasim.report.figures.grid import legend_below
from numasim.report.figures.style import line_colour, styled
from numasim.reproduce.figures.score_figure import BOUND_COLOUR, WIDTH_INCHES
from numasim.reproduce.findings import Ablation
from numasim.reproduce.pages.number_text import same_score
from numasim.reproduce.score.metrics import METRICS
from numasim.reproduce.table_cells import Score

PANEL_COLUMNS = 2
BAR_INCHES = 0.24
FULL, FULL_COLOUR, SAME_COLOUR = "as modelled", "#4D4D4D", "#B3B3B3"
BETTER_COLOUR, WORSE_COLOUR = line_colour(2), line_colour(1)


@styled
def ablation_figure(scores: Sequence[Score], ablations: Sequence[Ablation]) -> Figure:
    """Draw for each class of ``scores`` the score under each ablation, the first with all mechanisms, and the bound."""
    rows = -(-len(scores) // PANEL_COLUMNS)
    height = rows * (BAR_INCHES * len(ablations) + 0.75) + 0.5
    figure = Figure(figsize=(WIDTH_INCHES, height), layout="constrained")
    panels = figure.subplots(rows, PANEL_COLUMNS, sharey=True, squeeze=False)
    for axes, score in zip(panels.flat, scores, strict=False):
        _panel(axes, score, ablations)
    for unused in panels.flat[len(scores) :]:
        unused.remove()
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
    found = {each.mechanism: same_score(score, each.scores) for each in ablations}
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
