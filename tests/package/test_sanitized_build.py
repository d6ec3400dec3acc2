"""The short form of the sanitized tests: the tests that `verification/short_form.txt` names.

These tests are chosen to enter the lines of the native engine that the tests of `verification/sanitize.sh` enter, as
`verification/entered_lines.py` shows. The other tests repeat these lines with other numbers, which the comparison with
the reference engine covers.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

VERIFICATION = Path(__file__).resolve().parents[2] / "verification"
SHORT_FORM = (VERIFICATION / "short_form.txt").read_text().split()
COMPILED = ("-k", "not reference")  # tests that run once for each engine run only on the compiled engine


def test_the_short_form_names_tests() -> None:
    assert "tests/native" in SHORT_FORM
    assert [name for name in SHORT_FORM if not (VERIFICATION.parent / name.partition("::")[0]).exists()] == []


@pytest.mark.skipif(sys.platform != "linux", reason="sanitizers are preloaded as Linux does it")
def test_no_sanitizer_objects_to_the_engine(compiler: str) -> None:
    command = ["bash", str(VERIFICATION / "sanitize.sh"), "-q", "-x", *COMPILED, *SHORT_FORM]
    environment = {**os.environ, "PYTHON": sys.executable, "CXX": compiler}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-8000:]}"
    assert " passed" in done.stdout
