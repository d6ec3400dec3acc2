"""The progress of a sweep on the terminal, with the remaining time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(total: int, wanted: bool, what: str = "runs") -> Iterator[Callable[[int], None]]:
    """Give a function that advances the bar by a number of ``what``; the bar is on stderr, and only on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(elapsed_when_finished=True))
    with Progress(*columns, console=console, disable=not (wanted and total and console.is_terminal)) as progress:
        task = progress.add_task(what, total=total)
        yield lambda done: progress.advance(task, done)
