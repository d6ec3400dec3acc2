"""The page of schedulers says what the shipped files say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from numasim.parts import catalog

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "schedulers.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.+?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
NAMES = {  # the names of the files of each section
    "LLVM OpenMP": ["libomp"],
    "Java ForkJoinPool": ["fork-join-pool"],
    ".NET thread pool": ["dotnet"],
    "StarPU": ["starpu-lws", "starpu-lws-blocking"],
    "Julia": ["julia", "julia-wake-all"],
}


def names_of(title: str) -> list[str]:
    return NAMES.get(title, [title.lower()])


def test_each_scheduler_has_a_section() -> None:
    assert sorted(name for title in SECTIONS for name in names_of(title)) == list(catalog.schedulers())


@pytest.mark.parametrize("title", SECTIONS)
def test_the_lines_that_a_section_quotes_are_in_the_files(title: str) -> None:
    files = [catalog.find(kind, name) for kind in ("strategies", "runtimes") for name in names_of(title)]
    written = re.sub(r"\s+", " ", re.sub(r"#.*", "", "\n".join(file.read_text("utf-8") for file in files)))
    rows = [line.split(" | ") for line in SECTIONS[title].splitlines() if line.startswith("| ")][1:]
    assert 8 <= len(rows) <= 12
    for _, said, *_ in rows:
        if not said.startswith(("left out", "no `")):
            for quoted in re.findall(r"`([^`]+)`", said):
                assert quoted in written, quoted
