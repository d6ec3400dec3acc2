"""The common style of all figures: sizes, fonts, colours, and markers, which differ also in a grey print.

Small multiples are panels of one size in a grid, with axis labels on the rim of the grid and one legend below.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, ParamSpec

import matplotlib.style
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from numasim.report.components import LINE_COLOURS
from numasim.report.notebooks.result_html import show_figures

Parameters = ParamSpec("Parameters")

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")  # 8 markers and 7 colours give 56 different pairs
REFERENCE_COLOUR = "black"
RULES = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#4D4D4D",
    "axes.grid": True,
    "axes.labelsize": 10.5,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titley": 1.0,  # titles at one height, because no label stands above an axis
    "axes.xmargin": 0.03,
    "figure.dpi": 150,
    "font.size": 10,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.7,
    "legend.fontsize": 10,
    "legend.frameon": False,
    "lines.markersize": 5.5,
    "svg.hashsalt": "numasim",  # a fixed salt, so that equal figures have equal ids in all files
    "xtick.color": "#4D4D4D",
    "xtick.labelcolor": "black",
    "ytick.color": "#4D4D4D",
    "ytick.labelcolor": "black",
}


def styled(draw: Callable[Parameters, Figure]) -> Callable[Parameters, Figure]:
    """Let ``draw`` use this module's rules and matplotlib's defaults, then restore the user's own settings.

    A notebook shows the figure.
    """

    @wraps(draw)
    def inside(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Figure:
        show_figures(rules)
        with rules():
            return draw(*args, **kwargs)

    return inside


def rules() -> AbstractContextManager[None]:
    """Return a context in which matplotlib's defaults and the rules of this module hold."""
    return matplotlib.style.context(["default", RULES])


def line_colour(index: int) -> str:
    """Return the colour of contender ``index``."""
    return LINE_COLOURS[index % len(LINE_COLOURS)]


def line_width(index: int) -> float:
    """Return the width, in points, of the line of contender ``index``: later lines are narrower and hide no line."""
    return max(1.4, 3.0 - 0.7 * index)


def marker(index: int) -> str:
    """Return the marker of contender ``index``."""
    return MARKERS[index % len(MARKERS)]


PANEL_LIMIT = 24  # most panels; more panels would not be readable on one page
CHARACTER_INCHES = 0.078  # width of a character of legend text
BOLD_CHARACTER_INCHES = 0.095  # width of a character of a panel's title
SMALL_CHARACTER_INCHES = 0.07  # width of a character of a panel's subtitle
SUBTITLE_POINTS = 11  # height of a line of a subtitle
LINE_INCHES = 0.17  # height of a line of a title or subtitle
HEADING_INSET = 0.1  # distance of a figure's heading from the left edge, in inches
HEADING_MARGIN = 0.3  # on both sides together, in inches
MARGIN_INCHES = 0.45  # margin beside a panel; a title that reaches into the margin would make the panel narrower
HANDLE_INCHES = 0.58  # width of a legend's symbol and the space around the symbol

Title = tuple[str, str]  # title and subtitle of a panel


def panel_grid(
    titles: Sequence[Title],
    *,
    columns: int,
    width: float,
    height: float,
    x_label: str,
    y_label: str,
    share_y: bool = True,
    heading: str = "",
) -> tuple[Figure, list[Axes]]:
    """Make a figure of ``len(titles)`` panels (at most `PANEL_LIMIT`), each of ``width`` x ``height`` inches.

    Titles and the ``heading`` above all panels need height of their own. If there are too many panels, a line below the
    panels says so, and only the panels that fit are returned.
    """
    room = width - MARGIN_INCHES
    shown = [
        (
            textwrap.wrap(title, int(room / BOLD_CHARACTER_INCHES)),
            textwrap.wrap(below, int(room / SMALL_CHARACTER_INCHES)),
        )
        for title, below in titles[:PANEL_LIMIT]
    ]
    columns = min(columns, len(shown))
    rows = -(-len(shown) // columns)
    titles_height = max(len(title) + len(subtitle) for title, subtitle in shown) * LINE_INCHES
    full_width = width * columns + 0.7
    characters = int((full_width - HEADING_MARGIN) / SMALL_CHARACTER_INCHES)
    parts = [heading] if len(heading) <= characters else heading.split("; ")
    above = [line for part in parts for line in textwrap.wrap(part, characters)]
    full_height = (height + titles_height) * rows + 0.8 + len(above) * LINE_INCHES
    figure = Figure(figsize=(full_width, full_height), layout="constrained")
    if above:
        figure.suptitle("\n".join(above), x=HEADING_INSET / full_width, ha="left", fontsize=9, color="#404040")
    axes = panels_of(figure, len(shown), columns, sharey=share_y)
    place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    for index, (title, below) in enumerate(shown):
        axes[index].set_title("\n".join(title), pad=6 + SUBTITLE_POINTS * len(below))
        if below:
            axes[index].annotate("\n".join(below), (0, 1), (0, 4), **place, fontsize=9)
        if index + columns >= len(shown):
            axes[index].set_xlabel(x_label)
        if index % columns == 0:
            axes[index].set_ylabel(y_label)
    if len(titles) > PANEL_LIMIT:
        figure.supxlabel(f"the first {PANEL_LIMIT} of {len(titles)} panels", fontsize=9, color="#595959")
    return figure, axes


def panels_of(figure: Figure | SubFigure, count: int, columns: int, **options: Any) -> list[Axes]:
    """Divide ``figure`` into ``count`` panels in ``columns``, without panels for the empty places of the last row."""
    panels = list(figure.subplots(-(-count // columns), columns, squeeze=False, **options).flat)
    for unused in panels[count:]:
        unused.remove()
    return panels[:count]


def contender_grid_columns(titles: Sequence[Title]) -> int:
    """Return the number of columns of a grid: one row for each facet, if the contenders of a facet fit on a row."""
    contenders = len({title for title, _ in titles})
    return contenders if 2 <= contenders <= 4 else 3


def legend_below(figure: Figure, handles: Sequence[Artist]) -> None:
    """Put one legend under the panels, in as many columns as the figure has room for."""
    widths = [len(str(handle.get_label())) * CHARACTER_INCHES + HANDLE_INCHES for handle in handles]
    columns = len(widths)  # matplotlib fills a legend column by column, and the first columns may be longer
    while columns > 1 and sum(each.max() for each in np.array_split(widths, columns)) >= figure.get_figwidth():
        columns -= 1
    figure.legend(
        handles=list(handles), loc="outside lower center", ncols=max(1, columns), columnspacing=1.6, handlelength=1.8
    )


def empty_figure(message: str) -> Figure:
    """Return a figure with only the text ``message``, the reason why there is nothing to show."""
    figure = Figure(figsize=(5.5, 1.5), layout="constrained")
    figure.text(0.5, 0.5, message, ha="center", va="center", color="#595959")
    return figure


def fix_layout(figure: Figure) -> None:
    """Lay ``figure`` out with the figure's layout engine, and remove the engine, so that all files have one layout.

    With an engine, a second write would start from the layout of the first write, at another resolution, and a figure
    would be drawn twice for each file. Call this function inside `numasim.report.figures.style.rules`: the rules give
    no layout engine to figures without an engine.
    """
    engine = figure.get_layout_engine()
    if figure.axes and engine is not None:
        engine.execute(figure)
    figure.set_layout_engine(None)
