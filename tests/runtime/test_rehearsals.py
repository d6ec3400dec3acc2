"""Rehearsed and warmed-up runs, and the places of the workers of a native run, with the compiled program."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from numasim.runtime.fields_file import compile_plan, write_plan
from numasim.runtime.runtime_program import KernelRun, Order, run_kernel

NQUEENS = {"n": 8, "cutoff": 3}


def plan_for(workers: int, folder: Path) -> Path:
    path = folder / f"{workers}.plan"
    write_plan(compile_plan("randomized", "xeon-e5-2620-2s", workers, "bare"), 0, path)
    return path


def ran(program: Path, mode: str = "native", **options: object) -> KernelRun:
    (run,) = run_kernel(Order("nqueens", NQUEENS, mode, **options), program)  # type: ignore[arg-type]
    return run


@pytest.mark.parametrize("mode", ["native", "emulated"])
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_a_rehearsal_is_as_long_as_the_program_and_has_no_part_in_its_run(
    workers: int, mode: str, program: Path, tmp_path: Path
) -> None:
    order = Order("nqueens", NQUEENS, mode, plan=plan_for(workers, tmp_path), rehearse=True, seed=3, repeat=3)
    plain = ran(program, "serial")
    for run in run_kernel(order, program):
        assert run.correct
        assert run.columns["tasks"] == plain.columns["tasks"]
        assert run.workers == workers
        assert run.rehearsed_ps > 0


def test_who_does_not_rehearse_says_so(program: Path) -> None:
    assert ran(program, workers=2).rehearsed_ps == 0
    assert ran(program, "serial").rehearsed_ps == 0


def test_only_native_workers_are_somewhere(program: Path, tmp_path: Path) -> None:
    alone = ran(program, workers=1)
    assert alone.hop_ps == (0, 0, 0)
    assert ran(program, "serial").hop_ps == (0, 0, 0)
    assert ran(program, "emulated", workers=2, plan=plan_for(2, tmp_path)).hop_ps == (0, 0, 0)
    if len(os.sched_getaffinity(0)) > 1:
        unrehearsed, before, after = ran(program, workers=2).hop_ps
        assert unrehearsed == 0
        assert all(hop > 0 for hop in (before, after, ran(program, workers=2, rehearse=True).hop_ps[0]))
    assert ran(program, workers=len(os.sched_getaffinity(0)) + 1).hop_ps == (0, 0, 0)  # the workers share processors


def test_what_warms_up_is_not_counted(program: Path, tmp_path: Path) -> None:
    counted = ("tasks", "tasks_stolen")
    cold, warm = (ran(program, workers=1, warm_up=each) for each in (False, True))
    assert [warm.columns[name] for name in counted] == [cold.columns[name] for name in counted]
    assert warm.correct
