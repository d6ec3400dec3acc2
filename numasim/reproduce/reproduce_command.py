"""What the command `reproduce` prints and writes when all runs are finished."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from numasim.errors import when_interrupted
from numasim.reproduce.pages.report_page import figure_count, write_pages
from numasim.reproduce.pages.table_text import WIDTH, legend, print_scores, print_table
from numasim.reproduce.reproduce import Reproduction
from numasim.reproduce.score.scoring import findings_of
from numasim.sweep.progress import progress_bar


def report(found: Reproduction, directory: Path) -> None:
    """Print tables and scores, write the pages to ``directory``, and print their paths."""
    findings = findings_of(found)
    console = Console()
    console.width = console.width if console.is_terminal else max(console.width, WIDTH)
    for table in findings.tables:
        print_table(table, console)
    console.print(legend())
    console.print()
    if findings.scores:
        print_scores(findings.scores, console)
    kept = when_interrupted(lambda: f"all runs are kept in {directory}; the same command draws and writes the pages")
    with kept, progress_bar(figure_count(findings), wanted=True, what="figures") as advance:
        page = write_pages(findings, directory, lambda: advance(1))
    console.print(f"report: {page}", highlight=False, soft_wrap=True)
