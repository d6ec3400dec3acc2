"""The reference pages of the site, made from the code when the site is built.

A block ``{numasim-reference} NAME ...`` in a page is replaced by the Markdown that the function NAME of `REFERENCES`
returns for the words behind NAME. Blocks are replaced before the page is parsed, so that headings and links in a block
are headings and links of the page. A block ``{numasim-pages}`` is replaced by a table of contents of all other pages in
the same folder. Sections and readings of the model that a page names become links.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from model_links import register, with_links
from reference_commands import commands
from reference_formats import arrays, columns, formats, tables, write_schemas
from reference_models import axes, models, ranges, run, workloads
from reference_python import headers, python
from sphinx.application import Sphinx

REFERENCES: dict[str, Callable[..., str]] = {
    "arrays": arrays,
    "axes": axes,
    "columns": columns,
    "commands": commands,
    "formats": formats,
    "headers": headers,
    "models": models,
    "python": python,
    "ranges": ranges,
    "readings": register,
    "run": run,
    "tables": tables,
    "workloads": workloads,
}
BLOCK = re.compile(r"^```\{numasim-reference\} (?P<name>\S+)(?P<words>.*)\n```$", re.MULTILINE)
PAGES = "```{numasim-pages}\n```"
SUFFIXES = (".md", ".ipynb")


def fill(app: Sphinx, name: str, source: list[str]) -> None:
    """Put references, tables of contents and links into a page that has just been read."""
    path = Path(app.env.doc2path(name))
    if path.suffix != ".md":
        return
    text = BLOCK.sub(lambda block: REFERENCES[block["name"]](*block["words"].split()), source[0])
    source[0] = with_links(text.replace(PAGES, _contents(path)), name)


def _contents(page: Path) -> str:
    """Return a table of contents of the other pages in the folder of ``page``, "" if there are none."""
    names = sorted({each.stem for each in page.parent.iterdir() if each.suffix in SUFFIXES} - {page.stem})
    return "```{{toctree}}\n:titlesonly:\n\n{}\n```".format("\n".join(names)) if names else ""


def outdated(_app: Sphinx, env: Any, *_changes: set[str]) -> list[str]:
    """Return the unchanged pages that must be read again, since their code may have changed."""
    return [name for name in env.found_docs if "```{numasim-" in Path(env.doc2path(name)).read_text("utf-8")]


def finish(app: Sphinx, problem: Exception | None) -> None:
    """Add the files that pages offer for download."""
    if problem is None and app.builder.format == "html":
        write_schemas(Path(app.outdir))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("source-read", fill)
    app.connect("env-get-outdated", outdated)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
