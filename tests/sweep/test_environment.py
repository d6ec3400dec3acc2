"""Child processes import the numasim of their parent, whatever lies where they start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numasim
from numasim.sweep.environment import same_imports


def test_sources_in_the_working_directory_do_not_hide_the_package(tmp_path: Path) -> None:
    decoy = tmp_path / "numasim"
    decoy.mkdir()
    (decoy / "__init__.py").write_text("raise ImportError('the decoy')\n")
    program = "import numasim, sys; sys.stdout.write(numasim.__file__)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, env=same_imports(), capture_output=True, text=True, check=True)
    assert Path(done.stdout) == Path(numasim.__file__)
