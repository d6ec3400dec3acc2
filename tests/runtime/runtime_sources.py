"""Where the sources of the task runtime are that tests compile."""

from __future__ import annotations

from pathlib import Path

from compiling import RUNTIME, core_sources

HERE = Path(__file__).parent
LOCKS = ("locks_*.c", "numa_*.c", "mcs.c")


def sources(*patterns: str) -> list[Path]:
    """The files in and below numasim/runtime/source of these names, in order."""
    return [path for pattern in patterns for path in sorted((RUNTIME / "source").rglob(pattern))]


def library_sources() -> list[Path]:
    """All that the C library is made of."""
    return [*sources("*.c"), *core_sources()]
