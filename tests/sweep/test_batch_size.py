from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_sweep import ToySpec, run_toy, toy_spec

from numasim.engine.result import Result
from numasim.sweep import batch
from numasim.sweep.batch import GROWTH, LEAST_S, TARGET_S, BatchOutcome, BatchSize, Task, execute
from numasim.sweep.planned_runs import PlannedRun


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
    assert size.next(10**6, 1) == 21  # 32.5 runs in 1.5 s


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
