"""The calibration of the thesis: what it reads, and that the committed values are what it gives."""

from __future__ import annotations

import csv
import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from numasim.reproduce.calibration.bench import Bench
from numasim.reproduce.calibration.calibration_runs import mean_task_ns
from numasim.reproduce.calibration.readings import Readings, misread
from numasim.reproduce.calibration.record import Calibration, StepScore, read_calibration
from numasim.reproduce.study.contents import Study
from numasim.reproduce.study.study import read_study
from numasim.reproduce.table_cells import Role
from numasim.sweep.pool import InProcess

THESIS = Path(__file__).resolve().parents[2] / "experiments" / "thesis"
DRIFT = 0.02  # of an error, before the values have to be fitted again


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("calibrate", THESIS / "calibrate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def study() -> Study:
    return read_study(str(THESIS))


@pytest.fixture(scope="module")
def committed() -> Calibration:
    return read_calibration(THESIS / "calibrated.yaml")


def test_nothing_is_read_that_is_given_out_as_a_prediction(script: ModuleType, study: Study) -> None:
    readings = Readings(study)
    script.read_data(readings)
    assert {(each.table, each.column) for each in readings.done} == {
        ("3.4", "serial_execution_time_s"),
        ("3.4", "randomized_execution_time_s"),
        ("3.1", "false_steal_count"),
        ("3.1", "success_steal_count"),
        ("3.6", "steal_attempt_count"),
        ("6.4", "numa_oblivious_overhead_ms"),
    }
    assert misread(study, readings.done) == []


@pytest.mark.parametrize(
    ("table", "column"), [("3.4", "threshold_constrained_execution_time_s"), ("3.6", "steal_attempt_count")]
)
def test_a_calibration_that_looked_at_predictions_would_be_caught(
    script: ModuleType, study: Study, table: str, column: str
) -> None:
    readings = Readings(study)
    script.read_data(readings)
    readings.values(table, column)
    assert len(misread(study, readings.done)) == (6 if table == "3.4" else 5)


def test_all_that_these_tables_call_fitted_is_read(script: ModuleType, study: Study) -> None:
    """Other tables print some of it again."""
    readings = Readings(study)
    script.read_data(readings)
    read = {(each.table, each.column, row) for each in readings.done for row in each.rows}
    for table in (study.tables[number] for number in ("3.1", "3.4", "3.6", "6.4")):
        for name, column in table.file.columns.items():
            rows = table.labels if column.role == Role.FITTED else column.fitted
            assert {(table.id, name, row) for row in rows} <= read


def test_other_predictions_would_change_nothing(script: ModuleType, study: Study, tmp_path: Path) -> None:
    """A copy of the study with other numbers wherever it predicts is calibrated to the same values."""
    changed = _with_other_predictions(study, tmp_path / "thesis", script)
    assert script.read_data(Readings(changed)) == script.read_data(Readings(study))
    found = [list(script.calibrate(each, [5], Calibration(), 1, str)) for each in (study, changed)]
    assert found[0] == found[1]
    assert len(found[0][-1].parameters) == 7


def _with_other_predictions(study: Study, folder: Path, script: ModuleType) -> Study:
    shutil.copytree(study.folder, folder)
    readings = Readings(study)
    script.read_data(readings)
    read = {(study.tables[each.table].published.path.name, each.column): set(each.rows) for each in readings.done}
    keys = {table.published.path.name: table.file.rows.key for table in study.tables.values()}
    for name, key in keys.items():
        path = folder / "published" / name
        with path.open(newline="") as lines:
            rows = list(csv.DictReader(lines))
        for row in rows:
            others = [each for each in row if each not in key]
            row |= {each: "12345" for each in others if row[key[0]] not in read.get((name, each), set())}
        with path.open("w", newline="") as lines:
            writer = csv.DictWriter(lines, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    return read_study(str(folder))


def test_every_step_and_parameter_is_in_the_committed_file(script: ModuleType, committed: Calibration) -> None:
    assert [each.step for each in committed.scores] == list(script.STEPS)
    assert {each.field for each in committed.parameters} == {
        "workload.ps_per_1000_flops",
        "workload.ps_per_1000_comparisons",
        *(each.sets for each in (*script.GLOBALS, *script.STEALS)),
        "runtime.poll_ns",
        "workload.construct_ns",
    }
    assert [each.step for each in committed.parameters] == sorted(each.step for each in committed.parameters)


def _bench(study: Study, committed: Calibration) -> Bench:
    return Bench(study, committed, InProcess(), str)


def _assert_as_committed(found: StepScore, committed: Calibration) -> None:
    kept = {**committed.scores[found.step - 1].errors, **committed.scores[found.step - 1].held_out}
    assert found.errors == {name: pytest.approx(kept[name], abs=DRIFT) for name in found.errors}


def test_the_committed_values_give_the_committed_times(
    script: ModuleType, study: Study, committed: Calibration
) -> None:
    """Where this fails a mechanism has changed: python experiments/thesis/calibrate.py fits the values again."""
    data, bench = script.read_data(Readings(study)), _bench(study, committed.of([1, 2]))
    rows = ("Strassen-2048", "SparseLU-for")
    _assert_as_committed(script.score_globals(bench, data, rows), committed)
    _assert_as_committed(script.score_serial(bench, data, rows), committed)


def test_the_committed_values_give_the_committed_counts(
    script: ModuleType, study: Study, committed: Calibration
) -> None:
    data, bench = script.read_data(Readings(study)), _bench(study, committed)
    _assert_as_committed(script.score_polls(bench, data), committed)


def test_the_committed_values_give_the_committed_overheads(
    script: ModuleType, study: Study, committed: Calibration
) -> None:
    data, bench = script.read_data(Readings(study)), _bench(study, committed)
    _assert_as_committed(script.score_constructs(bench, data), committed)


def test_matrices_that_stand_in_give_the_committed_counts(
    script: ModuleType, study: Study, committed: Calibration
) -> None:
    """The search looks at small matrices, the committed errors are those of the size that was published."""
    data, bench = script.read_data(Readings(study)), _bench(study, committed.of([1, 2]))
    stand_in_ns, size_ns = (
        mean_task_ns(bench.runs("matmul", "randomized", {"workload.n": n})[0]) for n in (script.STAND_IN, script.SIZE)
    )
    capacity, spread, backoff_ns = (committed.value(each.axis.name) for each in script.STEALS)
    point = (int(capacity), int(1000 * spread), round(100 * backoff_ns / size_ns))  # type: ignore[operator]
    found = script.steal_errors(bench, data, script.steal_changes(point, script.STAND_IN, stand_in_ns))
    assert found == {name: pytest.approx(error, abs=0.07) for name, error in committed.scores[2].errors.items()}
