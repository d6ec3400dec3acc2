"""Where the sources of the task runtime are that tests compile."""

from __future__ import annotations

from pathlib import Path

import pytest
from compiling import RUNTIME, core_sources
from numasim.runtime.runtime_program import VIRTUAL_LIBRARY

HERE = Path(__file__).parent
VIRTUAL_TIME = RUNTIME / "source" / "virtual"
LOCKS = ("locks_*.c", "numa_*.c", "mcs.c")


def sources(*patterns: str) -> list[Path]:
    """The files in and below lib/runtime/source of these names, in order."""
    return [path for pattern in patterns for path in sorted((RUNTIME / "source").rglob(pattern))]


def library_sources() -> list[Path]:
    """All that the C library is made of, which needs nothing of C++."""
    return [path for path in (*sources("*.c"), *core_sources()) if path.parent != VIRTUAL_TIME]


def library_with_virtual_time() -> list[Path]:
    """The same, and virtual time, whose engine in C++ is in the library that has been built."""
    if not VIRTUAL_LIBRARY.is_file():
        pytest.fail(f"{VIRTUAL_LIBRARY} is not built: pip install . does it, or cmake with lib")
    return [*library_sources(), *sorted(VIRTUAL_TIME.glob("*.c")), VIRTUAL_LIBRARY]
