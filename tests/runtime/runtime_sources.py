"""Compiles sources of the task runtime together with a program of the tests."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
RUNTIME = Path(__file__).parents[2] / "numasim" / "runtime"
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror")


def compile_program(compiler: str, program: Path, files: Sequence[Path], flags: Sequence[str] = ()) -> Path:
    """Compile ``files`` with all warnings as errors into ``program``; fails with what the compiler says."""
    command = [compiler, "-std=c11", "-D_GNU_SOURCE", *WARNINGS, "-O1", "-g", *flags]
    command += [f"-I{RUNTIME / folder}" for folder in ("source", "include")]
    command += [*map(str, files), "-pthread", "-o", str(program)]
    found = subprocess.run(command, check=False, capture_output=True, text=True)
    assert not found.returncode, found.stderr[-4000:]
    return program


def sources(*patterns: str) -> list[Path]:
    """The files of numasim/runtime/source of these names, in order."""
    return [path for pattern in patterns for path in sorted((RUNTIME / "source").glob(pattern))]


LOCKS = ("locks_*.c", "numa_*.c", "mcs.c")
