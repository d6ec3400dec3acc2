"""The output of `numasim reproduce`: tables and scores on the terminal, the report of a study, the page of all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

import numasim
from numasim.engine.unit_text import MISSING
from numasim.errors import when_interrupted
from numasim.files.owned_folder import owned_folder
from numasim.html import embedded, page_environment
from numasim.report.figures.plots import svg_text
from numasim.reproduce import text
from numasim.reproduce.csv_files import scores_csv, table_csv
from numasim.reproduce.findings import Findings, findings_of
from numasim.reproduce.metrics import METRICS, QUESTIONS
from numasim.reproduce.reproduce import (
    ABLATIONS,
    LEAD,
    MARKDOWN,
    PAGE,
    REPORT,
    SCORE_SHEET,
    SCORES,
    STUDIES,
    Reproduction,
    figure_file,
    file_stem,
    reproduce,
    table_file,
)
from numasim.reproduce.score_figures import ablation_figure, chain_figure, chains, score_figure
from numasim.reproduce.study import read_study, study_names
from numasim.reproduce.table_cells import READING_ROLES, Cell, Role, Score, Table
from numasim.reproduce.table_figure import shown_groups, table_figure
from numasim.sweep.progress import progress_bar

if TYPE_CHECKING:
    from jinja2 import Environment
    from matplotlib.figure import Figure

STYLES = {Role.INPUT: "dim", Role.REFERENCE: "dim", Role.FITTED: "yellow", Role.PREDICTED: "bold"}
ANSWER_STYLES = {True: "green", False: "red", None: "dim"}
WIDTH = 120
MARGIN = 4  # the width of the margins around the row names, in columns of the terminal


def print_table(table: Table, console: Console) -> None:
    """Print one table; columns that do not fit the width are printed below the others."""
    groups = text.column_groups(table)
    console.print(Text(f"{table.id}  {table.title}", style="bold"))
    keys = max(map(len, (_key_label(table), *text.row_keys(table))))
    for abreast in _lines(groups, console.width - keys - MARGIN):
        console.print(_grid(table, abreast))
    for note in (*text.unsimulated(table), *table.notes):
        console.print(Text(f"  {note}", style="dim"))
    console.print()


def legend(tables: Sequence[Table]) -> Text:
    """Return the meaning of each mark in ``tables``, one per line."""
    lines = [
        Text(f"{text.MARKS[role]} {role}: {text.EXPLANATIONS[role]}", style=STYLES[role])
        for role in text.roles_of(tables)
    ]
    return Text("\n").join(lines)


def print_sheet(found: Findings, console: Console) -> None:
    """Print the sheet: scores, the best simple rule of each score, ablations, and counts by role."""
    scores = found.scores
    console.print(Text("Scores, over predicted cells only", style="bold"))
    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("class", "metric"):
        grid.add_column(heading, overflow="fold")
    for heading in ("cells", "score", "95 % interval", "asked for", "met", "best rule", "skill", "ceiling"):
        grid.add_column(heading, justify="right")
    for score in scores:
        grid.add_row(*_score_row(score))
    console.print(grid)
    for score in scores:
        off = text.ablation_text(score, found)
        without = f"; in the quick form {off}" if off != MISSING else ""
        console.print(Text(f"  {score.name}: {text.rules_text(score) or 'no simple rule'}{without}", style="dim"))
    for line in text.counts_of(found):
        console.print(Text(f"  {line}", style="dim"))


def _grid(table: Table, groups: Sequence[text.Group]) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    grid.add_column(_key_label(table), no_wrap=True)
    for group in groups:
        grid.add_column(text.column_label(group.first), justify="right", min_width=_widths(group)[0])
        grid.add_column("simulated", justify="right", no_wrap=True)
        grid.add_column("error", justify="right", no_wrap=True)
    for row in text.row_keys(table):
        grid.add_row(row, *(each for group in groups for each in _cell_texts(group.cells.get(row))))
    return grid


def _key_label(table: Table) -> str:
    return ", ".join(table.key_columns).replace("_", " ")


def _lines(groups: Sequence[text.Group], width: int) -> Iterable[list[text.Group]]:
    """Split the columns into lines that fit ``width``, with at least one column on each line."""
    line: list[text.Group] = []
    for group in groups:
        if line and sum(map(_needed, [*line, group])) > width:
            yield line
            line = []
        line.append(group)
    if line:
        yield line


def _needed(group: text.Group) -> int:
    return sum(width + 2 for width in _widths(group))


def _widths(group: text.Group) -> list[int]:
    """Return the widths of published values, simulated values and errors. Headings break only between words."""
    texts = zip(*map(_cell_texts, group.cells.values()), strict=True)
    headings = (max(text.column_label(group.first).split(), key=len), "simulated", "error")
    return [max(map(len, (heading, *column))) for heading, column in zip(headings, texts, strict=True)]


def _cell_texts(cell: Cell | None) -> tuple[Text, Text, Text]:
    if cell is None:
        return Text(), Text(), Text()
    simulated = f"{text.MARKS[cell.role]} {text.simulated_text(cell)}" if cell.simulated else MISSING
    return Text(text.published_text(cell)), Text(simulated, style=STYLES[cell.role]), Text(text.error_text(cell))


def _score_row(score: Score) -> Iterable[Text]:
    yield from (Text(score.name, style="bold"), Text(score.metric), Text(str(score.cells)))
    yield from (Text(text.score_number(score, score.value), style="bold"), Text(text.interval_text(score, score.rows)))
    yield from (Text(text.bound_text(score)), _answer(text.met(score)))
    yield from (Text(text.score_number(score, score.null)), _answer(text.beats_null(score)))
    yield Text(text.score_number(score, score.ceiling))


def _answer(answer: bool | None) -> Text:
    return Text(text.yes_no(answer), style=ANSWER_STYLES[answer])


# ---- The command ----


def report(found: Reproduction, directory: Path) -> None:
    """Print tables and scores, write the report to ``directory``, and print the path of the page."""
    findings, console = findings_of(found), _console()
    for table in findings.tables:
        print_table(table, console)
    console.print(legend(findings.tables))
    console.print()
    _report_scores(findings, directory, console)


def report_all(directory: Path, *, quick: bool, jobs: int | None, engine: str) -> None:
    """Reproduce each shipped study in a folder of its name, and after each write the page of all anew."""
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
        print_sheet(findings, console)
    kept = when_interrupted(lambda: f"all runs are kept in {directory}; the same command draws and writes the pages")
    with kept, progress_bar(figure_count(findings), wanted=True, what="figures") as advance:
        page = write_pages(findings, directory, lambda: advance(1))
    console.print(f"report: {page}", highlight=False, soft_wrap=True)


def _console() -> Console:
    console = Console()
    console.width = console.width if console.is_terminal else max(console.width, WIDTH)
    return console


# ---- The report as files ---------------------------------------------------------------------------------------------

# index.html         the whole report in one file
# report.md          the report for a repository, with its pictures in figures/
# scores.csv         every score
# tables/*.csv       the cells of each table
# figures/*.svg
#
# Every file is complete or absent. The page is written last, so that the page always fits the other files. Files of an
# earlier report on other tables are removed, unless the user has changed these files (`numasim.files.owned_folder`).

TEMPLATES = Path(__file__).with_name("templates")


def report_environment(*, escaped: bool) -> Environment:
    """Return the Jinja environment of the templates of pages, or with ``escaped`` false of Markdown."""
    environment = page_environment(TEMPLATES, escaped=escaped)
    environment.globals |= {
        "texts": text,
        "METRICS": METRICS,
        "QUESTIONS": QUESTIONS,
        "READING_ROLES": READING_ROLES,
        "file_stem": file_stem,
        "shown": shown_groups,
        "bound_sentence": text.bound_sentence,
        "m": text.markdown_text,
        "h": text.summary_text,
    }
    return environment


Advance = Callable[[], None]


def write_pages(findings: Findings, directory: Path, advance: Advance = lambda: None) -> Path:
    """Write the report to ``directory``, which is made if missing, and return the path of the page.

    ``advance`` is called after each of the `figure_count` figures. Raise InputError if a file cannot be written.
    """
    with owned_folder(directory, REPORT) as folder:
        figures = _draw(findings, advance)
        files = {table_file(file_stem(table.id)): table_csv(table) for table in findings.tables}
        files |= {figure_file(name): picture for name, picture in figures.items()}
        files |= {SCORES: scores_csv(findings), MARKDOWN: markdown(findings, figures), PAGE: page(findings, figures)}
        folder.write_only({name: contents.encode() for name, contents in files.items()})
    return directory / PAGE


def figure_count(findings: Findings) -> int:
    """Return the number of figures that are drawn, empty figures included."""
    return len(_drawings(findings))


def page(findings: Findings, figures: Mapping[str, str]) -> str:
    """Return the whole page; ``figures`` are SVG texts by name."""
    return _render("index.html.jinja", findings, {name: embedded(picture) for name, picture in figures.items()})


def markdown(findings: Findings, figures: Mapping[str, str]) -> str:
    """Return the report in Markdown, with links to the figures."""
    return _render("report.md.jinja", findings, {name: figure_file(name) for name in figures})


def _draw(findings: Findings, advance: Advance) -> dict[str, str]:
    figures: dict[str, str] = {}
    for name, draw in _drawings(findings).items():
        figure = draw()
        if figure is not None:
            figures[name] = svg_text(figure)
        advance()
    return figures


def _drawings(findings: Findings) -> dict[str, Callable[[], Figure | None]]:
    found: dict[str, Callable[[], Figure | None]] = {}
    lead = _lead(findings)
    if lead and (rows := chains(findings.tables, lead.name)):
        found[LEAD] = lambda: chain_figure(rows, lead)
    if findings.scores:
        found[SCORE_SHEET] = lambda: score_figure(findings.scores)
    if findings.ablations:
        found[ABLATIONS] = lambda: ablation_figure(findings.scores, findings.ablations)
    for table in findings.tables:
        found[file_stem(table.id)] = lambda table=table: table_figure(table)  # type: ignore[misc]
    return found


def _render(template: str, findings: Findings, pictures: Mapping[str, str]) -> str:
    environment = report_environment(escaped=template.startswith("index.html"))
    return environment.get_template(template).render(
        found=findings,
        pictures=pictures,
        lead=_lead(findings),
        learned=text.filled(findings.paper.learned, findings.scores),
    )


def _lead(findings: Findings) -> Score | None:
    """Return the score with the cells that the page draws first."""
    return text.named(findings.lead, findings.scores)


@dataclass(frozen=True)
class Reported:
    """A study with a report, which is in a folder with the study's name, beside the page of all studies."""

    name: str
    findings: Findings

    @property
    def page(self) -> str:
        """Return the path of the report."""
        return f"{self.name}/{PAGE}"

    @property
    def learned(self) -> tuple[str, ...]:
        """Return the first sentences."""
        return text.filled(self.findings.paper.learned, self.findings.scores)

    @property
    def picture(self) -> str:
        """Return the figure of the score sheet, embedded."""
        return embedded(svg_text(score_figure(self.findings.scores)))


def studies_page(reported: Sequence[Reported]) -> str:
    """Return the page of these studies, in their order."""
    quick = any(each.findings.quick for each in reported)
    page = report_environment(escaped=True).get_template("studies.html.jinja")
    return page.render(reported=reported, quick=quick, version=numasim.__version__)
