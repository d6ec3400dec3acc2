"""The report of a reproduction as files: a page, Markdown, figures and CSV.

index.html         the whole report in one file
report.md          the same for a repository, its pictures in figures/
scores.csv         every score
tables/*.csv       the cells of each table
figures/*.svg

Every file is whole or absent. ``tables`` and ``figures`` hold only files of this report, and the page is written
last, so that it always fits the files beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from numasim.files.writer import output_errors, write_bytes
from numasim.report.figures.embedded import embedded, svg_text
from numasim.reproduce.figures.ablation_figure import ablation_figure
from numasim.reproduce.figures.score_figure import score_figure
from numasim.reproduce.figures.table_figure import shown_groups, table_figure
from numasim.reproduce.findings import Findings
from numasim.reproduce.pages import number_text, table_layout
from numasim.reproduce.pages.csv_files import scores_csv, table_csv
from numasim.reproduce.score.metrics import METRICS
from numasim.reproduce.table_cells import Role
from numasim.sweep.store.whole_files import DIRECTORY, remove_temporaries

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE, MARKDOWN, SCORES = "index.html", "report.md", "scores.csv"
TABLES, FIGURES = "tables", "figures"
SCORE_SHEET, ABLATIONS = "scores", "ablations"
TEMPLATES = Path(__file__).with_name("templates")

Advance = Callable[[], None]


def write_pages(findings: Findings, directory: Path, advance: Advance = lambda: None) -> Path:
    """Write the report to ``directory``, made if missing, and return the page.

    ``advance`` is called after each of the `figure_count` figures. Raises `InputError` where files cannot be written.
    """
    figures = _draw(findings, advance)
    tables = {f"{file_stem(table.id)}.csv": table_csv(table) for table in findings.tables}
    _fill(directory / TABLES, tables)
    _fill(directory / FIGURES, {f"{name}.svg": picture for name, picture in figures.items()})
    write_bytes(directory / SCORES, scores_csv(findings).encode())
    write_bytes(directory / MARKDOWN, markdown(findings, figures).encode())
    write_bytes(directory / PAGE, page(findings, figures).encode())
    return directory / PAGE


def figure_count(findings: Findings) -> int:
    """Return how many figures are drawn, including those that turn out to be empty."""
    return len(findings.tables) + bool(findings.scores) + bool(findings.ablations)


def file_stem(table: str) -> str:
    """Return the name of a table's files: ``table-3-4`` for 3.4; others have the name of their id."""
    return f"table-{table.replace('.', '-')}" if table[:1].isdigit() else table


def page(findings: Findings, figures: Mapping[str, str]) -> str:
    """Return the whole page; ``figures`` are SVG texts by name."""
    return _render("index.html.jinja", findings, {name: embedded(picture) for name, picture in figures.items()})


def markdown(findings: Findings, figures: Mapping[str, str]) -> str:
    """Return the report in Markdown, which links its figures."""
    return _render("report.md.jinja", findings, {name: f"{FIGURES}/{name}.svg" for name in figures})


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
    if findings.scores:
        found[SCORE_SHEET] = lambda: score_figure(findings.scores)
    if findings.ablations:
        found[ABLATIONS] = lambda: ablation_figure(findings.scores, findings.ablations)
    for table in findings.tables:
        found[file_stem(table.id)] = lambda table=table: table_figure(table)  # type: ignore[misc]
    return found


def _fill(folder: Path, files: Mapping[str, str]) -> None:
    """Make ``folder`` hold ``files`` and no other file of their kinds."""
    with output_errors(folder, DIRECTORY):
        folder.mkdir(parents=True, exist_ok=True)
    remove_temporaries(folder)
    for name, text in files.items():
        write_bytes(folder / name, text.encode())
    with output_errors(folder, DIRECTORY):
        for kind in {Path(name).suffix for name in files}:
            for path in folder.glob(f"*{kind}"):
                if path.name not in files:
                    path.unlink()


def _render(template: str, findings: Findings, pictures: Mapping[str, str]) -> str:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=template.startswith("index.html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals |= {"texts": number_text, "layout": table_layout, "METRICS": METRICS, "Role": Role}
    environment.globals |= {"file_stem": file_stem, "shown": shown_groups}
    return environment.get_template(template).render(found=findings, pictures=pictures)
