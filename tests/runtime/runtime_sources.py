"""The sources of the task runtime that tests compile, the runs of compiled programs, and the strategies of tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from compiling import RUNTIME, core_sources

from numasim.parts import catalog
from numasim.runtime.runtime_program import VIRTUAL_LIBRARY

HERE = Path(__file__).parent
VIRTUAL_TIME = RUNTIME / "source" / "virtual"
LOCKS = ("locks_*.c", "numa_*.c", "mcs.c")
STRATEGIES = catalog.names("strategies")
TUNED = ("cats", "laws")  # strategies with a controller
LONGEST_SECONDS = 1800  # of a program that would hang


def sources(*patterns: str) -> list[Path]:
    """The files in and below lib/runtime/source of these names, in order."""
    return [path for pattern in patterns for path in sorted((RUNTIME / "source").rglob(pattern))]


def library_sources() -> list[Path]:
    """The sources of the C library without virtual time, which needs nothing of C++."""
    return [path for path in (*sources("*.c"), *core_sources()) if path.parent != VIRTUAL_TIME]


def library_with_virtual_time() -> list[Path]:
    """The same with virtual time, whose engine in C++ is in the library that has been built."""
    if not VIRTUAL_LIBRARY.is_file():
        pytest.fail(f"{VIRTUAL_LIBRARY} is not built: pip install . does it, or cmake with lib")
    return [*library_sources(), *sorted(VIRTUAL_TIME.glob("*.c")), VIRTUAL_LIBRARY]


def told(*command: object, **environment: str) -> str:
    """The output of a program that writes no error and ends with status 0."""
    words, env = [str(word) for word in command], {**os.environ, **environment}
    done = subprocess.run(words, capture_output=True, text=True, timeout=LONGEST_SECONDS, check=False, env=env)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def refusal(program: Path, *arguments: object) -> str:
    """The one sentence with which the program refuses arguments: status 2, and nothing else is printed."""
    words: Sequence[str] = [str(word) for word in (program, *arguments)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    return done.stderr
