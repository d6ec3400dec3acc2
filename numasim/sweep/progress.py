"""The progress of a sweep on the terminal or in a notebook, with the remaining time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from time import monotonic
from typing import Any

from numasim import html as pieces
from numasim.html import notebook_shell

SHORTEST_S = 0.2  # least time between two updates of a notebook's bar
WIDTH = "width: 320px; height: 12px; border: 1px solid rgba(128, 128, 128, 0.6); margin: 0 8px 0 0"
FILLED = "height: 100%; background-color: #0072B2; width: "


@contextmanager
def progress_bar(total: int, wanted: bool, what: str = "runs") -> Iterator[Callable[[int], None]]:
    """Yield a function that advances the bar by a number of ``what``.

    In a notebook the bar is in the output of the cell. Otherwise the bar is on stderr, if stderr is a terminal.
    """
    if wanted and total and notebook_shell() is not None:
        bar = NotebookBar(total, what)
        try:
            yield bar
        finally:
            bar.close()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(elapsed_when_finished=True))
    with Progress(*columns, console=console, disable=not (wanted and total and console.is_terminal)) as progress:
        task = progress.add_task(what, total=total)
        yield lambda done: progress.advance(task, done)


class NotebookBar:
    """A bar for ``total`` of ``what`` in the output of a notebook's cell; in the end, one line of text.

    The line contains no time, so a kept notebook with outputs is the same after each execution. The bar needs only
    IPython, which every notebook has. A bar of widgets would be gone when the notebook is opened again.
    """

    def __init__(self, total: int, what: str, show: Callable[..., Any] | None = None) -> None:
        """Show an empty bar with ``show``, by default IPython's ``display``."""
        if show is None:
            show = import_module("IPython.display").display
        self._total, self._what, self._done = total, what, 0
        self._closed = False
        self._started = self._drawn = monotonic()
        self._output = show(self, display_id=True)

    def __call__(self, done: int) -> None:
        """Advance by ``done``, and draw the bar again unless the last picture is recent."""
        self._done += done
        now = monotonic()
        if now - self._drawn >= SHORTEST_S:
            self._drawn = now
            self._output.update(self)

    def close(self) -> None:
        """Leave one line in place of the bar."""
        self._closed = True
        self._output.update(self)

    def __repr__(self) -> str:
        rest = "" if self._done == self._total else f"{self._done:,} of "
        text = f"{rest}{self._total:,} {self._what}"
        if self._closed:
            return f"{text} simulated" if self._what == "runs" else text
        if not self._done or not rest:
            return text
        seconds = (self._drawn - self._started) * (self._total - self._done) / self._done
        return text + (f", about {seconds:,.0f} s left" if seconds >= 1 else "")

    def _repr_html_(self) -> str:
        """Return the bar with a text, or after the end the last line."""
        if self._closed:
            return pieces.element("div", repr(self), style="font-size: 12px; opacity: 0.75")
        filled = pieces.element("div", style=f"{FILLED}{100 * self._done / self._total:.1f}%")
        line = pieces.joined(pieces.element("div", filled, style=WIDTH), repr(self))
        return pieces.element("div", line, style="display: flex; align-items: center")
