"""The progress of a sweep on the terminal or in a notebook, with the remaining time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from time import monotonic
from typing import Any

from numasim import html as pieces
from numasim.html import notebook_shell

# ---- The progress of a sweep in a notebook: one output that is drawn anew, and in the end one line -------------------
#
# The line has no time in it: a notebook that is kept with its outputs says the same after each execution. Nothing but
# IPython is needed, which every notebook has; bars of widgets would be gone when the notebook is opened again.

SHORTEST_S = 0.2  # between two pictures of the bar
WIDTH = "width: 320px; height: 12px; border: 1px solid rgba(128, 128, 128, 0.6); margin: 0 8px 0 0"
FILLED = "height: 100%; background-color: #0072B2; width: "


class NotebookBar:
    """A bar for ``total`` of ``what``; call it with how many more are done, then `close` it."""

    def __init__(self, total: int, what: str, show: Callable[..., Any] | None = None) -> None:
        """``show`` is IPython's ``display``, which it is by default."""
        if show is None:
            show = import_module("IPython.display").display
        self._total, self._what, self._done = total, what, 0
        self._started = self._drawn = monotonic()
        self._output = show(self, display_id=True)

    def __call__(self, done: int) -> None:
        """Advance by ``done``, and draw the bar again unless that was just done."""
        self._done += done
        now = monotonic()
        if now - self._drawn >= SHORTEST_S:
            self._drawn = now
            self._output.update(self)

    def close(self) -> None:
        """Leave one line in place of the bar."""
        self._output.update(Line(f"{self._so_far()} simulated" if self._what == "runs" else self._so_far()))

    def __repr__(self) -> str:
        return f"{self._so_far()}{self._remaining()}"

    def _repr_html_(self) -> str:
        """Return the bar and what stands beside it."""
        share = self._done / self._total
        filled = pieces.element("div", style=f"{FILLED}{100 * share:.1f}%")
        line = pieces.joined(pieces.element("div", filled, style=WIDTH), repr(self))
        return pieces.element("div", line, style="display: flex; align-items: center")

    def _so_far(self) -> str:
        """``7 of 20 runs``, and ``20 runs`` when all are done."""
        rest = "" if self._done == self._total else f"{self._done:,} of "
        return f"{rest}{self._total:,} {self._what}"

    def _remaining(self) -> str:
        """The time left if all that is missing takes as long as what is done; nothing before the first."""
        if not self._done or self._done == self._total:
            return ""
        seconds = (self._drawn - self._started) * (self._total - self._done) / self._done
        return f", about {seconds:,.0f} s left" if seconds >= 1 else ""


class Line:
    """A line of text, in HTML and without."""

    def __init__(self, words: str) -> None:
        """``words`` are the line."""
        self._words = words

    def __repr__(self) -> str:
        return self._words

    def _repr_html_(self) -> str:
        """Return the line, small."""
        return pieces.element("div", self._words, style="font-size: 12px; opacity: 0.75")


def progress_bar(total: int, wanted: bool, what: str = "runs") -> AbstractContextManager[Callable[[int], None]]:
    """Give a function that advances the bar by a number of ``what``.

    The bar is in the output of a notebook's cell, or else on stderr, and there only on a terminal.
    """
    if wanted and total and notebook_shell() is not None:
        return _notebook_bar(total, what)
    return _terminal_bar(total, wanted, what)


@contextmanager
def _notebook_bar(total: int, what: str) -> Iterator[Callable[[int], None]]:
    bar = NotebookBar(total, what)
    try:
        yield bar
    finally:
        bar.close()


@contextmanager
def _terminal_bar(total: int, wanted: bool, what: str) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(elapsed_when_finished=True))
    with Progress(*columns, console=console, disable=not (wanted and total and console.is_terminal)) as progress:
        task = progress.add_task(what, total=total)
        yield lambda done: progress.advance(task, done)
