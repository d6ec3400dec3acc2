"""A killed reproduction resumes, and produces the same tables."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from small_study import write_study

from numasim.reproduce.load import read_study
from numasim.reproduce.reproduce import RUNS, reproduce
from numasim.sweep.store.results_store import SHARDS


def shards(directory: Path) -> int:
    return len(list((directory / RUNS / SHARDS).glob("[0-9]*.parquet")))


KILLED = """
import os, signal, sys
from pathlib import Path
from numasim.cli import main
from numasim.sweep.store.results_store import SHARDS

replace, left = os.replace, int(sys.argv[1])

def replace_and_be_killed(source, target):
    global left
    replace(source, target)
    left -= Path(target).parent.name == SHARDS
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

os.replace = replace_and_be_killed
main(sys.argv[2:])
"""


def killed_after(count: int, study: Path, directory: Path) -> None:
    """Run a reproduction that is killed after it has stored ``count`` more batches."""
    before = shards(directory)
    command = [sys.executable, "-c", KILLED, str(count), "reproduce", str(study), "-o", str(directory), "--jobs", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert shards(directory) == before + count


def test_a_killed_reproduction_ends_with_the_same_tables(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "small", "repeat=2", "repeat=20")
    study, resumed = read_study(str(folder)), tmp_path / "resumed"
    for count in (1, 2):
        killed_after(count, folder, resumed)
    kept = shards(resumed)
    found = reproduce(study, resumed, jobs=2)
    assert kept >= 3
    assert shards(resumed) > kept
    assert found.tables == reproduce(study, tmp_path / "undisturbed", jobs=1).tables
