"""The short form of the sanitized tests: every cell of the registry, and the native parts on their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHORT_FORM = ("tests/native", "tests/engine/test_every_cell.py")


@pytest.mark.skipif(sys.platform != "linux", reason="sanitizers are preloaded as Linux does it")
def test_no_sanitizer_objects_to_the_engine(compiler: str) -> None:
    command = ["bash", str(ROOT / "verification" / "sanitize.sh"), "-q", "-x", *SHORT_FORM]
    environment = {**os.environ, "PYTHON": sys.executable, "CXX": compiler}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-8000:]}"
    assert " passed" in done.stdout
