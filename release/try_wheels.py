"""Install wheels in clean environments without a compiler, and compare the results of all environments.

    python release/try_wheels.py dist                                           # python3.11, 3.12 and 3.13 of the PATH
    python release/try_wheels.py dist --python python3.12 --python python3.13

For each Python a new environment gets the wheel in the folder that fits the Python, and all dependencies as wheels. The
environment finds no programs but its own. In the environment `release/trace_hashes.py` simulates a few runs on both
engines. Exit status 1 if something cannot be installed, or if the results of the engines or of two environments differ.
"""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from build_wheels import VERSION, fail, make_environment, run

HASHES = Path(__file__).resolve().with_name("trace_hashes.py")
PYTHONS = ("python3.11", "python3.12", "python3.13")
COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "cmake", "ninja", "make")


def hashes_with(python: str, wheels: Path) -> tuple[str, str]:
    """Return the name of the wheel that is installed for ``python``, and the output of ``trace_hashes.py``."""
    with TemporaryDirectory() as name:
        interpreter = make_environment(Path(name) / "environment", python)
        alone = {"PATH": str(interpreter.parent), "HOME": name, "TMPDIR": name}
        alone |= {key: value for key, value in os.environ.items() if key.upper().startswith(("PIP_", "HTTP", "SSL_"))}
        if found := [compiler for compiler in COMPILERS if shutil.which(compiler, path=alone["PATH"])]:
            fail(f"the environment of {python} has {', '.join(found)}; expected none")
        pip: list[str | Path] = [interpreter, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        (Path(name) / "wheel").mkdir()
        only_here: list[str | Path] = ["--no-index", "--no-deps", "--only-binary", ":all:", "--find-links", wheels]
        run([*pip, "download", "--dest", Path(name) / "wheel", *only_here, f"numasim=={VERSION}"], alone)
        (wheel,) = (Path(name) / "wheel").iterdir()
        run([*pip, "install", "--only-binary", ":all:", wheel], alone)
        return wheel.name, run([interpreter, HASHES], alone, Path(name))


def main() -> None:
    """Print the installed wheels and the hashes, which must be equal in all environments."""
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
            fail(f"the results with {python} differ from the results with {first[0]}:\n{hashes}")


if __name__ == "__main__":
    main()
