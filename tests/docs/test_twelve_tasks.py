"""The twelve tasks: each has one program of at most fifteen lines, which runs while the site is built."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "how-to" / "twelve-tasks.md").read_text()
CELL = re.compile(r"^```\{code-cell\} python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
MOST_LINES = 15
TASKS = dict(re.findall(r"^## (\d+)\. (.+?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))


def test_there_are_twelve_and_their_cells_run() -> None:
    assert list(TASKS) == [str(number) for number in range(1, 13)]
    assert PAGE.startswith("---\nfile_format: mystnb\n")
    assert len(CELL.findall(PAGE)) == len(TASKS)


@pytest.mark.parametrize("number", TASKS)
def test_each_is_one_short_program(number: str) -> None:
    (program,) = CELL.findall(TASKS[number])
    assert 0 < len([line for line in program.splitlines() if line.strip()]) <= MOST_LINES
