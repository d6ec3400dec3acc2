"""A reproduction that is killed goes on where it was and ends with the same tables."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

from small_study import write_study

from numasim.reproduce.reproduce import RUNS, reproduce
from numasim.reproduce.study.study import read_study
from numasim.sweep.store.results_store import SHARDS


def shards(directory: Path) -> int:
    return len(list((directory / RUNS / SHARDS).glob("[0-9]*.parquet")))


def killed_after(count: int, study: Path, directory: Path) -> None:
    """Start a reproduction and kill it as soon as it has kept ``count`` more batches."""
    before = shards(directory)
    command = [sys.executable, "-m", "numasim", "reproduce", str(study), "-o", str(directory), "--jobs", "1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + 60
        while shards(directory) < before + count:
            assert process.poll() is None, "it ended before it was killed"
            assert time.monotonic() < end, "waited in vain"
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL


def test_a_killed_reproduction_ends_with_the_same_tables(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "small", {"study.yaml": ("repeat: 2", "repeat: 400")})
    study, resumed = read_study(str(folder)), tmp_path / "resumed"
    for count in (1, 2):
        killed_after(count, folder, resumed)
    kept = shards(resumed)
    found = reproduce(study, resumed, jobs=2)
    assert kept >= 3
    assert shards(resumed) > kept
    assert found.tables == reproduce(study, tmp_path / "undisturbed", jobs=1).tables
