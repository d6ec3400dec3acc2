"""Locks, condition variables and barriers under threads, alone and as objects of a pool, with their counts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from runtime_sources import told

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
    assert run.columns["tasks"] == 0  # the parts of a team are no tasks


@pytest.mark.parametrize("kind", get_args(BarrierName))
def test_a_barrier_of_every_kind_lets_all_pass(program: Path, tmp_path: Path, kind: str) -> None:
    plan = compile_plan("randomized", "xeon-e5-2620-2s", WORKERS, "bare")
    write_plan(replace(plan, words=replace(plan.words, barrier=kind)), 0, tmp_path / "plan")
    (run,) = run_kernel(Order("syncbench", {"construct": "barrier"}, plan=tmp_path / "plan"), program)
    assert run.correct is True


@pytest.mark.parametrize("kind", [*get_args(LockName), *get_args(BarrierName)])
def test_no_sanitizer_objects_to_a_lock_or_a_barrier(watched: Path, tmp_path: Path, kind: str) -> None:
    """The program counts under a lock, meets at a barrier and waits for a condition."""
    plan = compile_plan("randomized", "xeon-e5-2620-2s", WORKERS, "bare")
    chosen = {"kind" if kind in get_args(LockName) else "barrier": kind}
    write_plan(replace(plan, words=replace(plan.words, **chosen)), 0, tmp_path / "plan")
    assert told(watched / "everything", WORKERS, tmp_path / "plan") == ""
