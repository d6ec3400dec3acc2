"""The reference pages of the site, made from the code when it is built.

A block ``{numasim-reference} NAME`` in a page stands for the Markdown that the function NAME of `REFERENCES` writes.
It takes the block's place before the page is parsed, so that its headings and links are those of the page. A block
``{numasim-pages}`` stands for a table of contents of all other pages in the folder of its own.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from reference_columns import columns
from sphinx.application import Sphinx

REFERENCES = {"columns": columns}
BLOCK = re.compile(r"^```\{numasim-reference\} (?P<name>\S+)\n```$", re.MULTILINE)


PAGES = "```{numasim-pages}\n```"
SUFFIXES = (".md", ".ipynb")


def fill(app: Sphinx, name: str, source: list[str]) -> None:
    """Put references and tables of contents into a page that has just been read."""
    text = BLOCK.sub(lambda block: REFERENCES[block["name"]](), source[0])
    source[0] = text.replace(PAGES, _contents(Path(app.env.doc2path(name))))


def _contents(page: Path) -> str:
    """A table of contents of the pages beside ``page``; nothing where it is alone."""
    names = sorted({each.stem for each in page.parent.iterdir() if each.suffix in SUFFIXES} - {page.stem})
    return "```{{toctree}}\n:titlesonly:\n\n{}\n```".format("\n".join(names)) if names else ""


def outdated(_app: Sphinx, env: Any, *_changes: set[str]) -> list[str]:
    """Pages to be read again although they have not changed: the code that they are made from may have."""
    return [name for name in env.found_docs if "```{numasim-" in Path(env.doc2path(name)).read_text("utf-8")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the build."""
    app.connect("source-read", fill)
    app.connect("env-get-outdated", outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
