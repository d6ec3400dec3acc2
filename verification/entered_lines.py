"""Compare the lines of the native engine that the short form of `sanitize.sh` enters with those of the long form.

    python verification/entered_lines.py [--compiler g++]

Both forms are run, without sanitizers, on an engine that counts how often its lines are entered (gcov; the compiler is
GCC). The command prints the lines that only the long form enters. Exit status 1 if there is such a line. Builds are
kept in build/entered.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
BUILD = REPOSITORY / "build" / "entered"
SHORT = (REPOSITORY / "verification" / "short_form.txt").read_text().split()
LONG = ["tests/engine", "tests/native"]

Lines = set[tuple[str, int]]  # path of a file from the root of the repository, and number of a line


def build_engine(compiler: str) -> Path:
    """Return the folder of a copy of the package whose engine counts how often its lines are entered."""
    options = {"CMAKE_BUILD_TYPE": "Debug", "Python_EXECUTABLE": sys.executable, "CMAKE_CXX_COMPILER": compiler}
    options |= {f"CMAKE_{language}_FLAGS": "--coverage -O1 -g0" for language in ("C", "CXX")}
    source = ["-G", "Ninja", "-S", str(REPOSITORY / "lib"), "-B", str(BUILD)]
    site = BUILD / "site"
    shutil.rmtree(site, ignore_errors=True)
    for name in ("numasim", "configs", "experiments"):
        shutil.copytree(REPOSITORY / name, site / name, ignore=shutil.ignore_patterns("__pycache__", "_engine*.so"))
    for arguments in (
        [*source, *(f"-D{name}={value}" for name, value in options.items())],
        ["--build", str(BUILD), "--", "--quiet"],
        ["--install", str(BUILD), "--prefix", str(site / "numasim")],
    ):
        subprocess.run(["cmake", *arguments], check=True, stdout=subprocess.DEVNULL)
    return site


def entered(site: Path, tests: list[str]) -> Lines:
    """Return the lines of C and C++ that ``tests`` enter."""
    for count in BUILD.rglob("*.gcda"):
        count.unlink()
    environment = {**os.environ, "PYTHONPATH": str(site), "PYTHONSAFEPATH": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-m", "", "-p", "no:cacheprovider", *tests]
    subprocess.run(command, cwd=REPOSITORY, env=environment, check=True)
    counted = BUILD / "counted"
    shutil.rmtree(counted, ignore_errors=True)
    counted.mkdir()
    counts = map(str, (BUILD / "CMakeFiles" / "_engine.dir").rglob("*.gcda"))
    subprocess.run(["gcov", "--json-format", "--preserve-paths", *counts], cwd=counted, check=True, capture_output=True)
    return {line for report in counted.glob("*.json.gz") for line in _lines(json.loads(gzip.open(report).read()))}


def _lines(report: dict[str, list[dict[str, object]]]) -> Lines:
    found: Lines = set()
    for file in report["files"]:
        path = (BUILD / str(file["file"])).resolve()
        if path.is_relative_to(REPOSITORY / "lib"):
            name, lines = path.relative_to(REPOSITORY).as_posix(), file["lines"]
            assert isinstance(lines, list)
            found |= {(name, line["line_number"]) for line in lines if line["count"]}
    return found


def main() -> int:
    """Run both forms and compare."""
    parser = argparse.ArgumentParser(description="Compare the lines that both forms of the sanitized tests enter.")
    parser.add_argument("--compiler", default="g++")
    site = build_engine(parser.parse_args().compiler)
    short, long = entered(site, SHORT), entered(site, LONG)
    for name, line in sorted(long - short):
        text = (REPOSITORY / name).read_text().splitlines()[line - 1].strip()
        print(f"{name}:{line}: {text}")
    print(f"the long form enters {len(long):,} lines, {len(long - short):,} of which the short form does not enter")
    return bool(long - short)


if __name__ == "__main__":
    sys.exit(main())
