"""The formats of files and the columns of results as Markdown; JSON Schemas as files of the site."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path

from file_tables import FILE_TABLES, FileTable
from markdown_text import code, prose, table

from numasim.cli.listing import FILE_FORMATS, schema_of
from numasim.engine.columns import DESCRIBED, Column
from numasim.workload.packed_graph import FIELDS, ArrayField

SCHEMAS = "schemas"  # the folder of the site
ARRAY_HEAD = ("array", "type", "elements", "numbers", "unit", "left out", "meaning")
HEAD = ("column", "label", "kind", "unit", "meaning")


def formats() -> str:
    """Return a table of all kinds of files, each with its schema to download."""
    rows = [
        (code(kind), prose(about), f'<a href="../{SCHEMAS}/{kind}.json" download>{kind}.json</a>')
        for kind, about in FILE_FORMATS.items()
    ]
    return table(("kind", "what it is", "JSON Schema"), rows)


def write_schemas(site: Path) -> None:
    """Write the schema of every kind of file into the folder of the site."""
    folder = site / SCHEMAS
    folder.mkdir(parents=True, exist_ok=True)
    for kind in FILE_FORMATS:
        (folder / f"{kind}.json").write_text(json.dumps(schema_of(kind), indent=2) + "\n", "utf-8")


def tables() -> str:
    """Return a section for each table but the results table, which has its own page."""
    return "\n".join(_section(each) for each in FILE_TABLES if each.name != "results")


def _section(described: FileTable) -> str:
    title = described.name.capitalize().replace("_", " ")
    told = f"{code(described.file)} has a row for {described.row}."
    return f"## {title}\n\n{told}\n\n{columns_table(described.columns)}"


def columns_table(described: tuple[Column, ...] | list[Column]) -> str:
    """Return a table of columns."""
    rows = [(code(each.name), each.label, each.kind, code(each.unit), prose(each.meaning)) for each in described]
    return table(HEAD, rows)


def arrays() -> str:
    """Return a table of the arrays of a task graph in npz."""
    return table(ARRAY_HEAD, [_array_row(each) for each in FIELDS.values()])


def _array_row(described: ArrayField) -> tuple[str, ...]:
    bounds = f"{described.low:,} to {described.high:,}"
    codes = ", ".join(f"{number} {name}" for number, name in enumerate(described.codes))
    return (
        code(described.name),
        code(described.kind.lstrip("<|")),
        described.length,
        codes or bounds,
        code(described.unit),
        "" if described.default is None else code((described.codes or {0: "0", 1: "1"})[described.default]),
        prose(described.meaning),
    )


def columns() -> str:
    """Return a section for each group of columns of a results table."""
    groups = groupby(DESCRIBED.values(), key=lambda column: column.group)
    return "\n".join(f"## {group.capitalize()}\n\n{columns_table(list(described))}" for group, described in groups)
