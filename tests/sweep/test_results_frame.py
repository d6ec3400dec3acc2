"""Results as pandas DataFrames: exact numbers, refused tables, and the columns of axes."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from toy_sweep import Part, counter_value, fail_at_two_workers, sweep_toy, toy_spec, toy_sweep

from numasim.draws import repeat_seed
from numasim.errors import InputError
from numasim.report.command_output import save_sweep_plots
from numasim.report.sweep_result import SweepResult
from numasim.spec.sweep_spec import Cell
from numasim.sweep.store.results_tables import (
    NODE_PAIRS,
    RESULTS,
    WORKERS,
    axis_column,
    label,
    labels,
    load,
    load_table,
    named_column,
)


def test_integers_are_exact_with_and_without_failed_runs(tmp_path: Path) -> None:
    expected = counter_value(repeat_seed(7, 0), "makespan_ps", 1)
    assert int(float(expected)) != expected  # a float could not hold this number exactly
    sweep_toy(toy_sweep(), tmp_path / "good")
    sweep_toy(toy_sweep(), tmp_path / "bad", fail_at_two_workers)
    good, bad = load(tmp_path / "good"), load(tmp_path / "bad")
    assert good["makespan_ps"].dtype == np.int64
    assert good["makespan_ps"][0] == bad["makespan_ps"][0] == expected
    assert bad["makespan_ps"].isna().sum() == 4
    assert bad["error"].notna().sum() == 4
    assert good["steal_miss_ratio"].isna().all()


def test_a_directory_and_its_table_load_alike(tmp_path: Path) -> None:
    sweep_toy(toy_sweep(), tmp_path)
    pd.testing.assert_frame_equal(load(tmp_path), load(str(tmp_path / RESULTS)))


@pytest.mark.parametrize("name", [RESULTS, WORKERS])
def test_a_table_that_somebody_changed(name: str, tmp_path: Path) -> None:
    """Half of the rows are gone, and every command refuses the table."""
    sweep_toy(toy_sweep(), tmp_path)
    table = pq.read_table(tmp_path / name)
    pq.write_table(table.slice(0, len(table) // 2), tmp_path / name)
    said = rf"{name}: was changed after, or not written by, `numasim sweep`"
    with pytest.raises(InputError, match=said):
        load_table(tmp_path, name)
    with pytest.raises(InputError, match=said):
        save_sweep_plots(tmp_path, tmp_path / "figures")
    if name == RESULTS:
        with pytest.raises(InputError, match=said):
            SweepResult(tmp_path).compare("workers")
    assert len(load_table(tmp_path, NODE_PAIRS).columns)


def test_a_folder_whose_manifest_is_gone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a manifest a changed table cannot be detected, and a remark says so."""
    sweep_toy(toy_sweep(), tmp_path)
    load(tmp_path)
    assert capsys.readouterr().err == ""
    (tmp_path / ".numasim.json").unlink()
    load(tmp_path)
    said = "there is no .numasim.json, so that nobody knows whether results.parquet was changed"
    assert capsys.readouterr().err == f"numasim: {tmp_path}: {said}\n"


def test_a_table_of_something_else(tmp_path: Path) -> None:
    pq.write_table(pa.table({"run_id": ["a"]}), tmp_path / "other.parquet")
    with pytest.raises(InputError, match=r"is not a results table, it lacks the column spec_hash"):
        load(tmp_path / "other.parquet")


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted as Linux lists them")
def test_a_table_is_read_without_threads_that_outlive_it(tmp_path: Path) -> None:
    """A thread of Arrow that releases a Python file while the interpreter ends aborts the process."""
    pq.write_table(pa.table({"run_id": ["a"]}), tmp_path / "workers.parquet")
    program = """
import os, sys
import subprocess
import sys
from pathlib import Path
import pandas
from numasim.sweep.store.results_tables import load_table
before = os.listdir("/proc/self/task")
load_table(Path(sys.argv[1]), "workers.parquet")
assert os.listdir("/proc/self/task") == before
"""
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# ---- the columns of axes ------------------------------------------------------------------------------------------


def cells(axis: str, values: list[Any], names: str | None = None) -> list[Any]:
    """Return a cell for each value; None leaves the axis out. Each letter of ``names`` is the name of a strategy."""
    letters = names or "s" * len(values)
    made = []
    for index, (value, letter) in enumerate(zip(values, letters, strict=True)):
        spec = toy_spec(1).model_copy(update={"strategy": Part(name=letter)})
        made.append(Cell(index, {} if value is None else {axis: value}, spec))  # type: ignore[arg-type]
    return made


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1, 2, None], pa.int64(), [1, 2, None]),
        ([True, False], pa.bool_(), [True, False]),
        ([1, Decimal("2.5")], pa.float64(), [1.0, 2.5]),
        (["a", "b"], pa.string(), ["a", "b"]),
        ([1, "all"], pa.string(), ["1", "all"]),
        ([True, 1], pa.string(), ["true", "1"]),
        ([{"name": "matmul", "n": 8}, "fib"], pa.string(), ["matmul n=8", "fib"]),
    ],
)
def test_an_axis_keeps_its_type_where_all_values_share_it(values: list[Any], kind: Any, expected: list[Any]) -> None:
    column = axis_column(cells("axis", values), "axis")
    assert column.type == kind
    assert column.to_pylist() == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("randomized", "randomized"),
        (12, "12"),
        (Decimal("0.50"), "0.50"),
        (None, "null"),
        ([1, "two", Decimal("3.5")], "[1, two, 3.5]"),
        ({"name": "uts", "depth": 3, "seed": 1}, "uts depth=3 seed=1"),
        ({"costs": {"push_ns": 5}, "name": "ompi"}, "ompi costs={push_ns=5}"),
        ({"n": 4}, "n=4"),
    ],
)
def test_labels_read_like_the_yaml(value: Any, text: str) -> None:
    assert label(value) == text


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (["own", {"name": "rests", "like": "own", "poll_ns": 5}], ["own", "rests"]),
        (
            [{"name": "own", "like": "own", "poll_ns": n} for n in (5, 6)],
            ["own like=own poll_ns=5", "own like=own poll_ns=6"],
        ),
        (["own", {"name": "own", "like": "own", "poll_ns": 5}], ["own", "own like=own poll_ns=5"]),
    ],
)
def test_variants_have_their_names_unless_two_values_have_one_name(values: list[Any], texts: list[str]) -> None:
    assert labels(values) == texts


@pytest.mark.parametrize(
    ("values", "names", "column"),
    [
        (["a.yaml", {"name": "b", "threshold": 2}, None], "abc", ["a", "b", "c"]),
        # the name of a variant differs from the name of its original
        (["a", {"like": "s", "threshold": 2}, {"like": "t", "name": "c"}], "asc", ["a", "like=s threshold=2", "c"]),
        # variants of one name have different labels
        (["s", *({"name": "s", "threshold": n} for n in (2, 3))], "sss", ["s", "s threshold=2", "s threshold=3"]),
    ],
)
def test_a_part_is_called_by_its_name(values: list[Any], names: str, column: list[str]) -> None:
    assert named_column(cells("strategy", values, names), "strategy") == column
