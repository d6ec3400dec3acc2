"""The public headers of the C library as Markdown: they are their own documentation."""

from __future__ import annotations

from pathlib import Path

import numasim

INCLUDE = Path(numasim.__file__).parent / "runtime" / "include"
LANGUAGES = {".h": "c", ".hpp": "cpp"}


def headers() -> str:
    """A section for each header, as it is."""
    paths = sorted(path for path in INCLUDE.rglob("*") if path.suffix in LANGUAGES)
    return "\n".join(_section(path) for path in paths)


def _section(path: Path) -> str:
    name = path.relative_to(INCLUDE).as_posix()
    return f"## `{name}`\n\n```{LANGUAGES[path.suffix]}\n{path.read_text('utf-8').strip()}\n```\n"
