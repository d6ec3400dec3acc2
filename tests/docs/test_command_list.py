"""The list of all commands has whatever the documentation does not run, and each command of numasim."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from code_blocks import RUN, code_blocks

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "verification"))

from command_list import NEEDS, PAGES, ROOT, UNMARKED, commands, entries, need_of, page_entries

EVERY = entries()
DOCS = [page for page in PAGES if page.startswith("docs/")]


@pytest.mark.parametrize("page", DOCS)
def test_what_a_page_does_not_run_is_run_by_the_list_or_needs_what_the_list_names(page: str) -> None:
    """A remark that says neither would hide a command that nobody ever runs."""
    text = (ROOT / page).read_text()
    listed = {entry.line for entry in page_entries(page, text)}
    for block in code_blocks(text):
        if block.not_run and block.language in RUN:
            assert block.line in listed
            need_of(block.not_run)


def test_a_remark_says_that_a_block_takes_long_or_what_it_needs() -> None:
    assert need_of("it takes an hour; a smaller one runs below") is None
    assert need_of("it needs SLURM, and an account") == "SLURM"
    with pytest.raises(KeyError):
        need_of("it opens a browser")
    assert set(UNMARKED.values()) <= set(NEEDS)


def test_every_command_of_numasim_is_in_the_list() -> None:
    shown = [entry.text for entry in EVERY if entry.runs or entry.need == "a compiler with OpenMP"]
    leaves = [path for path, command in commands() if not getattr(command, "commands", None)]
    assert len(leaves) > 20
    assert [path for path in leaves if not any(f"{path} " in text or f"{path}\n" in text for text in shown)] == []


@pytest.mark.parametrize(
    "command",
    [
        "sweep quickstart",
        "reproduce all",
        "validate -o",
        "validate native",
        "calibrate -o",
        "bench --plot",
        "bench --scale",
    ],
)
def test_what_has_a_quick_form_or_takes_long_is_run_in_its_whole_form(command: str) -> None:
    whole = [entry for entry in EVERY if f"numasim {command}" in entry.text and "--quick" not in entry.text]
    assert [entry for entry in whole if entry.runs and "--set" not in entry.text]


def test_lines_that_are_commands_are_entries_and_other_blocks_stay_whole() -> None:
    page = """
<!-- not run: it takes an hour -->
```sh
numasim list \\
    --json
numasim show fib
```
<!-- not run: it needs a cluster -->
```sh
for each in a b; do echo $each; done
echo end
```
```yaml
# mine.yaml: a file
name: mine
```
```yaml
nobody: knows
```
"""
    found = list(page_entries("page.md", page))
    assert [(entry.title, entry.need, entry.file) for entry in found] == [
        ("numasim list --json", None, None),
        ("numasim show fib", None, None),
        ("for each in a b; do echo $each; done; echo end", "a cluster", None),
        ("# mine.yaml: a file; name: mine", None, "mine.yaml"),
    ]
