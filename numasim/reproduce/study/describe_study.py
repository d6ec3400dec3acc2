"""A study for people: its title, where it was published, and its tables."""

from __future__ import annotations

from numasim.reproduce.study.contents import Study


def describe(study: Study) -> str:
    """Lines of text: title, source, and each table with its id, which ``--table`` takes."""
    width = max(len(table) for table in study.tables)
    tables = (f"  {each.id:<{width}}  {each.file.title}" for each in study.tables.values())
    return "\n".join([f"{study.file.title}", f"{study.file.source}", "tables", *tables])
