"""The progress of a sweep on the terminal or in a notebook, with the remaining time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from numasim.html.shown import notebook_shell
from numasim.sweep.notebook_progress import NotebookBar


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
