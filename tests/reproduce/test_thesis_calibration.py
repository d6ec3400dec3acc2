"""The calibration of the thesis: the published values that the calibration reads, and the committed results."""

from __future__ import annotations

import csv
import shutil
import sys
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from cells_by_hand import fitted_cells

from numasim.plan.build_plan import build_plan
from numasim.reproduce.calibration_file import Calibration, StepScore
from numasim.reproduce.study import Study, read_study
from numasim.reproduce.table_cells import Role
from numasim.spec.run_spec import resolve
from numasim.sweep.planned_runs import PlannedRun, repeated
from numasim.sweep.pool import InProcess

sys.path.append(str(Path(__file__).resolve().parents[2] / "experiments"))

from parameter_search import Axis, Reading, Readings, of_steps, rms, values_at

DRIFT = 0.02  # the largest change of an error before the values must be fitted again


def misread(study: Study, readings: Iterable[Reading], calibration: Calibration) -> list[tuple[str, str, str]]:
    """Return every published value that the calibration has read although the study scores it as a prediction. Only
    parameters whose fit was refused may read such values.
    """
    fitted, refused = fitted_cells(calibration.parameters), fitted_cells(calibration.refused)
    predicted = {
        (table.id, name, row)
        for table in study.tables.values()
        for name, column in table.columns.items()
        for row in table.labels
        if column.role is Role.PREDICTED and row not in column.fitted
    }
    read = [(each.table, each.column, row) for each in readings for row in each.rows]
    return [cell for cell in read if cell in predicted - (refused - fitted)]


@pytest.fixture(scope="module")
def study() -> Study:
    return read_study("thesis")


@pytest.fixture(scope="module")
def script(study: Study) -> ModuleType:
    return study.part("calibrate")


@pytest.fixture(scope="module")
def committed(study: Study) -> Calibration:
    return study.calibration


def test_nothing_is_fitted_to_what_is_given_out_as_a_prediction(
    script: ModuleType, study: Study, committed: Calibration
) -> None:
    readings = Readings(study)
    script.read_data(readings)
    assert {(each.table, each.column) for each in readings.done} == {
        ("3.4", "serial_execution_time_s"),
        ("3.1", "false_steal_count"),
        ("3.1", "success_steal_count"),
        ("3.6", "steal_attempt_count"),
        ("6.4", "numa_oblivious_overhead_ms"),
    }
    assert misread(study, readings.done, committed) == []


def test_a_search_starts_where_the_files_are(script: ModuleType, study: Study) -> None:
    """A refused parameter keeps the value of its file, and other parameters are fitted with this value."""
    bench = script.Bench(study, Calibration(), InProcess(), str)
    bots, matmul = (
        bench.runs(name, "randomized", {}, row)[0] for name, row in (("bots", "Sort-33554432"), ("matmul", ""))
    )
    for searched in script.STREAMING:
        assert starting(bench, "bots", "Sort-33554432", searched).run_id == bots.run_id
    for searched in script.steals_at(script.mean_task_ns(matmul))[:2]:
        assert starting(bench, "matmul", "", searched).run_id == matmul.run_id
    backoff = starting(bench, "matmul", "", script.steals_at(script.mean_task_ns(matmul))[2])
    first_ps = (build_plan(run.spec).steal.backoff.first_ps for run in (backoff, matmul))
    assert len({each // 1000 for each in first_ps}) == 1


def starting(bench: Any, program: str, row: str, searched: Axis) -> PlannedRun:
    run: PlannedRun = bench.runs(program, "randomized", values_at([searched], (searched.start,)), row)[0]
    return run


def test_other_predictions_would_change_nothing(script: ModuleType, study: Study, tmp_path: Path) -> None:
    """Calibration gives the same parameters for a copy of the study with other numbers in place of all predictions."""
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
    keys = {table.published.path.name: table.keys for table in study.tables.values()}
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


@pytest.mark.parametrize(
    ("score", "more"),
    [
        ("score_serial", [("Strassen-2048", "SparseLU-for")]),
        ("score_steals", [8192]),  # the size of the matrices of Table 3.1
        ("score_polls", []),
        ("score_constructs", []),
    ],
)
def test_the_committed_values_give_the_committed_errors(
    script: ModuleType, study: Study, committed: Calibration, score: str, more: list[Any]
) -> None:
    """A failure shows that a simulated rule has changed: experiments/thesis/calibrate.py fits the values again."""
    data, bench = script.read_data(Readings(study)), script.Bench(study, committed, InProcess(), str)
    found: StepScore = getattr(script, score)(bench, data, *more)
    (kept,) = of_steps(committed, [found.step]).scores
    assert found.errors == {name: pytest.approx(kept.errors[name], abs=DRIFT) for name in found.errors}


def test_what_was_refused_of_the_steals_fits_as_well_as_is_recorded(
    script: ModuleType, study: Study, committed: Calibration
) -> None:
    """The search runs on small matrices, with shorter tasks and a first back-off shortened in the same ratio."""
    refused = of_steps(committed, [3]).refused
    data, bench = script.read_data(Readings(study)), script.Bench(study, of_steps(committed, [1, 2]), InProcess(), str)
    size_ns, stand_in_ns = (
        script.mean_task_ns(bench.runs("matmul", "randomized", {"workload.n": n})[0])
        for n in (script.SIZE, script.STAND_IN)
    )
    found = {each.field: each.found for each in refused}
    backoff = script.STEALS[2].sets
    found[backoff] = Decimal(stand_in_ns) * Decimal(found[backoff]) / size_ns
    # the value of the spread (third parameter) at the best point, which is found without the stored values
    found[script.STEALS[1].sets] = Decimal("0.04")
    errors = script.steal_errors(bench, data, {**found, "workload.n": script.STAND_IN})
    assert [each.residual for each in refused] == [pytest.approx(rms(errors.values()), abs=DRIFT)] * 2


MODELS: list[dict[str, Any]] = [
    {},
    {"overlap": 0.3, "mlp": 0.7},
    {"cache": "none", "contention": "none", "smt": "none"},
]


@pytest.mark.parametrize("model", MODELS)
def test_the_rate_is_found_from_the_serial_times_that_it_gives(script: ModuleType, model: dict[str, Any]) -> None:
    fields = {"machine": "xeon-e5-2620-2s", "strategy": "randomized", "workers": 24, "seed": 1, "model": model}
    works = {str(n): {"name": "strassen", "n": n} for n in (128, 256)}
    runs = {n: repeated(resolve({**fields, "workload": work}), 0) for n, work in works.items()}
    assert script.serial_ps(runs["256"]) == script.counters(runs["256"])["serial_ps"]
    true = 200_000
    at_rate = {n: script.at_rate(run, "ps_per_1000_flops", true) for n, run in runs.items()}
    published = {n: script.serial_ps(run) / 1e12 for n, run in at_rate.items()}
    group = script.SharedRate("ps_per_1000_flops", {n: [run] for n, run in runs.items()}, published)
    assert script.serial_rate(group, script.rate_now(group)) == pytest.approx(true, rel=2e-3)
    assert script.serial_seconds(group, true) == published
