"""Count lines and code files by folder, of the product and of its tests: ``python verification/lines.py``.

The command counts the files in Python, C and C++ that git knows, except for files in folders called ``generated``. The
product is in ``numasim`` and ``lib``, tests are in ``tests``, studies in ``experiments``. Other folders, such as
``verification``, count as "other". ``--other`` names a checkout for comparison.
"""

from __future__ import annotations

import argparse
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

SUFFIXES = {".py", ".c", ".h", ".cpp", ".hpp"}
GENERATED = "generated"


def capability(path: PurePosixPath) -> str:
    """Return the folder whose row counts the file: two levels deep in the product and the tests, elsewhere one."""
    top, *rest = path.parts
    deeper = top in ("numasim", "lib", "tests") and len(rest) > 1
    return f"{top}/{rest[0]}" if deeper else top


def counted(checkout: Path) -> Iterator[tuple[PurePosixPath, int]]:
    """Yield the path and the number of lines of every hand-written code file of a checkout."""
    listed = subprocess.run(["git", "ls-files"], cwd=checkout, check=True, capture_output=True, text=True).stdout
    for name in listed.splitlines():
        path = PurePosixPath(name)
        if path.suffix in SUFFIXES and GENERATED not in path.parts and (checkout / path).is_file():
            yield path, len((checkout / path).read_bytes().splitlines())


def lines_of(checkout: Path) -> tuple[Counter[str], Counter[str]]:
    """Return lines and files by capability, with the sums of product, tests and studies."""
    sums = {"numasim": "= product", "lib": "= product", "tests": "= tests", "experiments": "= studies"}
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for path, count in counted(checkout):
        for name in (capability(path), sums.get(path.parts[0], "= other")):
            lines[name] += count
            files[name] += 1
    return lines, files


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--other", type=Path, metavar="PATH", help="a checkout to compare with")
    other = parser.parse_args().other
    tables = [lines_of(checkout) for checkout in (other, Path(__file__).resolve().parents[1]) if checkout]
    print(f"{'capability':28}" + "".join(f"{'lines':>10}{'files':>7}" for _ in tables))
    for name in sorted({name for lines, _ in tables for name in lines}):
        print(f"{name:28}" + "".join(f"{lines[name]:10,}{files[name]:7,}" for lines, files in tables))


if __name__ == "__main__":
    main()
