"""Locks, condition variables and barriers under real threads: counts are exact, and the sanitizers are silent."""

import subprocess
from pathlib import Path
from typing import get_args

import pytest
from compiling import ADDRESSES, THREADS, compile_program
from runtime_sources import HERE, LOCKS, sources

from numasim.schema.enumerations import BarrierName, LockName

KINDS = len(get_args(LockName)) + len(get_args(BarrierName))


@pytest.mark.parametrize("flags", [THREADS, ADDRESSES], ids=["threads", "addresses"])
def test_counts_under_locks_are_exact(c_compiler: str, tmp_path: Path, flags: tuple[str, ...]) -> None:
    files = [HERE / "locks" / "locks_stress.c", *sources(*LOCKS, "node_memory.c", "processor_set.c")]
    program = compile_program(c_compiler, tmp_path / "stress", files, flags)
    found = subprocess.run([program], check=False, capture_output=True, text=True, timeout=1800)
    assert (found.returncode, found.stdout) == (0, f"{KINDS} kinds\n"), found.stderr[-4000:]
