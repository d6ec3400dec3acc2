"""Rehearsed recordings, warm runs, and where the workers of a native run are, with the compiled program."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from recorded_graphs import recorded

from numasim.runtime.compile import compile_plan, write
from numasim.runtime.program import KernelRun, Order, run_kernel

NQUEENS = {"n": 8, "cutoff": 3}


def plan_for(workers: int, folder: Path) -> Path:
    path = folder / f"{workers}.plan"
    write(compile_plan("randomized", "xeon-e5-2620-2s", workers, "bare"), path)
    return path


def ran(program: Path, mode: str = "native", **options: object) -> KernelRun:
    (run,) = run_kernel(Order("nqueens", NQUEENS, mode, **options), program)  # type: ignore[arg-type]
    return run


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_a_rehearsed_program_is_recorded_with_its_structure(workers: int, program: Path, tmp_path: Path) -> None:
    _, plain = recorded(program, tmp_path, "nqueens", costs="measured", **NQUEENS)
    plan = plan_for(workers, tmp_path)
    _, graph = recorded(program, tmp_path, "nqueens", costs="measured", rehearsed_for=plan, **NQUEENS)
    assert (graph.op_code == plain.op_code).all()
    assert (graph.op_arg == plain.op_arg).all()
    assert graph.segment_compute_ps.sum() > 0


def test_only_native_workers_are_somewhere(program: Path, tmp_path: Path) -> None:
    alone = ran(program, workers=1)
    assert alone.hop_ps == (0, 0)
    assert ran(program, "serial").hop_ps == (0, 0)
    assert ran(program, "emulated", workers=2, plan=plan_for(2, tmp_path)).hop_ps == (0, 0)
    if len(os.sched_getaffinity(0)) > 1:
        before, after = ran(program, workers=2).hop_ps
        assert 0 < before < 10**9
        assert 0 < after < 10**9
    assert ran(program, workers=len(os.sched_getaffinity(0)) + 1).hop_ps == (0, 0)  # they take turns


def test_what_warms_up_is_not_counted(program: Path, tmp_path: Path) -> None:
    counted = ("tasks", "tasks_stolen")
    cold, warm = (ran(program, workers=1, warm_up=each) for each in (False, True))
    assert [warm.columns[name] for name in counted] == [cold.columns[name] for name in counted]
    assert warm.correct
