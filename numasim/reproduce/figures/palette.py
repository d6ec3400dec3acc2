"""The style of a reproduction's figures: colours of published and simulated, of input, fitted and predicted values."""

from __future__ import annotations

from collections.abc import Iterable

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import EngFormatter

from numasim.reproduce.table_cells import Cell, Role

HATCHES = {Role.INPUT: "xx", Role.FITTED: "////", Role.PREDICTED: ""}  # of simulated bars
MARKERS = {Role.INPUT: "s", Role.FITTED: "D", Role.PREDICTED: "o"}  # of simulated points
PUBLISHED_ALPHA = 0.25  # of the fill of published bars
PUBLISHED_LINE = (0, (4, 2))
ERROR_COLOUR = "#262626"
NEUTRAL = "#7F7F7F"  # in legends, where the colour does not matter
CAP_POINTS = 2.5
COMPACT_FROM = 10_000
AXIS_WORDS = {"count": "count", "1": "ratio"}


def y_label(cell: Cell) -> str:
    """Return the label of an axis for such cells: quantity and unit."""
    unit = AXIS_WORDS.get(cell.unit, cell.unit)
    words = cell.quantity.removesuffix(f"_{cell.unit.lower()}").replace("_", " ")
    return words if words.endswith(unit) else f"{words} ({unit})"


def compact_counts(axes: Axes) -> None:
    """Write large numbers of the vertical axis as 20 k and 5 M."""
    if axes.get_ylim()[1] >= COMPACT_FROM:
        axes.yaxis.set_major_formatter(EngFormatter())


def bar_handles(roles: Iterable[Role]) -> list[Artist]:
    """Return legend entries for published and simulated bars."""
    published = Patch(facecolor=(NEUTRAL, PUBLISHED_ALPHA), edgecolor=NEUTRAL, label="published")
    simulated: list[Artist] = [
        Patch(facecolor=NEUTRAL, edgecolor="white", linewidth=0, hatch=HATCHES[role], label=f"simulated, {role}")
        for role in roles
    ]
    return [published, *simulated]


def line_handles(roles: Iterable[Role]) -> list[Artist]:
    """Return legend entries for published and simulated lines."""
    published = Line2D([], [], color=NEUTRAL, linestyle=PUBLISHED_LINE, marker="o", markerfacecolor="white")
    published.set_label("published")
    simulated: list[Artist] = [
        Line2D([], [], color=NEUTRAL, marker=MARKERS[role], label=f"simulated, {role}") for role in roles
    ]
    return [published, *simulated]
