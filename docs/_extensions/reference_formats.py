"""The formats of files as Markdown, and their JSON Schemas as files of the site."""

from __future__ import annotations

import json
from pathlib import Path

from markdown_text import code, prose, table

from numasim.cli.file_formats import FILE_FORMATS
from numasim.cli.file_tables import FILE_TABLES, FileTable
from numasim.engine.columns import Column

SCHEMAS = "schemas"  # the folder of the site
HEAD = ("column", "label", "kind", "unit", "meaning")


def formats() -> str:
    """A table of all kinds of files, each with its schema to download."""
    rows = [
        (code(kind), prose(each.about), f'<a href="../{SCHEMAS}/{kind}.json" download>{kind}.json</a>')
        for kind, each in FILE_FORMATS.items()
    ]
    return table(("kind", "what it is", "JSON Schema"), rows)


def write_schemas(site: Path) -> None:
    """Write the schema of every kind of file into the folder of the site."""
    folder = site / SCHEMAS
    folder.mkdir(parents=True, exist_ok=True)
    for kind, each in FILE_FORMATS.items():
        (folder / f"{kind}.json").write_text(json.dumps(each.schema(), indent=2) + "\n", "utf-8")


def tables() -> str:
    """A section for each table of results, with its columns; those of the results table are on a page of their own."""
    return "\n".join(_section(each) for each in FILE_TABLES if each.name != "results")


def _section(described: FileTable) -> str:
    title = described.name.capitalize().replace("_", " ")
    told = f"{code(described.file)} has a row for {described.row}."
    return f"## {title}\n\n{told}\n\n{columns_table(described.columns)}"


def columns_table(described: tuple[Column, ...] | list[Column]) -> str:
    """A table of columns."""
    rows = [(code(each.name), each.label, each.kind, code(each.unit), prose(each.meaning)) for each in described]
    return table(HEAD, rows)
