"""Figures inside pages: as SVG text, the same bytes every time, and as data URIs."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def svg_text(figure: Figure) -> str:
    """Return the figure as SVG, without a date."""
    from numasim.report.figures.grid import fix_layout
    from numasim.report.figures.plots import NO_METADATA
    from numasim.report.figures.style import rules

    buffer = io.StringIO()
    with rules():
        fix_layout(figure)
        figure.savefig(buffer, format="svg", metadata=NO_METADATA["svg"])
    return buffer.getvalue()


def embedded(picture: str) -> str:
    """Return an SVG text as a data URI."""
    return f"data:image/svg+xml;base64,{base64.b64encode(picture.encode()).decode()}"
