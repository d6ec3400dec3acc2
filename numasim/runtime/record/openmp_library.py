"""LLVM's OpenMP runtime: the one that is asked for, that of a Python package, or that of the system."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from numasim.errors import InputError

PACKAGES = {"cmeel-libomp": "libomp.so", "intel-openmp": "libiomp5.so"}  # and the library that each one brings
FOLDERS = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/lib/*-linux-gnu", "/usr/lib/llvm*/lib", "/opt/llvm*/lib")
NAMES = ("libomp.so", "libomp.so.5", "libiomp5.so")
ENTRANCE = b"ompt_start_tool"  # in every runtime that tells tools what happens


@dataclass(frozen=True)
class OpenmpLibrary:
    """A runtime and where it is from."""

    path: Path
    origin: str

    def __str__(self) -> str:
        """Its file and origin, for messages."""
        return f"{self.path} ({self.origin})"


def find_openmp(asked: Path | None = None) -> OpenmpLibrary:
    """LLVM's OpenMP runtime, ``asked`` if it is given. InputError where there is none."""
    if asked is not None:
        if not asked.is_file():
            raise InputError("there is no such library", place=str(asked), expected="LLVM's OpenMP runtime, libomp.so")
        if not _tells_tools(asked):
            problem = "this library tells tools nothing of what a program does"
            raise InputError(problem, place=str(asked), expected="LLVM's OpenMP runtime, libomp.so")
        return OpenmpLibrary(asked.resolve(), "asked for")
    for found in (*_of_packages(), *_of_system()):
        if _tells_tools(found.path):
            return found
    raise InputError(
        "LLVM's OpenMP runtime is not here, through which programs are recorded",
        expected="the extra record of numasim (pip install 'numasim[record]'), which brings one, or libomp of the "
        "system (Debian: libomp5-14), or --openmp with its file",
    )


def _of_packages() -> Iterator[OpenmpLibrary]:
    for package, library in PACKAGES.items():
        try:
            found = distribution(package)
        except PackageNotFoundError:
            continue
        for file in found.files or ():
            if file.name == library:
                path = Path(str(found.locate_file(file))).resolve()
                if path.is_file():
                    yield OpenmpLibrary(path, f"Python package {package} {found.version}")


def _of_system() -> Iterator[OpenmpLibrary]:
    named = [Path(folder) for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]
    folders = [*named, *(path for pattern in FOLDERS for path in sorted(Path("/").glob(pattern[1:]), reverse=True))]
    for folder in folders:
        for name in NAMES:
            if (folder / name).is_file():
                yield OpenmpLibrary((folder / name).resolve(), "of the system")


def _tells_tools(path: Path) -> bool:
    try:
        return ENTRANCE in path.read_bytes()
    except OSError:
        return False
