"""The columns of the tables that runs and sweeps return, as Markdown."""

from __future__ import annotations

from itertools import groupby

from markdown_text import code, table

from numasim.engine.columns import DESCRIBED

HEAD = ("column", "label", "kind", "unit", "meaning")


def columns() -> str:
    """A table for each group of columns of a results table."""
    return "\n".join(
        f"## {group.capitalize()}\n\n"
        + table(
            HEAD,
            [(code(each.name), each.label, each.kind, code(each.unit), each.meaning) for each in described],
        )
        for group, described in groupby(DESCRIBED.values(), key=lambda column: column.group)
    )
