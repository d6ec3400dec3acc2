from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from numasim.sweep.batch import TARGET_S, BatchOutcome, BatchSize


def steady(size: BatchSize, per_run_s: float, batches: int) -> list[int]:
    """The sizes of ``batches`` batches of runs that all take ``per_run_s``."""
    sizes = []
    for _ in range(batches):
        sizes.append(size.next(10**6))
        size.learn(BatchOutcome(sizes[-1], sizes[-1] * per_run_s, {}))
    return sizes


def test_batches_of_quick_runs_double_up_to_the_target() -> None:
    assert steady(BatchSize(1), TARGET_S / 100, 9) == [1, 2, 4, 8, 16, 32, 64, 100, 100]


def test_a_run_longer_than_the_target_is_a_batch_of_its_own() -> None:
    assert steady(BatchSize(4), TARGET_S * 3, 4) == [1, 1, 1, 1]


def test_runs_too_quick_for_the_clock_do_not_divide_by_zero() -> None:
    assert steady(BatchSize(1), 0.0, 3) == [1, 2, 4]


@given(st.integers(1, 64), st.lists(st.floats(0, 10), max_size=20), st.integers(1, 10**6))
def test_a_batch_has_a_run_and_never_more_than_a_process_share(jobs: int, times_s: list[float], left: int) -> None:
    size = BatchSize(jobs)
    for elapsed_s in times_s:
        size.learn(BatchOutcome(size.next(left), elapsed_s, {}))
    assert 1 <= size.next(left) <= -(-left // jobs)
