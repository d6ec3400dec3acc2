"""Files for tests of specifications: a machine and runs on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from small_inputs import TOY_MACHINE, TOY_RUN


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working directory, with a machine file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "machine.yaml").write_text(TOY_MACHINE)
    return tmp_path


@pytest.fixture
def run_file(folder: Path) -> Callable[..., Path]:
    """Return a function that writes ``run.yaml``: a complete run and the text appended to it."""

    def write(extra: str = "", text: str = TOY_RUN) -> Path:
        (folder / "run.yaml").write_text(text + extra)
        return Path("run.yaml")

    return write
