"""Install wheels in clean environments without a compiler, and hold the results of all of them against each other.

    python release/try_wheels.py dist                                           # python3.11, 3.12 and 3.13 of the PATH
    python release/try_wheels.py dist --python python3.12 --python python3.13

Each environment is new, gets whatever wheel in the folder fits its Python, takes the dependencies as wheels alone, and
finds no program but its own. In it `release/trace_hashes.py` simulates a few runs on both engines. Status 1 where
something does not install, where the engines differ, or where two versions of Python do.
"""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from steps import VERSION, fail, make_environment, run

HASHES = Path(__file__).resolve().with_name("trace_hashes.py")
PYTHONS = ("python3.11", "python3.12", "python3.13")
COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "cmake", "ninja", "make")


def hashes_with(python: str, wheels: Path) -> tuple[str, str]:
    """The wheel that is installed for ``python``, and what ``trace_hashes.py`` prints with it."""
    with TemporaryDirectory() as name:
        interpreter = make_environment(Path(name) / "environment", python)
        alone = {"PATH": str(interpreter.parent), "HOME": name, "TMPDIR": name}
        alone |= {key: value for key, value in os.environ.items() if key.upper().startswith(("PIP_", "HTTP", "SSL_"))}
        if found := [compiler for compiler in COMPILERS if shutil.which(compiler, path=alone["PATH"])]:
            fail(f"the environment of {python} has {', '.join(found)}; expected none")
        pip: list[str | Path] = [interpreter, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        (Path(name) / "wheel").mkdir()
        wanted: list[str | Path] = [
            "--no-index",
            "--no-deps",
            "--only-binary",
            ":all:",
            "--find-links",
            wheels,
            f"numasim=={VERSION}",
        ]
        run([*pip, "download", "--dest", Path(name) / "wheel", *wanted], alone)
        (wheel,) = (Path(name) / "wheel").iterdir()
        run([*pip, "install", "--only-binary", ":all:", wheel], alone)
        return wheel.name, run([interpreter, HASHES], alone, Path(name))


def main() -> None:
    """Print what was installed and the hashes, which all environments agree about."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheels", type=Path, help="the folder with the wheels")
    parser.add_argument("--python", action="append", metavar="PROGRAM", help="an interpreter to install them for")
    arguments = parser.parse_args()
    wheels, all_hashes = arguments.wheels.resolve(), {}
    for python in arguments.python or PYTHONS:
        wheel, all_hashes[python] = hashes_with(python, wheels)
        print(f"{python}: {wheel}", flush=True)
    first, *others = all_hashes.items()
    print(first[1], end="")
    for python, hashes in others:
        if hashes != first[1]:
            fail(f"with {python} the results are others than with {first[0]}:\n{hashes}")


if __name__ == "__main__":
    main()
