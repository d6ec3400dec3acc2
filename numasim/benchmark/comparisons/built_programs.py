"""Programs that are built when the benchmark runs, each for a library that may be installed: pkg-config finds it, a
compiler builds the source, and a short run shows that it starts.

The sources in ``programs`` have another suffix than C and C++, since wheels leave those out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from numasim.benchmark.compared import MissingError
from numasim.errors import CheckError

PROGRAMS = Path(__file__).with_name("programs")


@dataclass(frozen=True)
class Language:
    """A language of programs: its name for people, for ``-x`` and the variable that names its compiler; compilers that
    are tried where that is not set; and options.
    """

    name: str
    option: str
    variable: str
    compilers: tuple[str, ...]
    options: tuple[str, ...] = ()


C = Language("C", "c", "CC", ("cc",))
CPP = Language("C++", "c++", "CXX", ("clang++", "c++"), ("-std=c++17",))  # clang++ has both libraries of OpenMP


def compiler_of(language: Language) -> str:
    """The path of the compiler. Raises MissingError where there is none."""
    named = os.environ.get(language.variable)
    found = filter(None, map(shutil.which, (named,) if named else language.compilers))
    if (compiler := next(found, None)) is None:
        raise MissingError(f"there is no {language.name} compiler{f' {named}' if named else ''}")
    return compiler


def package_options(package: str) -> list[str]:
    """The options for a compiler that build a program with a library, and let the program find it.

    Raises MissingError where pkg-config, or the package, is missing.
    """
    directory = package_variable(package, "libdir")
    found = _asked("--cflags", "--libs", package).split()
    return [*found, f"-Wl,-rpath,{directory}"] if directory else found


def package_variable(package: str, variable: str) -> str:
    """The value of a variable of a package, empty where it has none. Raises MissingError as `package_options` does."""
    return _asked(f"--variable={variable}", package).strip()


def _asked(*arguments: str) -> str:
    if shutil.which("pkg-config") is None:
        raise MissingError("there is no pkg-config")
    done = subprocess.run(["pkg-config", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise MissingError(f"pkg-config finds no {arguments[-1]}")
    return done.stdout


def build(program: Path, language: Language, source: str, options: Sequence[str], trial: Sequence[str]) -> None:
    """Build ``program`` from a file of ``programs``, with further ``options`` for the compiler, and run it once with
    the arguments ``trial``.

    Raises MissingError with the first error where it cannot be built or cannot be run.
    """
    command = [compiler_of(language), "-O2", *language.options, "-x", language.option, str(PROGRAMS / source)]
    command += ["-x", "none", *options, "-pthread"]  # libraries stand behind what needs them
    for doing, each in (("built", [*command, "-o", str(program)]), ("run", [str(program), *trial])):
        done = subprocess.run(each, capture_output=True, text=True, check=False)
        if done.returncode:
            raise MissingError(f"{source} cannot be {doing}{_first_error(done.stderr)}")


def _first_error(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    telling = next((line for line in lines if "error" in line), lines[0] if lines else "")
    return f": {telling}" if telling else ""


def printed_numbers(program: Path, *arguments: str) -> list[int]:
    """The whole numbers that ``program`` prints in one line.

    Raises CheckError where it fails or prints anything else: it ran before, so that its result is wrong.
    """
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    named = " ".join([program.name, *arguments])
    if done.returncode:
        raise CheckError(f"{named} failed with status {done.returncode}{_first_error(done.stderr)}")
    try:
        return [int(word) for word in done.stdout.split()]
    except ValueError:
        raise CheckError(f"{named} printed {done.stdout.strip()!r}; whole numbers are expected") from None
