"""Batches of runs: the processes that simulate batches, and the sizes of batches."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_sweep import ToySpec, run_toy, toy_spec

import numasim
from numasim.engine.result import Result
from numasim.sweep import batch
from numasim.sweep.batch import GROWTH, LEAST_S, TARGET_S, BatchOutcome, BatchSize, Task, execute
from numasim.sweep.planned_runs import PlannedRun
from numasim.sweep.pool import InProcess, processes, same_imports


def interrupted_by_terminal() -> str:
    os.kill(os.getpid(), signal.SIGINT)
    return "still here"


def interrupts_blocked() -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def main_module() -> str | None:
    return getattr(sys.modules["__main__"], "__file__", None)


def test_a_worker_leaves_an_interrupt_to_its_parent_and_knows_nothing_of_its_main_module(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.modules["__main__"], "__file__", __file__, raising=False)
    with processes(1) as executor:
        assert executor.submit(interrupts_blocked).result()  # interrupts are blocked before the first import
        assert executor.submit(interrupted_by_terminal).result() == "still here"
        assert executor.submit(main_module).result() is None
    assert main_module() == __file__
    assert not interrupts_blocked()


def test_in_process_an_error_waits_in_the_future_and_an_interrupt_does_not() -> None:
    executor = InProcess()
    assert executor.submit(divmod, 7, 2).result() == (3, 1)
    with pytest.raises(ZeroDivisionError):
        executor.submit(divmod, 1, 0).result()
    with pytest.raises(KeyboardInterrupt):
        executor.submit(interrupt)


def interrupt() -> None:
    raise KeyboardInterrupt


def test_sources_in_the_working_directory_do_not_hide_the_package(tmp_path: Path) -> None:
    decoy = tmp_path / "numasim"
    decoy.mkdir()
    (decoy / "__init__.py").write_text("raise ImportError('the decoy')\n")
    program = "import numasim, sys; sys.stdout.write(numasim.__file__)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, env=same_imports(), capture_output=True, text=True, check=True)
    assert Path(done.stdout) == Path(numasim.__file__)


# ---- the sizes of batches -----------------------------------------------------------------------------------------


def steady(per_run_s: float, batches: int, slots: int = 1) -> list[int]:
    """Return the sizes of ``batches`` batches of runs that all take ``per_run_s``."""
    size = BatchSize()
    sizes = []
    for _ in range(batches):
        sizes.append(size.next(10**6, slots))
        size.learn(BatchOutcome(sizes[-1], sizes[-1] * per_run_s, {}, b""))
    return sizes


def test_batches_of_quick_runs_grow_up_to_the_target() -> None:
    assert steady(TARGET_S / 4096, 5) == [1, GROWTH, GROWTH**2, 4096, 4096]


def test_what_a_first_run_prepares_for_all_soon_counts_for_little() -> None:
    size = BatchSize()
    size.learn(BatchOutcome(1, TARGET_S, {}, b""))
    assert size.next(10**6, 1) == 1
    size.learn(BatchOutcome(32, TARGET_S, {}, b""))
    assert size.next(10**6, 1) == 21  # 32.5 runs would take the target time of 1.5 s


def test_the_last_batches_are_shares_of_what_is_left_but_not_too_short() -> None:
    size = BatchSize()
    size.learn(BatchOutcome(4096, TARGET_S, {}, b""))
    assert LEAST_S == TARGET_S / 20  # the time of 204 runs of this length
    assert [size.next(left, 2) for left in (10_000, 1001, 500, 300, 100, 1)] == [4096, 501, 250, 204, 100, 1]


def test_a_run_longer_than_the_target_is_a_batch_of_its_own() -> None:
    assert steady(TARGET_S * 3, 4, slots=4) == [1, 1, 1, 1]


def test_runs_too_quick_for_the_clock_do_not_divide_by_zero() -> None:
    assert steady(0.0, 3) == [1, GROWTH, GROWTH**2]


@given(st.integers(0, 64), st.lists(st.floats(0, 10), max_size=20), st.integers(1, 10**6))
def test_a_batch_has_a_run_and_never_more_than_are_left(slots: int, times_s: list[float], left: int) -> None:
    size = BatchSize()
    for elapsed_s in times_s:
        size.learn(BatchOutcome(size.next(left, slots), elapsed_s, {}, b""))
    assert 1 <= size.next(left, slots) <= left


@given(st.integers(1, 64), st.lists(st.floats(LEAST_S, 10), min_size=1, max_size=20), st.integers(1, 10**6))
def test_no_process_gets_more_long_runs_than_its_share(slots: int, times_s: list[float], left: int) -> None:
    size = BatchSize()
    for per_run_s in times_s:
        runs = size.next(left, slots)
        size.learn(BatchOutcome(runs, runs * per_run_s, {}, b""))
    assert 1 <= size.next(left, slots) <= -(-left // slots)


def test_no_run_of_a_batch_begins_after_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 100.0

    def take_a_second(spec: ToySpec, seed: int, engine: str, check: bool) -> Result:
        nonlocal now_s
        now_s += 1
        return run_toy(spec, seed, engine, check)

    monkeypatch.setattr(batch.time, "perf_counter", lambda: now_s)
    monkeypatch.setattr(batch, "LONGEST_S", 2.5)
    runs = tuple(PlannedRun(str(seed), toy_spec(1), seed) for seed in range(9))  # type: ignore[arg-type]
    outcome = execute(runs, Task(take_a_second, "reference", check=False, fail_fast=False))
    assert (outcome.done, outcome.elapsed_s) == (3, 3.0)
