"""The columns of a results table as Markdown, a section for each group."""

from __future__ import annotations

from itertools import groupby

from reference_formats import columns_table

from numasim.engine.columns import DESCRIBED


def columns() -> str:
    """A table for each group of columns."""
    groups = groupby(DESCRIBED.values(), key=lambda column: column.group)
    return "\n".join(f"## {group.capitalize()}\n\n{columns_table(list(described))}" for group, described in groups)
