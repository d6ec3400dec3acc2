"""The list has all commands of numasim, and all shown commands that the tests of the documentation do not run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from code_blocks import RUN, code_blocks

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "verification"))

from command_list import PAGES, ROOT, commands, entries, need_of, page_entries

EVERY = entries()
DOCS = [page for page in PAGES if page.startswith("docs/")]


@pytest.mark.parametrize("page", DOCS)
def test_what_a_page_does_not_run_is_run_by_the_list_or_needs_what_the_list_names(page: str) -> None:
    """A block without a listed reason would hide a command that nothing runs."""
    text = (ROOT / page).read_text()
    listed = {entry.line for entry in page_entries(page, text)}
    for block in code_blocks(text):
        if block.not_run and block.language in RUN:
            assert block.line in listed
            need_of(block.not_run)


def test_every_command_of_numasim_is_in_the_list() -> None:
    shown = [entry.text for entry in EVERY if entry.runs or entry.need == "a compiler with OpenMP"]
    leaves = [path for path, command in commands() if not getattr(command, "commands", None)]
    assert len(leaves) > 20
    assert [path for path in leaves if not any(f"{path} " in text or f"{path}\n" in text for text in shown)] == []
