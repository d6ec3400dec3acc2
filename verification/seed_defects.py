"""Seed each defect of the tables into a copy of the package and show that the engine's tests catch it.

    python verification/seed_defects.py [--native] [--fast] [WORDS]    # all defects, or those whose names contain WORDS

Without --native the defects are those of the reference engine, which its tests run alone. With it they are in C and
C++: after each the compiled engine is built again, without optimisation, and the same tests run on it. With --fast
the slow tests are left out, as by the test command of the README.

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

from control_defects import CONTROL_DEFECTS
from defect_table import DEFECTS, Defect
from native_defects import NATIVE_DEFECTS

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from tiers import SLOW  # isort: skip

REPOSITORY = Path(__file__).resolve().parents[1]
REFERENCE_DEFECTS = (*DEFECTS, *CONTROL_DEFECTS)
COPIED = ("numasim", "configs", "tests/engine", "pyproject.toml")
LONGEST_S = (
    600  # of the tests of one defect, far above what they take: a defect that lets an engine run on for ever is seen
)
NO_TESTS = 5  # the exit status of pytest where none is left
FAILURE = re.compile(r"^(?:FAILED|ERROR) \S*?(\w+\.py\S*)", re.MULTILINE)


class SandboxError(Exception):
    """The copy does not behave before a defect is seeded, or a test did not run at all."""


def copy_to(folder: Path) -> None:
    """Copy what the tests of the engines need, without the compiled engine, which would hide the reference one."""
    for name in COPIED:
        source, target = REPOSITORY / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "_engine*.so"))
        else:
            shutil.copy2(source, target)


def build(folder: Path) -> None:
    """Build the compiled engine of the copy in place, or only what has changed since it was built last."""
    made, native = folder / "build", folder / "numasim" / "native"
    if not made.exists():
        options = ("-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O1", "-DCMAKE_C_FLAGS=-O1")
        _command("cmake", "-G", "Ninja", "-S", native, "-B", made, f"-DPython_EXECUTABLE={sys.executable}", *options)
    _command("cmake", "--build", made)
    for module in made.glob("_engine*.so"):
        shutil.copy2(module, native)


def _command(*words: str | Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, "PATH": path})
    if done.returncode:
        raise SandboxError(done.stdout + done.stderr)


def failing_test(folder: Path, tests: Sequence[str], fast: bool = False) -> str | None:
    """The first of the tests that fails in ``folder``, or None when all pass; without the slow tests if ``fast``."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "--hypothesis-profile=ci",  # which draws the same examples each time, and knows no deadline
        *(f"--deselect=tests/{entry}" for entry in SLOW if fast),
        *(f"tests/engine/{t}" for t in tests),
    ]
    # without byte code a source that was changed twice within a second cannot be mistaken for the one before
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=LONGEST_S
        )
    except subprocess.TimeoutExpired:
        return f"(the tests had not ended after {LONGEST_S} s)"
    if fast and done.returncode == NO_TESTS:
        return None
    found = FAILURE.search(done.stdout)
    if done.returncode not in (0, 1) or bool(done.returncode) != bool(found):
        raise SandboxError(done.stdout + done.stderr)
    return found[1] if found else None


def catch(defect: Defect, folder: Path, native: bool = False, fast: bool = False) -> str | None:
    """Seed one defect into the copy in ``folder``, and take it out again; the test that caught it, or None."""
    file = folder / defect.file
    source = file.read_text()
    if source.count(defect.old) != 1:
        raise SandboxError(f"{defect.file} holds {source.count(defect.old)} times, not once: {defect.old}")
    file.write_text(source.replace(defect.old, defect.new))
    try:
        if native:
            build(folder)
        return failing_test(folder, defect.tests, fast)
    finally:
        file.write_text(source)


def passes_without_defect(defects: Sequence[Defect], folder: Path) -> None:
    """SandboxError unless all tests of ``defects`` pass in an untouched copy."""
    failed = failing_test(folder, sorted({test for defect in defects for test in defect.tests}))
    if failed:
        raise SandboxError(f"without any defect, {failed} fails")


def main(*arguments: str) -> int:
    """Print one line a defect."""
    native, fast = "--native" in arguments, "--fast" in arguments
    words = " ".join(word for word in arguments if word not in ("--native", "--fast"))
    chosen = [defect for defect in (NATIVE_DEFECTS if native else REFERENCE_DEFECTS) if words in defect.name]
    if not chosen:
        print(f"no defect has a name with {words!r}", file=sys.stderr)
        return 2
    survivors = 0
    with TemporaryDirectory() as name:
        folder = Path(name)
        copy_to(folder)
        if native:
            build(folder)
        passes_without_defect(chosen, folder)
        for defect in chosen:
            caught_by = catch(defect, folder, native, fast)
            survivors += caught_by is None
            print(
                f"{'caught ' if caught_by else 'MISSED '} {defect.name}\n         {caught_by or defect.file}",
                flush=True,
            )
    print(f"{len(chosen) - survivors} of {len(chosen)} defects caught")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
