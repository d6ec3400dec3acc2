"""Without a compiler the package installs all the same. It then runs on the reference engine, with a message."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FAILING = {**os.environ, "CC": str(shutil.which("false")), "CXX": str(shutil.which("false"))}  # compilers
PIP = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]  # works offline
LINE = "numasim: the native engine is not built here; using the reference engine (slower)\n"
SPEC = "{machine: xeon-e5-2620-2s, workload: {name: fib, n: 5}, strategy: randomized, sweep: {workers: [2, 3]}}"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the package as pip builds it if all compilers fail."""
    folder = tmp_path_factory.mktemp("without-compiler")
    subprocess.run([*PIP, "--wheel-dir", str(folder), str(ROOT)], check=True, env=FAILING, stdin=subprocess.DEVNULL)
    (wheel,) = folder.glob("numasim-*-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    (folder / "site" / "spec.yaml").write_text(SPEC)
    return folder / "site"


def test_a_release_is_not_made_without_the_engine(tmp_path: Path) -> None:
    command = [*PIP, "--wheel-dir", str(tmp_path), str(ROOT)]
    done = subprocess.run(command, check=False, env={**FAILING, "NUMASIM_REQUIRE_ENGINE": "1"}, capture_output=True)
    assert done.returncode != 0
    assert not list(tmp_path.glob("*.whl"))


def numasim(site: Path, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-m", "numasim", *arguments]
    return subprocess.run(command, cwd=site, env=environment, capture_output=True, text=True, check=check)


def test_there_is_no_engine_in_it(site: Path) -> None:
    assert {path.suffix for path in (site / "numasim" / "engine" / "native").iterdir()} == {".py", ".pyi"}


def test_a_run_says_so_beside_its_output(site: Path) -> None:
    done = numasim(site, "run", "spec.yaml", "--set", "sweep.workers=[2]", "--json", "--check")
    assert json.loads(done.stdout)["engine"] == "reference"
    assert done.stderr == LINE


def test_a_sweep_says_so_once_however_many_processes_it_has(site: Path, tmp_path: Path) -> None:
    done = numasim(site, "sweep", "spec.yaml", "-o", str(tmp_path / "out"), "--jobs", "2", "--quiet")
    assert done.stderr == LINE


def test_a_plan_for_a_runtime_that_is_not_there_is_refused(site: Path) -> None:
    done = numasim(site, "strategy", "compile", "threshold", "--workers", "2", check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("numasim: the native engine is not built here; expected an installation")
    assert not (site / "threshold.plan").exists()
