"""Programs for the tests that stand for installed ones: shell scripts that a process finds on its path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest


def script(file: Path, text: str) -> Path:
    """A program that runs ``text`` in a shell."""
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


def only_installed(monkeypatch: pytest.MonkeyPatch, folder: Path, programs: Mapping[str, str]) -> None:
    """Let processes find no programs but these, each with what it does, and no compilers by variables."""
    folder.mkdir()
    for name, text in programs.items():
        script(folder / name, text)
    monkeypatch.setenv("PATH", str(folder))
    for variable in ("CC", "CXX"):
        monkeypatch.delenv(variable, raising=False)
