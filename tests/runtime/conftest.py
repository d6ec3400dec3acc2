"""Compiled test programs that several test modules run."""

from __future__ import annotations

from pathlib import Path

import pytest
from compiling import THREADS, compile_program
from runtime_sources import HERE, library_sources


@pytest.fixture(scope="session")
def watched(c_compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the programs of threads/, watched by the thread sanitizer."""
    folder = tmp_path_factory.mktemp("threads")
    for source in (HERE / "threads").glob("*.c"):
        compile_program(c_compiler, folder / source.stem, [source, *library_sources()], THREADS)
    return folder
