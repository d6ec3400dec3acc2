"""The compiled program of the runtime, for tests that run it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from numasim.runtime.program import PROGRAM


@pytest.fixture(scope="session")
def c_compiler() -> str:
    """A C compiler; where there is none, what asks for it is skipped."""
    found = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if found is None:
        pytest.skip("no C compiler here: the task runtime can neither be built nor tested")
    return found


@pytest.fixture(scope="session")
def program(request: pytest.FixtureRequest) -> Path:
    """``numasim-runtime`` of the numasim that is tested; that it is missing is a failure wherever it can be built."""
    if not PROGRAM.is_file():
        request.getfixturevalue("c_compiler")
        pytest.fail(f"{PROGRAM} is not built: pip install . does it, or cmake with numasim/runtime by itself")
    return PROGRAM
