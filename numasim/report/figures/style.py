"""The common style of all figures: sizes, fonts, colours, and markers, which differ also in a grey print."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import ParamSpec

import matplotlib.style
from matplotlib.figure import Figure

from numasim.report.components import LINE_COLOURS
from numasim.report.notebooks.result_html import show_figures

Parameters = ParamSpec("Parameters")

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")  # one marker more than there are colours, so that 56 pairs differ
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
    "axes.titley": 1.0,  # fixed, because no label stands above an axis
    "axes.xmargin": 0.03,
    "figure.dpi": 150,
    "font.size": 10,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.7,
    "legend.fontsize": 10,
    "legend.frameon": False,
    "lines.markersize": 5.5,
    "svg.hashsalt": "numasim",  # fixed, so that ids are equal in all files
    "xtick.color": "#4D4D4D",
    "xtick.labelcolor": "black",
    "ytick.color": "#4D4D4D",
    "ytick.labelcolor": "black",
}


def styled(draw: Callable[Parameters, Figure]) -> Callable[Parameters, Figure]:
    """Let ``draw`` use these rules and matplotlib's defaults, and restore the reader's own settings afterwards.

    A notebook shows the figure.
    """

    @wraps(draw)
    def inside(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Figure:
        show_figures(rules)
        with rules():
            return draw(*args, **kwargs)

    return inside


def rules() -> AbstractContextManager[None]:
    """Return a context in which matplotlib's defaults and these rules hold."""
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
