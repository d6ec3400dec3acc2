"""Break the engine in a copy of this tree, and see that a release build of it fails and that a user's build does not.

    python release/broken_engine.py [--python python3.12]

Status 1 where the release build ends with status 0 or leaves a wheel, or where the build of a user, which falls back to
the reference engine, fails.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from steps import PROJECT, ROOT, fail, make_environment

BROKEN = "lib/engine/engine.cpp"
ERROR = "broken on purpose"
LEFT_OUT = shutil.ignore_patterns(".*", "build", "dist", "results", "*.so", "__pycache__", "wheelhouse")


def build(interpreter: Path, tree: Path, wheels: Path, variables: dict[str, str]) -> tuple[int, list[str], str]:
    """The status of building a wheel, the wheels that it leaves, and what it says."""
    command: list[str | Path] = [interpreter, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", wheels, tree]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NUMASIM_")} | variables
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, sorted(path.name for path in wheels.glob("*.whl")), done.stdout + done.stderr


def main() -> None:
    """Build the broken copy as for a release and as a user does."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--python", default=sys.executable, metavar="PROGRAM", help="the interpreter; default: this one"
    )
    arguments = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        interpreter = make_environment(folder / "environment", arguments.python)
        shutil.copytree(ROOT, folder / "tree", ignore=LEFT_OUT)
        with (folder / "tree" / BROKEN).open("a") as source:
            source.write(f"#error {ERROR}\n")
        variables = PROJECT["tool"]["cibuildwheel"]["environment"]
        status, wheels, said = build(interpreter, folder / "tree", folder / "release", variables)
        if status == 0 or wheels or ERROR not in said:
            fail(f"the release build ended with status {status}, left {wheels or 'no wheel'} and said\n{said}")
        print(f"release build: status {status}, no wheel", flush=True)
        status, wheels, said = build(interpreter, folder / "tree", folder / "user", {})
        if status or len(wheels) != 1 or not wheels[0].endswith("-py3-none-any.whl"):
            fail(f"the build of a user ended with status {status}, left {wheels or 'no wheel'} and said\n{said}")
        print(f"build of a user: status {status}, {wheels[0]}")


if __name__ == "__main__":
    main()
