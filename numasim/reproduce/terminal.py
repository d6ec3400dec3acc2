"""The output of `numasim reproduce`: tables and scores on the terminal, the report of a study, the page of all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from numasim.engine.unit_text import MISSING
from numasim.errors import when_interrupted
from numasim.files.owned_folder import owned_folder
from numasim.reproduce.findings import Findings, findings_of
from numasim.reproduce.load import read_study, study_names
from numasim.reproduce.page import Reported, figure_count, studies_page, write_pages
from numasim.reproduce.reproduce import PAGE, STUDIES, Reproduction, reproduce
from numasim.reproduce.table_cells import Cell, Role, Score, Table
from numasim.reproduce.text import (
    EXPLANATIONS,
    MARKS,
    Group,
    beats_null,
    bound_text,
    column_groups,
    column_label,
    error_text,
    interval_text,
    met,
    published_text,
    row_keys,
    score_number,
    simulated_text,
    unsimulated,
    yes_no,
)
from numasim.sweep.progress import progress_bar

STYLES = {Role.INPUT: "dim", Role.FITTED: "yellow", Role.PREDICTED: "bold"}
ANSWER_STYLES = {True: "green", False: "red", None: "dim"}
WIDTH = 120
MARGIN = 4  # the width of the margins around the row names, in columns of the terminal


def print_table(table: Table, console: Console) -> None:
    """Print one table; columns that do not fit the width are printed below the others."""
    groups = column_groups(table)
    console.print(Text(f"{table.id}  {table.title}", style="bold"))
    keys = max(map(len, (_key_label(table), *row_keys(table))))
    for abreast in _lines(groups, console.width - keys - MARGIN):
        console.print(_grid(table, abreast))
    for note in (*unsimulated(table), *table.notes):
        console.print(Text(f"  {note}", style="dim"))
    console.print()


def legend() -> Text:
    """Return the meaning of each mark, one per line."""
    lines = [Text(f"{MARKS[role]} {role}: {meaning}", style=STYLES[role]) for role, meaning in EXPLANATIONS.items()]
    return Text("\n").join(lines)


def print_scores(scores: Sequence[Score], console: Console) -> None:
    """Print the score sheet."""
    console.print(Text("Scores, over predicted cells only", style="bold"))
    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("class", "metric"):
        grid.add_column(heading, overflow="fold")
    for heading in ("cells", "score", "95 % interval", "asked for", "met", "null model", "beaten", "ceiling"):
        grid.add_column(heading, justify="right")
    for score in scores:
        grid.add_row(*_score_row(score))
    console.print(grid)
    for score in scores:
        if score.remark:
            console.print(Text(f"  {score.name}: {score.remark}", style="dim"))


def _grid(table: Table, groups: Sequence[Group]) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    grid.add_column(_key_label(table), no_wrap=True)
    for group in groups:
        grid.add_column(column_label(group.first), justify="right", min_width=_widths(group)[0])
        grid.add_column("simulated", justify="right", no_wrap=True)
        grid.add_column("error", justify="right", no_wrap=True)
    for row in row_keys(table):
        grid.add_row(row, *(text for group in groups for text in _cell_texts(group.cells.get(row))))
    return grid


def _key_label(table: Table) -> str:
    return ", ".join(table.key_columns).replace("_", " ")


def _lines(groups: Sequence[Group], width: int) -> Iterable[list[Group]]:
    """Split the columns into lines that fit ``width``, with at least one column on each line."""
    line: list[Group] = []
    for group in groups:
        if line and sum(map(_needed, [*line, group])) > width:
            yield line
            line = []
        line.append(group)
    if line:
        yield line


def _needed(group: Group) -> int:
    return sum(width + 2 for width in _widths(group))


def _widths(group: Group) -> list[int]:
    """Return the widths of published values, simulated values and errors. Headings break only between words."""
    texts = zip(*map(_cell_texts, group.cells.values()), strict=True)
    headings = (max(column_label(group.first).split(), key=len), "simulated", "error")
    return [max(map(len, (heading, *column))) for heading, column in zip(headings, texts, strict=True)]


def _cell_texts(cell: Cell | None) -> tuple[Text, Text, Text]:
    if cell is None:
        return Text(), Text(), Text()
    simulated = f"{MARKS[cell.role]} {simulated_text(cell)}" if cell.simulated else MISSING
    return Text(published_text(cell)), Text(simulated, style=STYLES[cell.role]), Text(error_text(cell))


def _score_row(score: Score) -> Iterable[Text]:
    yield from (Text(score.name, style="bold"), Text(score.metric), Text(str(score.cells)))
    yield from (Text(score_number(score, score.value), style="bold"), Text(interval_text(score, score.rows)))
    yield from (Text(bound_text(score)), _answer(met(score)))
    yield from (Text(score_number(score, score.null)), _answer(beats_null(score)))
    yield Text(score_number(score, score.ceiling))


def _answer(answer: bool | None) -> Text:
    return Text(yes_no(answer), style=ANSWER_STYLES[answer])


# ---- The command ----


def report(found: Reproduction, directory: Path) -> None:
    """Print tables and scores, write the report to ``directory``, and print its path."""
    findings, console = findings_of(found), _console()
    for table in findings.tables:
        print_table(table, console)
    console.print(legend())
    console.print()
    _report_scores(findings, directory, console)


def report_all(directory: Path, *, quick: bool, jobs: int | None, engine: str) -> None:
    """Reproduce each shipped study in a folder of its name, and write a page of all studies.

    The page is written again after each study.
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
