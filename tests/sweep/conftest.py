"""Makes the toy sweep importable, by the worker processes too."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture
def start_sweep(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., subprocess.Popen[str]]:
    """Starts ``toy_sweep.main`` by a script: ``start_sweep(directory, jobs or cluster, runner, repeat)``.

    The script has no main guard: its worker processes must not begin the sweep all over.
    """
    script = tmp_path_factory.mktemp("script") / "sweep.py"

    def start(directory: Path, workers: int | str, runner: str, repeat: int, before: str = "") -> subprocess.Popen[str]:
        call = f"{before}\nimport toy_sweep\ntoy_sweep.main({str(directory)!r}, '{workers}', '{runner}', '{repeat}')"
        script.write_text(call)
        path = os.pathsep.join([str(HERE), os.environ["PYTHONPATH"]])
        return subprocess.Popen(
            [sys.executable, script],
            env={**os.environ, "PYTHONPATH": path},
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    return start
