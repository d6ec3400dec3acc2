"""Each call that reads or writes the folder of a sweep fails once: the sweep reports the error, and the next sweep
succeeds.

Calls are counted, and fail, below Python, so that calls of Python's modules in C are included. With
``NUMASIM_TEST_ALL_FAULTS`` set, each call fails with each possible error, which takes minutes. Otherwise each call of
the shorter sweep, and every seventh call of the longer sweep, fails with one error.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from compiling import SANITIZED, compile_library

from numasim.cli import BAD_INPUT, OK

FAULTS = Path(__file__).parent / "faults"
ALL = bool(os.environ.get("NUMASIM_TEST_ALL_FAULTS"))
CALLS = {"open", "read", "write", "close", "fsync", "rename", "mkdir", "unlink", "opendir", "readdir", "stat", "flock"}


@pytest.fixture(scope="module")
def library(c_compiler: str) -> Path:
    if not sys.platform.startswith("linux") or SANITIZED in os.environ:
        pytest.skip("the calls are those of Linux' C library, in front of which nothing else may be")
    return compile_library(c_compiler, "failing-files", [FAULTS / "failing_files.c"])


def outcomes(library: Path, folder: Path, before: str, step: int) -> list[dict[str, Any]]:
    """Return the outcome of each fault."""
    command = [sys.executable, FAULTS / "sweep_with_faults.py", library, folder, before, str(step)]
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def is_sound(outcome: dict[str, Any]) -> bool:
    """Return whether the sweep succeeded or failed with one sentence, and the next sweep left only its results."""
    says_why = outcome["status"] == BAD_INPUT and outcome["said"] and "\n" not in outcome["said"]
    has_ended = says_why or (outcome["status"] == OK and outcome["complete"])
    is_resumed = outcome["following"] == [OK, ""] and outcome["same"] and not outcome["left behind"]
    return bool(has_ended and is_resumed and outcome["theirs kept"])


@pytest.mark.parametrize(("before", "step"), [("new", 1), ("extended", 7)])
def test_every_call_may_fail_once(library: Path, tmp_path: Path, before: str, step: int) -> None:
    found = outcomes(library, tmp_path, before, 0 if ALL else step)
    assert [outcome for outcome in found if not is_sound(outcome)] == []
    if step == 1 or ALL:  # if only every seventh call fails, some kinds of calls may be missing
        assert {outcome["fault"][0] for outcome in found} >= CALLS
    assert {outcome["status"] for outcome in found} == {OK, BAD_INPUT}
