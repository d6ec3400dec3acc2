"""Fixtures that run the toy sweep in this process and in other processes, which import it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent


# A shell starts background jobs with interrupts ignored, and the tests may be a background job.
HEARS_INTERRUPTS = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)"


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the results of a sweep that was not killed."""
    from toy_sweep import REPEAT, sweep_toy, toy_sweep

    directory = tmp_path_factory.mktemp("undisturbed")
    sweep_toy(toy_sweep(repeat=REPEAT), directory)
    return directory


@pytest.fixture
def started_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which ``start_sweep`` starts its processes."""
    return tmp_path_factory.mktemp("script")


@pytest.fixture
def start_sweep(started_in: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Return a function that starts ``toy_sweep.main`` by a script: ``(directory, jobs or cluster, runner, repeat)``.

    The script has no main guard: the worker processes of the sweep must not run the script again.
    """
    script = started_in / "sweep.py"
    path = os.pathsep.join([str(HERE), os.environ["PYTHONPATH"]])
    processes: list[subprocess.Popen[str]] = []

    def start(directory: Path, workers: int | str, runner: str, repeat: int) -> subprocess.Popen[str]:
        call = f"toy_sweep.main({str(directory)!r}, '{workers}', '{runner}', '{repeat}')"
        script.write_text("\n".join([HEARS_INTERRUPTS, "import toy_sweep", call]))
        process = subprocess.Popen(
            [sys.executable, script],
            env={**os.environ, "PYTHONPATH": path},
            cwd=started_in,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        with process:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
