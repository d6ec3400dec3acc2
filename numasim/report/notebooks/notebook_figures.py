"""Figures in notebooks: shown as pictures there, whether or not the notebook has said ``%matplotlib inline``."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial

from matplotlib.figure import Figure

from numasim.html.shown import notebook_shell

DPI = 100  # notebooks are kept with their pictures


def show_figures(style: Callable[[], AbstractContextManager[None]]) -> None:
    """Let the notebook whose kernel this process is, if any, show figures in ``style``, unless it knows how to."""
    shell = notebook_shell()
    if shell is None:
        return
    formatter = shell.display_formatter.formatters["image/png"]
    if Figure not in formatter.type_printers and "matplotlib.figure.Figure" not in formatter.deferred_printers:
        formatter.for_type(Figure, partial(png_bytes, style))


def png_bytes(style: Callable[[], AbstractContextManager[None]], figure: Figure) -> bytes:
    """The figure as it stands, as a small picture."""
    buffer = io.BytesIO()
    with style():
        figure.savefig(buffer, format="png", dpi=DPI, bbox_inches="tight", metadata={"Software": None})
    return buffer.getvalue()
