"""Seed each defect of the table into a copy of the package and show that the engine's tests catch it.

    python verification/seed_defects.py [WORDS]    # all defects, or those whose names contain WORDS

Exit status 1 where a defect is not caught. The working tree is never touched.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from defect_table import DEFECTS, Defect

REPOSITORY = Path(__file__).resolve().parents[1]
COPIED = ("numasim", "configs", "tests/engine", "pyproject.toml")
FAILURE = re.compile(r"^(?:FAILED|ERROR) \S*?(\w+\.py\S*)", re.MULTILINE)


class SandboxError(Exception):
    """The copy does not behave before a defect is seeded, or a test did not run at all."""


def copy_to(folder: Path) -> None:
    """Copy what the tests of the reference engine need, in which the defects are; the native one would hide them."""
    for name in COPIED:
        source, target = REPOSITORY / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "_engine*.so"))
        else:
            shutil.copy2(source, target)


def failing_test(folder: Path, tests: Sequence[str]) -> str | None:
    """The first of the tests that fails in ``folder``, or None when all pass."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        *(f"tests/engine/{t}" for t in tests),
    ]
    # without byte code a source that was changed twice within a second cannot be mistaken for the one before
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=1800
    )
    found = FAILURE.search(done.stdout)
    if done.returncode not in (0, 1) or bool(done.returncode) != bool(found):
        raise SandboxError(done.stdout + done.stderr)
    return found[1] if found else None


def catch(defect: Defect) -> str | None:
    """Seed one defect into a fresh copy; the test that caught it, or None."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        copy_to(folder)
        file = folder / defect.file
        source = file.read_text()
        if source.count(defect.old) != 1:
            raise SandboxError(f"{defect.file} holds {source.count(defect.old)} times, not once: {defect.old}")
        file.write_text(source.replace(defect.old, defect.new))
        return failing_test(folder, defect.tests)


def passes_without_defect(defects: Sequence[Defect]) -> None:
    """SandboxError unless all tests of ``defects`` pass in an untouched copy."""
    with TemporaryDirectory() as name:
        copy_to(Path(name))
        failed = failing_test(Path(name), sorted({test for defect in defects for test in defect.tests}))
    if failed:
        raise SandboxError(f"without any defect, {failed} fails")


def main(words: str = "") -> int:
    """Print one line a defect."""
    chosen = [defect for defect in DEFECTS if words in defect.name]
    passes_without_defect(chosen)
    survivors = 0
    for defect in chosen:
        caught_by = catch(defect)
        survivors += caught_by is None
        print(f"{'caught ' if caught_by else 'MISSED '} {defect.name}\n         {caught_by or defect.file}", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} defects caught")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:])))
