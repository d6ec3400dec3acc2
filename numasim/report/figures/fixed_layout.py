"""The layout of a figure, computed once for all files that are written of it."""

from __future__ import annotations

from matplotlib.figure import Figure


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
