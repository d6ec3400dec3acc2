"""What the command `reproduce` prints and writes: the report of a study, or those of all and a page of their scores."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from numasim.errors import when_interrupted
from numasim.files.owned_folder import owned_folder
from numasim.reproduce.findings import Findings, findings_of
from numasim.reproduce.folder import PAGE, STUDIES
from numasim.reproduce.load import read_study, study_names
from numasim.reproduce.page import Reported, figure_count, studies_page, write_pages
from numasim.reproduce.reproduce import Reproduction, reproduce
from numasim.reproduce.terminal import WIDTH, legend, print_scores, print_table
from numasim.sweep.progress import progress_bar


def report(found: Reproduction, directory: Path) -> None:
    """Print tables and scores, write the pages to ``directory``, and print their paths."""
    findings, console = findings_of(found), _console()
    for table in findings.tables:
        print_table(table, console)
    console.print(legend())
    console.print()
    _report_scores(findings, directory, console)


def report_all(directory: Path, *, quick: bool, jobs: int | None, engine: str) -> None:
    """Reproduce each shipped study in a folder of its name, and write the page that leads to them.

    The page is there when the first study is finished, and has one more after each other.
    """
    studies, console = [read_study(name) for name in study_names()], _console()
    reported: list[Reported] = []
    kept = when_interrupted(lambda: f"what is finished is kept in {directory}; the same command goes on")
    with kept, owned_folder(directory, STUDIES, [PAGE]) as folder:
        for study in studies:
            console.print(Text(study.paper.title, style="bold"))
            own = directory / study.name
            found = reproduce(study, own, quick=quick, ablations=not quick, jobs=jobs, engine=engine, progress=True)
            reported.append(Reported(study.name, findings_of(found)))
            _report_scores(reported[-1].findings, own, console)
            folder.write({PAGE: studies_page(reported).encode()})
    console.print(f"all studies: {directory / PAGE}", highlight=False, soft_wrap=True)


def _report_scores(findings: Findings, directory: Path, console: Console) -> None:
    if findings.scores:
        print_scores(findings.scores, console)
    kept = when_interrupted(lambda: f"all runs are kept in {directory}; the same command draws and writes the pages")
    with kept, progress_bar(figure_count(findings), wanted=True, what="figures") as advance:
        page = write_pages(findings, directory, lambda: advance(1))
    console.print(f"report: {page}", highlight=False, soft_wrap=True)


def _console() -> Console:
    console = Console()
    console.width = console.width if console.is_terminal else max(console.width, WIDTH)
    return console
