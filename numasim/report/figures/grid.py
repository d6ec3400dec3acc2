"""Small multiples: panels of one size in a grid, axis labels on its rim, one legend below."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

PANEL_LIMIT = 24  # more would not be readable on one page
CHARACTER_INCHES = 0.078  # of legend text
BOLD_CHARACTER_INCHES = 0.095  # of a panel's title
SMALL_CHARACTER_INCHES = 0.07  # of its subtitle
SUBTITLE_POINTS = 11  # height of a line
LINE_INCHES = 0.17  # height of a line of a title or subtitle
HEADING_INSET = 0.1  # inches, of a figure's heading from its left edge
HEADING_MARGIN = 0.3  # on both sides together
MARGIN_INCHES = 0.45  # beside a panel; a title that reaches into it would narrow the panel
HANDLE_INCHES = 0.58  # of a legend's symbol and the space around it

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

    The height comes on top of that of the titles and of the ``heading`` above all panels. A figure whose panels do not
    all fit says so below them; the returned panels are those that fit.
    """
    shown = [_wrapped(title, width) for title in titles[:PANEL_LIMIT]]
    columns = min(columns, len(shown))
    rows = -(-len(shown) // columns)
    titles_height = max(len(title) + len(subtitle) for title, subtitle in shown) * LINE_INCHES
    full_width = width * columns + 0.7
    above = _heading_lines(heading, int((full_width - HEADING_MARGIN) / SMALL_CHARACTER_INCHES))
    full_height = (height + titles_height) * rows + 0.8 + len(above) * LINE_INCHES
    figure = Figure(figsize=(full_width, full_height), layout="constrained")
    if above:
        figure.suptitle("\n".join(above), x=HEADING_INSET / full_width, ha="left", fontsize=9, color="#404040")
    axes = list(figure.subplots(rows, columns, sharey=share_y, squeeze=False).flat)
    for unused in axes[len(shown) :]:
        unused.remove()
    for index, title in enumerate(shown):
        _write_title(axes[index], *title)
        if index + columns >= len(shown):
            axes[index].set_xlabel(x_label)
        if index % columns == 0:
            axes[index].set_ylabel(y_label)
    if len(titles) > PANEL_LIMIT:
        figure.supxlabel(f"the first {PANEL_LIMIT} of {len(titles)} panels", fontsize=9, color="#595959")
    return figure, axes[: len(shown)]


def contender_grid_columns(titles: Sequence[Title]) -> int:
    """Return the number of columns that puts each facet on a row of its own where its contenders fit on one."""
    contenders = len({title for title, _ in titles})
    return contenders if 2 <= contenders <= 4 else 3


def legend_below(figure: Figure, handles: Sequence[Artist]) -> None:
    """Put one legend under the panels, in as many columns as fit the figure's width."""
    widths = [len(str(handle.get_label())) * CHARACTER_INCHES + HANDLE_INCHES for handle in handles]
    fitting = (
        columns for columns in range(len(widths), 0, -1) if _legend_width(widths, columns) < figure.get_figwidth()
    )
    figure.legend(
        handles=list(handles), loc="outside lower center", ncols=next(fitting, 1), columnspacing=1.6, handlelength=1.8
    )


def _legend_width(widths: Sequence[float], columns: int) -> float:
    """Add up the widest entries of the columns; a legend is filled column by column, the first ones longer."""
    return sum(float(column.max()) for column in np.array_split(widths, columns))


def _heading_lines(heading: str, characters: int) -> list[str]:
    """Break a heading that is too long for one line, first of all at its semicolon."""
    parts = [heading] if len(heading) <= characters else heading.split("; ")
    return [line for part in parts for line in textwrap.wrap(part, characters)]


def _wrapped(title: Title, width: float) -> tuple[list[str], list[str]]:
    """Break title and subtitle into lines that fit a panel of ``width`` inches."""
    room = width - MARGIN_INCHES
    above, below = title
    return textwrap.wrap(above, int(room / BOLD_CHARACTER_INCHES)), textwrap.wrap(
        below, int(room / SMALL_CHARACTER_INCHES)
    )


def _write_title(axes: Axes, above: list[str], below: list[str]) -> None:
    axes.set_title("\n".join(above), pad=6 + SUBTITLE_POINTS * len(below))
    if below:
        axes.annotate(
            "\n".join(below), (0, 1), (0, 4), xycoords="axes fraction", textcoords="offset points", fontsize=9
        )


def empty_figure(message: str) -> Figure:
    """Return a figure that says why there is nothing to show."""
    figure = Figure(figsize=(5.5, 1.5), layout="constrained")
    figure.text(0.5, 0.5, message, ha="center", va="center", color="#595959")
    return figure


# ---- The layout of a figure, computed once for all files that are written of it --------------------------------------


def fix_layout(figure: Figure) -> None:
    """Lay ``figure`` out where its engine does that, and leave it without one.

    A second write would start where the first one, at another resolution, left it; and with any engine, even one that
    does nothing, a figure is drawn twice for each file. To be called within `numasim.report.figures.style.rules`,
    which name no engine for figures that have none.
    """
    engine = figure.get_layout_engine()
    if figure.axes and engine is not None:
        engine.execute(figure)
    figure.set_layout_engine(None)
