"""What `numasim reproduce` writes to its folder; the stored runs are a folder of their own in it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from numasim.files.owned_folder import FolderKind
from numasim.files.reader import OWN, read_bytes

PAGE, MARKDOWN, SCORES = "index.html", "report.md", "scores.csv"
TABLES, FIGURES = "tables", "figures"
LEAD, SCORE_SHEET, ABLATIONS = "lead", "scores", "ablations"
RUNS = "runs"
_MARKS = {  # in the files of versions without manifests
    PAGE: b"beside those of <strong>numasim</strong>",
    MARKDOWN: b"beside those of numasim",
    SCORES: b"table,quantity,metric,",
    TABLES: b"row,column,variant,",
    FIGURES: b"matplotlib",
}


def report_files(tables: Iterable[str]) -> list[str]:
    """The files that a report on these tables may have."""
    stems = [file_stem(table) for table in tables]
    return [
        PAGE,
        MARKDOWN,
        SCORES,
        *map(table_file, stems),
        *map(figure_file, (LEAD, SCORE_SHEET, ABLATIONS, *stems)),
    ]


def file_stem(table: str) -> str:
    """Return the name of a table's files: ``table-3-4`` for 3.4; others have the name of their id."""
    return f"table-{table.replace('.', '-')}" if table[:1].isdigit() else table


def table_file(stem: str) -> str:
    """The cells of a table."""
    return f"{TABLES}/{stem}.csv"


def figure_file(stem: str) -> str:
    """The figure of that name."""
    return f"{FIGURES}/{stem}.svg"


def _earlier(directory: Path) -> list[str] | None:
    """The report of a version without manifests, in a folder that has its page or its runs."""
    if not (_has_mark(directory, PAGE) or (directory / RUNS / "provenance.json").is_file()):
        return None
    stems = sorted(path.stem for path in (directory / TABLES).glob("*.csv"))
    stems = [stem for stem in stems if _has_mark(directory, table_file(stem))]
    figures = map(figure_file, (SCORE_SHEET, ABLATIONS, *stems))
    found = [name for name in (PAGE, MARKDOWN, SCORES, *figures) if _has_mark(directory, name)]
    return [*found, *map(table_file, stems)]


def _has_mark(directory: Path, name: str) -> bool:
    path = directory / name
    return path.is_file() and _MARKS[name.partition("/")[0]] in read_bytes(path, OWN)


REPORT = FolderKind("numasim reproduce", earlier=_earlier)
STUDIES = FolderKind("numasim reproduce all")  # a page, and beside it a folder for each report
