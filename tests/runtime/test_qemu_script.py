"""The script that boots a machine of eight nodes: its syntax, its help, its errors. The tests do not boot a machine."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "verification" / "boot_numa_guest.sh"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*arguments], capture_output=True, text=True, check=False)


def test_its_syntax_is_that_of_bash() -> None:
    assert run("bash", "-n", str(SCRIPT)).returncode == 0


def test_its_help_names_all_that_it_needs() -> None:
    said = run(str(SCRIPT), "--help")
    assert (said.returncode, said.stderr) == (0, "")
    for needed in ("qemu-system-x86", "cpio", "busybox-static", "cloud kernel", "cmake", "KERNEL=FILE", "BUSYBOX=FILE"):
        assert needed in said.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [(["--quick"], "--quick is no option"), (["/none"], "/none is no program"), (["a", "b"], "2 arguments")],
)
def test_its_mistakes_are_one_sentence(arguments: list[str], problem: str) -> None:
    said = run(str(SCRIPT), *arguments)
    assert (said.returncode, said.stdout) == (2, "")
    assert problem in said.stderr
    assert said.stderr.count("\n") == 1
