"""Locks, condition variables and barriers under threads, alone and as objects of a pool, with their counts."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from compiling import ADDRESSES, THREADS, compile_program
from runtime_sources import HERE, LOCKS, sources

from numasim.runtime.fields_file import compile_plan, write_plan
from numasim.runtime.runtime_program import Order, run_kernel
from numasim.schema.enumerations import BarrierName, LockName

WORKERS, ACQUISITIONS = 4, 300


@pytest.mark.parametrize("kind", get_args(LockName))
def test_a_lock_of_every_kind_counts_each_acquisition(program: Path, tmp_path: Path, kind: str) -> None:
    """The counter is exact. Every acquisition except the first is a hand-over, within a node or between nodes."""
    plan = compile_plan("randomized", "xeon-e5-2620-2s", WORKERS, "bare")
    write_plan(replace(plan, words=replace(plan.words, kind=kind)), 0, tmp_path / "plan")
    (run,) = run_kernel(Order("spinlock", {"acquisitions": ACQUISITIONS}, plan=tmp_path / "plan"), program)
    ((acquisitions, within, between, waited_ps, held_ps),) = run.words
    assert run.correct is True
    assert (acquisitions, within + between) == (WORKERS * ACQUISITIONS, WORKERS * ACQUISITIONS - 1)
    assert waited_ps >= 0
    assert held_ps >= 0


@pytest.mark.parametrize("kind", get_args(BarrierName))
def test_a_barrier_of_every_kind_lets_all_pass(program: Path, tmp_path: Path, kind: str) -> None:
    plan = compile_plan("randomized", "xeon-e5-2620-2s", WORKERS, "bare")
    write_plan(replace(plan, words=replace(plan.words, barrier=kind)), 0, tmp_path / "plan")
    (run,) = run_kernel(Order("syncbench", {"construct": "barrier"}, plan=tmp_path / "plan"), program)
    assert run.correct is True


@pytest.mark.parametrize("flags", [THREADS, ADDRESSES], ids=["threads", "addresses"])
def test_counts_under_locks_are_exact(c_compiler: str, tmp_path: Path, flags: tuple[str, ...]) -> None:
    """The counts of threads under every kind are exact, and the sanitizers report nothing."""
    kinds = len(get_args(LockName)) + len(get_args(BarrierName))
    files = [HERE / "locks" / "locks_stress.c", *sources(*LOCKS, "node_memory.c", "processor_set.c")]
    program = compile_program(c_compiler, tmp_path / "stress", files, flags)
    found = subprocess.run([program], check=False, capture_output=True, text=True, timeout=1800)
    assert (found.returncode, found.stdout) == (0, f"{kinds} kinds\n"), found.stderr[-4000:]
