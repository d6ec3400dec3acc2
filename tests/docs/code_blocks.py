"""The code blocks of a page of the site, and how each is tested.

``sh`` and ``python`` blocks are run, those of a page one after the other in one folder. A block of any language with a
``:caption:`` is a file of that name, which later blocks find in the folder. ``code-cell`` blocks run while the site is
built. A block without a language, or ``text``, is only shown. A block of any other language, or a block that cannot be
run, has a comment ``<!-- not run: REASON -->`` directly above it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from markdown_it import MarkdownIt

INFO = re.compile(r"(?:\{code-block\} *)?(?P<language>[A-Za-z+-]*)")
OPTION = re.compile(r":(?P<name>[a-z-]+):(?: (?P<value>.*))?\n")
NOT_RUN = re.compile(r"<!-- not run: (?P<reason>\S.*?) -->", re.DOTALL)
RUN = frozenset({"sh", "python"})
COMMANDS = re.compile(r"(numasim [^|&;<>$`\\\n]*\n)+")  # a block with only numasim commands
CONTINUED = "\\\n"
SHOWN = frozenset({"", "text"})


@dataclass(frozen=True)
class CodeBlock:
    """A block: the line of its begin, its language, its text, the name of its file, the reason not to run it."""

    line: int
    language: str
    text: str
    file: str | None
    not_run: str | None

    @property
    def problem(self) -> str | None:
        """Return the reason why the block is wrongly not tested, or None."""
        if self.language in RUN | SHOWN or self.file or self.not_run:
            return None
        return (
            f"line {self.line}: a block of {self.language} needs a :caption: with a file name, or a reason not to run"
        )


def code_blocks(page: str) -> list[CodeBlock]:
    """Return the blocks of a page in their order, without directives and code cells."""
    tokens = MarkdownIt("commonmark").parse(
        re.sub(r"\A---\n.*?\n---\n", lambda head: "\n" * head[0].count("\n"), page, flags=re.DOTALL)
    )
    found = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        info = INFO.fullmatch(token.info.strip()) if token.type == "fence" else None
        if not info or token.map is None:
            continue
        options, text = _options(token.content)
        reason = NOT_RUN.search(before.content) if before is not None and before.type == "html_block" else None
        not_run = reason["reason"] if reason else None
        found.append(CodeBlock(token.map[0] + 1, info["language"], text, options.get("caption"), not_run))
    return found


def _options(content: str) -> tuple[dict[str, str], str]:
    """Return the options at the head of a block, and the rest of the block."""
    options = {}
    while option := OPTION.match(content):
        options[option["name"]] = option["value"] or ""
        content = content[option.end() :]
    return options, content.removeprefix("\n") if options else content
