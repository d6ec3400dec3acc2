"""What the scripts of a release share: the project's file, environments, and commands that have to succeed."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
VERSION: str = PROJECT["project"]["version"]


def run(command: Sequence[str | Path], env: Mapping[str, str] | None = None, folder: Path | None = None) -> str:
    """What a command prints on standard output; a command that fails ends the script with its own messages."""
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        fail(f"{' '.join(map(str, command))} ended with status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def make_environment(folder: Path, python: str) -> Path:
    """A new virtual environment of ``python`` in ``folder``; returns its interpreter."""
    run([python, "-m", "venv", folder])
    return folder / "bin" / "python"


def fail(reason: str) -> NoReturn:
    """End the script with status 1 and ``reason`` on standard error."""
    sys.exit(f"{Path(sys.argv[0]).name}: {reason}")
