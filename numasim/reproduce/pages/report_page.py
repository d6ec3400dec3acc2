"""The report of a reproduction as files: a page, Markdown, figures and CSV.

index.html         the whole report in one file
report.md          the same for a repository, its pictures in figures/
scores.csv         every score
tables/*.csv       the cells of each table
figures/*.svg

Every file is whole or absent, and the page is written last, so that it always fits the files beside it. What an earlier
report left of other tables is removed, unless the user has changed it (`numasim.files.owned_folder`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from numasim.files.owned_folder import owned_folder
from numasim.report.figures.embedded import embedded, svg_text
from numasim.reproduce.figures.ablation_figure import ablation_figure
from numasim.reproduce.figures.chain_figure import chain_figure, chains
from numasim.reproduce.figures.score_figure import score_figure
from numasim.reproduce.figures.table_figure import table_figure
from numasim.reproduce.findings import Findings
from numasim.reproduce.pages import number_text
from numasim.reproduce.pages.csv_files import scores_csv, table_csv
from numasim.reproduce.pages.learned_text import filled, role_counts
from numasim.reproduce.pages.report_environment import report_environment
from numasim.reproduce.pages.report_folder import (
    ABLATIONS,
    LEAD,
    MARKDOWN,
    PAGE,
    REPORT,
    SCORE_SHEET,
    SCORES,
    figure_file,
    file_stem,
    table_file,
)
from numasim.reproduce.table_cells import Score

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Advance = Callable[[], None]


def write_pages(findings: Findings, directory: Path, advance: Advance = lambda: None) -> Path:
    """Write the report to ``directory``, made if missing, and return the page.

    ``advance`` is called after each of the `figure_count` figures. Raises `InputError` where files cannot be written.
    """
    with owned_folder(directory, REPORT) as folder:
        folder.write_only({name: text.encode() for name, text in _files(findings, _draw(findings, advance)).items()})
    return directory / PAGE


def _files(findings: Findings, figures: Mapping[str, str]) -> dict[str, str]:
    """The files of a report in the order of writing; ``figures`` are SVG texts by name."""
    files = {table_file(file_stem(table.id)): table_csv(table) for table in findings.tables}
    files |= {figure_file(name): picture for name, picture in figures.items()}
    return files | {SCORES: scores_csv(findings), MARKDOWN: markdown(findings, figures), PAGE: page(findings, figures)}


def figure_count(findings: Findings) -> int:
    """Return how many figures are drawn, including those that turn out to be empty."""
    return len(_drawings(findings))


def page(findings: Findings, figures: Mapping[str, str]) -> str:
    """Return the whole page; ``figures`` are SVG texts by name."""
    return _render("index.html.jinja", findings, {name: embedded(picture) for name, picture in figures.items()})


def markdown(findings: Findings, figures: Mapping[str, str]) -> str:
    """Return the report in Markdown, which links its figures."""
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
        learned=filled(findings.learned, findings.scores),
        roles=_roles(findings),
    )


def _lead(findings: Findings) -> Score | None:
    """The score whose cells are drawn first."""
    return number_text.named(findings.lead, findings.scores)


def _roles(findings: Findings) -> tuple[str, ...]:
    readings = [reading.role for reading in findings.readings]
    return role_counts(findings.tables, readings, len(findings.parameters), len(findings.refused))
