"""The C library as users build and install it, for all modules that look at it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from compiling import RUNTIME
from shared_builds import built_once


@pytest.fixture(scope="session")
def prefix(c_compiler: str) -> Path:
    """A folder that the library was installed to, which is not the one that it was configured for.

    It is built without counters, and with hwloc where that is found. How fast it is does not matter here, so that it is
    compiled the quick way.
    """
    return built_once("installed", lambda folder: install(folder, c_compiler))


def install(folder: Path, compiler: str) -> None:
    environment = {**os.environ, "CC": compiler, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    options = {"NUMASIM_WERROR": "ON", "NUMASIM_COUNTERS": "OFF", "CMAKE_INSTALL_PREFIX": "/usr"}
    options |= {"CMAKE_BUILD_TYPE": "None", "CMAKE_C_FLAGS": "-O0 -g0"}
    with TemporaryDirectory() as build:
        for arguments in (
            ["-G", "Ninja", "-S", str(RUNTIME), "-B", build, *(f"-D{name}={of}" for name, of in options.items())],
            ["--build", build, "--", "--quiet"],
            ["--install", build, "--prefix", str(folder)],
        ):
            subprocess.run(["cmake", *arguments], check=True, env=environment, stdout=subprocess.DEVNULL)
