"""Compiles sources of the task runtime together with a program of the tests."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
RUNTIME = Path(__file__).parents[2] / "numasim" / "runtime"
CORE = RUNTIME.parent / "core"
INCLUDED = ("include", "source")
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror")


def compile_program(compiler: str, program: Path, files: Sequence[Path], flags: Sequence[str] = ()) -> Path:
    """Compile ``files`` with all warnings as errors into ``program``; fails with what the compiler says."""
    _compile(compiler, [*flags, *map(str, files), "-pthread", "-o", str(program)])
    return program


def compile_objects(compiler: str, folder: Path, files: Sequence[Path], flags: Sequence[str] = ()) -> list[Path]:
    """Compile each of ``files`` into an object in ``folder``; fails with what the compiler says."""
    objects = [folder / f"{path.stem}.o" for path in files]
    for path, made in zip(files, objects, strict=True):
        _compile(compiler, [*flags, "-c", str(path), "-o", str(made)])
    return objects


def _compile(compiler: str, arguments: Sequence[str]) -> None:
    command = [compiler, "-std=c11", "-D_GNU_SOURCE", *WARNINGS, "-O2", "-g1"]
    command += [f"-I{RUNTIME / folder}" for folder in INCLUDED] + [f"-I{CORE}"]
    found = subprocess.run([*command, *arguments], check=False, capture_output=True, text=True)
    assert not found.returncode, found.stderr[-4000:]


def sources(*patterns: str) -> list[Path]:
    """The files in and below numasim/runtime/source of these names, in order."""
    return [path for pattern in patterns for path in sorted((RUNTIME / "source").rglob(pattern))]


def core_sources() -> list[Path]:
    """The files of numasim/core, and those that are generated for it, in order."""
    return sorted([*CORE.glob("*/*.c"), *(RUNTIME.parent / "schema" / "generated").glob("*.c")])


LOCKS = ("locks_*.c", "numa_*.c", "mcs.c")
