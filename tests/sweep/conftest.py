"""Makes the toy sweep importable, by the worker processes too."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@pytest.fixture
def start_sweep() -> Callable[..., subprocess.Popen[str]]:
    """Starts ``toy_sweep.main`` in a process of its own: ``start_sweep(directory, jobs, runner, repeat)``."""

    def start(directory: Path, jobs: int, runner: str, repeat: int, before: str = "") -> subprocess.Popen[str]:
        code = f"{before}\nimport toy_sweep\ntoy_sweep.main({str(directory)!r}, '{jobs}', '{runner}', '{repeat}')"
        path = os.pathsep.join([str(HERE), str(ROOT), os.environ.get("PYTHONPATH", "")])
        return subprocess.Popen(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, stderr=subprocess.PIPE, text=True
        )

    return start
