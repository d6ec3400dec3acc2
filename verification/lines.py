"""Counts the C and C++ of engine, policies, plan readers and virtual time together, and what else there is.

    python verification/lines.py --other /path/src

Counted are, below `numasim`, the folders of the core and of the native engine, and of the task runtime the folder of
virtual time and the files that read plans and model shared objects, pages and clocks, whatever folder they lie in.
Generated files do not count. A line is counted in two ways: as it stands, and if it is neither blank nor comment. What
else there is of C and C++ is shown below, so that lines which only move are seen. ``--other`` is a checkout to compare
with; exit status 1 unless this one has at most four fifths of its lines.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import NamedTuple

SUFFIXES = (".c", ".h", ".cpp", ".hpp")
COUNTED_FOLDERS = ("core", "native", "runtime/source/virtual")
RUNTIME_SOURCES = "runtime/source"
COUNTED_NAMES = ("virtual", "words", "page_map", "pages", "plan_tables", "field", "clock", "graph_program")
GENERATED = "generated"
BOUND = 4 / 5
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class Lines(NamedTuple):
    """How many lines there are: all, and those that are neither blank nor comment."""

    every: int
    code: int

    def __add__(self, other: object) -> Lines:
        assert isinstance(other, Lines)
        return Lines(self.every + other.every, self.code + other.code)

    @classmethod
    def of(cls, text: str) -> Lines:
        """Those of a source."""
        code = COMMENT.sub("", text).splitlines()
        return cls(len(text.splitlines()), sum(bool(line.strip()) for line in code))


NO_LINES = Lines(0, 0)


def is_counted(path: PurePath) -> bool:
    """Whether the file ``path`` (below ``numasim``) is one of engine, policies, plan readers and virtual time."""
    if any(path.is_relative_to(folder) for folder in COUNTED_FOLDERS):
        return True
    return path.is_relative_to(RUNTIME_SOURCES) and path.name.startswith(COUNTED_NAMES)


def sources(checkout: Path) -> Iterator[tuple[PurePath, str]]:
    """(path below ``numasim``, text) of every source in C or C++ that is written by hand."""
    package = checkout / "numasim"
    for path in sorted(package.rglob("*")):
        below = path.relative_to(package)
        if path.suffix in SUFFIXES and GENERATED not in below.parts:
            yield below, path.read_text(encoding="utf-8")


def by_folder(checkout: Path) -> dict[tuple[bool, str], Lines]:
    """Lines by (whether they are counted, folder)."""
    found: dict[tuple[bool, str], Lines] = {}
    for path, text in sources(checkout):
        key = is_counted(path), path.parent.as_posix()
        found[key] = found.get(key, NO_LINES) + Lines.of(text)
    return found


def table(columns: list[dict[tuple[bool, str], Lines]]) -> Iterator[str]:
    """A line for each folder, with all lines and lines of code of every checkout, and the sums."""
    for counted, title in ((True, "engine, policies, plan readers, virtual time"), (False, "other C and C++")):
        folders = sorted({folder for column in columns for kind, folder in column if kind == counted})
        for folder in folders:
            yield _row(folder, [column.get((counted, folder), NO_LINES) for column in columns])
        yield _row(f"= {title}", [total(column, counted) for column in columns])
        yield ""


def _row(name: str, lines: list[Lines]) -> str:
    return f"{name:50}" + "".join(f"{each.every:10,}{each.code:10,}" for each in lines)


def total(column: dict[tuple[bool, str], Lines], counted: bool) -> Lines:
    """The sum over folders."""
    return sum((lines for (kind, _), lines in column.items() if kind == counted), NO_LINES)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Count the C and C++ of engine, policies, readers and virtual time.")
    parser.add_argument("--sources", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--other", type=Path, help="the checkout to compare with")
    given = parser.parse_args()
    checkouts = [given.sources, *([given.other] if given.other else [])]
    columns = [by_folder(checkout) for checkout in checkouts]
    print(f"{'':50}" + "".join(f"{name:>10}{'code':>10}" for name in ("this", "other")[: len(columns)]))
    print(*table(columns), sep="\n")
    if not given.other:
        return 0
    this, other = (total(column, True) for column in columns)
    share = this.every / other.every
    print(f"{this.every:,} of {other.every:,} lines: {share:.3f}, bound {BOUND:.3f}")
    return int(share > BOUND)


if __name__ == "__main__":
    sys.exit(main())
