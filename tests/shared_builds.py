"""Files that tests build once in a run of pytest: the first process builds, other processes wait and use the result.

`ccache` is used if it is installed, also by CMake, so that a second session has little to compile.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp

FOLDER = "NUMASIM_TEST_BUILDS"  # the variable with the folder of the builds of a session
CCACHE = shutil.which("ccache")


def open_folder() -> str | None:
    """Make the folder of this session for all processes. Returns None if the session has a folder already."""
    if CCACHE:
        for language in ("C", "CXX"):
            os.environ.setdefault(f"CMAKE_{language}_COMPILER_LAUNCHER", CCACHE)
    if FOLDER in os.environ:
        return None
    os.environ[FOLDER] = mkdtemp(prefix="numasim-tests-")
    return os.environ[FOLDER]


def built_once(name: str, build: Callable[[Path], object]) -> Path:
    """Return the file or folder ``name`` of this session. The first process that asks calls ``build`` with the path of
    an unfinished file or folder, which gets its name when ``build`` returns.
    """
    found = Path(os.environ[FOLDER]) / name
    with found.with_name(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not found.exists():
            unfinished = found.with_name(f"unfinished-{name}")
            shutil.rmtree(unfinished, ignore_errors=True)  # left by a build that has failed
            build(unfinished)
            unfinished.rename(found)
    return found
