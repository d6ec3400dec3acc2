"""Compile C sources for the tests; each object is compiled once in a session."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from shared_builds import CCACHE, built_once

LIB = Path(__file__).resolve().parents[1] / "lib"
RUNTIME, CORE = LIB / "runtime", LIB / "core"
INCLUDED = ("include", "source")  # folders of the runtime's headers
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror")
UNUSED = "-Wno-unused-parameter"  # functions in tables have the parameters of their table
FOLDERS = [f"-I{folder}" for folder in (*(RUNTIME / name for name in INCLUDED), CORE, RUNTIME)]
PLAIN = ("-O0", "-g0")  # without inlining, so that objects name all functions that sources call
ADDRESSES = ("-O0", "-g1", "-fPIC", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
LIBRARY = ("-O1", "-fPIC")
THREADS = ("-O1", "-g1", "-fsanitize=thread")

SANITIZED = "NUMASIM_TEST_SANITIZED"


def compile_program(compiler: str, program: Path, files: Sequence[Path], flags: Sequence[str] = ()) -> Path:
    """Link ``files`` into ``program``: objects, sources, and then libraries of C++; warnings are errors."""
    cpp = ["-lstdc++", "-lm"] if any(path.suffix == ".a" for path in files) else []
    _run([compiler, *flags, *map(str, _objects(compiler, files, flags)), *cpp, "-pthread", "-o", str(program)])
    return program


def compile_library(compiler: str, name: str, files: Sequence[Path]) -> Path:
    """Return a shared library of ``files``, made once in a session; with sanitizers if the environment says so."""
    flags = ADDRESSES if SANITIZED in os.environ else LIBRARY
    command = [compiler, *flags, "-shared", *map(str, compile_objects(compiler, files, flags))]
    return built_once(_name(name, ".so", command), lambda made: _run([*command, "-o", str(made)]))


def compile_objects(compiler: str, files: Sequence[Path], flags: Sequence[str] = ()) -> list[Path]:
    """Return the object of each of ``files``, with warnings as errors; a failure has the compiler's message."""
    launcher = [CCACHE] if CCACHE else []
    command = [*launcher, compiler, "-std=c11", "-D_GNU_SOURCE", *WARNINGS, UNUSED, *FOLDERS, *flags]
    return [_compiled([*command, "-c", str(path)], path.stem) for path in files]


def core_sources() -> list[Path]:
    """Return the C files of lib/core, also the generated files, in order."""
    return sorted(CORE.glob("*/*.c"))


def install_library(folder: Path, compiler: str) -> None:
    """Install the C library, without virtual time, to ``folder``. The build is not told this folder beforehand."""
    with TemporaryDirectory() as build:
        configure_library(Path(build), compiler)
        _cmake(["--build", build, "--", "--quiet"])
        _cmake(["--install", build, "--prefix", str(folder)])


def configure_library(build: Path, compiler: str, virtual: bool = False) -> None:
    """Configure a build of the C library, without counters, and with virtual time only if ``virtual``. The library is
    compiled without optimisation, which is quick.
    """
    options = {"NUMASIM_WERROR": "ON", "NUMASIM_COUNTERS": "OFF", "CMAKE_INSTALL_PREFIX": "/usr"}
    options |= {"CMAKE_BUILD_TYPE": "None", "CMAKE_C_FLAGS": "-O0 -g0", "NUMASIM_VIRTUAL": "ON" if virtual else "OFF"}
    options |= {"CMAKE_C_COMPILER": compiler}
    _cmake(["-G", "Ninja", "-S", str(RUNTIME), "-B", str(build), *(f"-D{name}={of}" for name, of in options.items())])


def _cmake(arguments: Sequence[str]) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run(["cmake", *arguments], check=True, env=environment, stdout=subprocess.DEVNULL)


def _objects(compiler: str, files: Sequence[Path], flags: Sequence[str]) -> list[Path]:
    return [path if path.suffix in (".o", ".a") else compile_objects(compiler, [path], flags)[0] for path in files]


def _name(stem: str, suffix: str, command: Sequence[str]) -> str:
    return f"{stem}-{sha256(' '.join(command).encode()).hexdigest()[:16]}{suffix}"


def _compiled(command: Sequence[str], stem: str) -> Path:
    return built_once(_name(stem, ".o", command), lambda made: _run([*command, "-o", str(made)]))


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert not done.returncode, done.stderr[-4000:]
