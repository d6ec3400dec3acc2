"""The memory of tables and reports grows little with the number of runs: no stage keeps all runs in memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from toy_sweep import run_toy, toy_sweep

from numasim.files import writer
from numasim.report import stored_runs
from numasim.report.sweep_result import leave_report
from numasim.spec.identity import MODEL_VERSION, spec_hash
from numasim.sweep.planned_runs import plan_runs
from numasim.sweep.store import parquet, shards
from numasim.sweep.store.parquet import finished, rows_of, shard_bytes
from numasim.sweep.store.results_store import REPORT, Identity, open_store
from numasim.sweep.store.results_tables import RESULTS, load, write_tables

FEW, MANY = 120, 4 * 120  # repeats of two cells
OF_SHARD = 40  # runs
POOLS: list[pa.MemoryPool] = []  # memory may outlive the test


def peak(act: Callable[[], None]) -> int:
    """Return the most bytes that Python, NumPy and Arrow had at once during ``act``, beyond those before."""
    usual = pa.default_memory_pool()
    counted = pa.proxy_memory_pool(usual)
    POOLS.append(counted)
    pa.set_memory_pool(counted)
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1] + counted.max_memory()
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(usual)


def peaks(directory: Path, repeat: int, peak: Callable[[Callable[[], None]], Any] = peak) -> tuple[int, int]:
    """Return the ``peak`` of the tables and of the report of a sweep whose runs have all ended."""
    sweep = toy_sweep(workers=(2,), repeat=repeat)
    runs = plan_runs(sweep)
    like = rows_of([finished("", "reference", run_toy(run.spec, run.seed, "", False), 2) for run in runs[:OF_SHARD]])
    with open_store(directory, Identity(spec_hash(sweep), MODEL_VERSION, sweep.text)) as store:
        for number, first in enumerate(range(0, len(runs), OF_SHARD)):
            ids = pa.array([run.run_id for run in runs[first : first + OF_SHARD]])
            shards.write_shard(store.shards, number, shard_bytes(like.set_column(0, "run_id", ids)))
        of_tables = peak(lambda: write_tables(store, sweep, runs, spec_hash(sweep)))
    assert len(load(directory / RESULTS)) == 2 * repeat
    return of_tables, peak(lambda: leave_report(directory, None))


def test_four_times_the_runs_take_little_more_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run has some 3,000 bytes in Arrow, and 10,000 bytes as objects of Python; its axes alone have 400 bytes."""
    monkeypatch.setattr(shards, "BLOCK", 64)
    for module in (parquet, stored_runs):
        monkeypatch.setattr(module, "MOST_VALUES", 2**12)
    monkeypatch.setattr(writer, "MOST_IN_MEMORY", 2**12)
    peaks(tmp_path / "first", 20, lambda act: act())  # what is imported or kept for all sweeps
    more = 2 * (MANY - FEW)
    of_tables, of_report = (
        (large - small) / more
        for small, large in zip(peaks(tmp_path / "few", FEW), peaks(tmp_path / "many", MANY), strict=True)
    )
    few = tmp_path / "few"
    from_columns = {name: (few / name).read_bytes() for name in REPORT}
    monkeypatch.undo()
    leave_report(few, None)
    assert {name: (few / name).read_bytes() for name in REPORT} == from_columns
    assert of_tables < 400
    assert of_report < 1000
