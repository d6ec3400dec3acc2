"""The report of a reproduction as files: a page, Markdown, figures and CSV.

index.html         the whole report in one file
report.md          the report for a repository, with its pictures in figures/
scores.csv         every score
tables/*.csv       the cells of each table
figures/*.svg

Every file is complete or absent. The page is written last, so that the page always fits the other files. Files of an
earlier report on other tables are removed, unless the user has changed these files (`numasim.files.owned_folder`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numasim
from numasim.files.owned_folder import owned_folder
from numasim.html import embedded, page_environment
from numasim.report.figures.plots import svg_text
from numasim.reproduce import text
from numasim.reproduce.csv_files import scores_csv, table_csv
from numasim.reproduce.findings import Findings
from numasim.reproduce.metrics import METRICS, QUESTIONS
from numasim.reproduce.reproduce import (
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
from numasim.reproduce.score_figures import ablation_figure, chain_figure, chains, score_figure
from numasim.reproduce.table_cells import READING_ROLES, Role, Score
from numasim.reproduce.table_figure import shown_groups, table_figure
from numasim.reproduce.text import bound_sentence, filled, markdown_text, role_counts

if TYPE_CHECKING:
    from jinja2 import Environment
    from matplotlib.figure import Figure


TEMPLATES = Path(__file__).with_name("templates")


def report_environment(*, escaped: bool) -> Environment:
    """Return the Jinja environment of the templates of pages, or with ``escaped`` false of Markdown."""
    environment = page_environment(TEMPLATES, escaped=escaped)
    environment.globals |= {
        "texts": text,
        "METRICS": METRICS,
        "QUESTIONS": QUESTIONS,
        "Role": Role,
        "READING_ROLES": READING_ROLES,
        "file_stem": file_stem,
        "shown": shown_groups,
        "bound_sentence": bound_sentence,
        "m": markdown_text,
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
    """Return the report in Markdown, with links to its figures."""
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
    readings, fits = [each.role for each in findings.paper.readings.values()], findings.calibration
    return environment.get_template(template).render(
        found=findings,
        pictures=pictures,
        lead=_lead(findings),
        learned=filled(findings.paper.learned, findings.scores),
        roles=role_counts(findings.tables, readings, len(fits.parameters), len(fits.refused)),
    )


def _lead(findings: Findings) -> Score | None:
    """Return the score whose cells are drawn first."""
    return text.named(findings.lead, findings.scores)


@dataclass(frozen=True)
class Reported:
    """A study whose report is in a folder with the study's name, beside the page of all studies."""

    name: str
    findings: Findings

    @property
    def page(self) -> str:
        """Return the path of the report."""
        return f"{self.name}/{PAGE}"

    @property
    def learned(self) -> tuple[str, ...]:
        """Return the first sentences."""
        return filled(self.findings.paper.learned, self.findings.scores)

    @property
    def picture(self) -> str:
        """Return the figure of the score sheet, embedded."""
        return embedded(svg_text(score_figure(self.findings.scores)))


def studies_page(reported: Sequence[Reported]) -> str:
    """Return the page of these studies, in their order."""
    quick = any(each.findings.quick for each in reported)
    page = report_environment(escaped=True).get_template("studies.html.jinja")
    return page.render(reported=reported, quick=quick, version=numasim.__version__)
