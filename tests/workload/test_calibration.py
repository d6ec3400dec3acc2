"""The committed kernel rates are what the calibration gives from the serial column, and nothing else enters."""

from __future__ import annotations

import csv
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from workload_setup import make

from numasim.workload.rates import compute_ps, kernel_rates, rates_path
from numasim.workload.serial import segment_ps, serial_ps

HERE = rates_path().parent
LATENCY_PS = 77_300


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("calibrate_serial", HERE / "calibrate_serial.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_committed_rates_are_the_fit(script: ModuleType) -> None:
    assert rates_path().read_text() == script.as_yaml(script.calibrate())


def test_only_the_serial_column_is_read(script: ModuleType, tmp_path: Path) -> None:
    with script.TABLE.open(newline="") as lines:
        rows = [{name: row[name] for name in ("benchmark", "serial_execution_time_s")} for row in csv.DictReader(lines)]
    alone = tmp_path / "serial.csv"
    with alone.open("w", newline="") as lines:
        writer = csv.DictWriter(lines, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    assert script.calibrate(lambda: script.published_serial_ps(alone)) == script.calibrate()


def test_the_rates_follow_the_serial_column(script: ModuleType) -> None:
    slower = {name: 2 * time for name, time in script.published_serial_ps().items()}
    fitted = script.calibrate(lambda: slower)["kernels"]
    assert all(fitted[name]["ps_per_1000"] > rate for name, rate in kernel_rates().items())


def test_the_fit_is_a_minimum_of_the_squared_relative_errors(script: ModuleType) -> None:
    published = script.published_serial_ps()
    for program in script.programs():
        best = script.fit(list(program.parts.values()), [published[row] for row in program.parts])

        def loss(rate: int, parts: dict = program.parts) -> float:
            return sum((script.serial_ps(p, rate) / published[row] - 1) ** 2 for row, p in parts.items())

        step = best // 1000
        assert loss(best) < min(loss(best - step), loss(best + step))


def test_residuals_stay_within_five_percent(script: ModuleType) -> None:
    residuals = script.calibrate()["residuals"]
    assert len(residuals) == 6
    assert all(abs(entry["error_ppm"]) < 50_000 for entry in residuals.values())


def test_generated_graphs_take_the_calibrated_time(script: ModuleType) -> None:
    rates = kernel_rates()
    for n in (2048, 4096):
        expected = script.serial_ps(script.strassen_parts(n), rates["strassen.multiply"])
        assert serial_ps(make("strassen", n=n), LATENCY_PS) == expected
    expected = script.serial_ps(script.sparselu_parts(), rates["sparselu.bmod"])
    for version in ("sparselu-single", "sparselu-for"):
        assert serial_ps(make(version), LATENCY_PS) == expected


def test_generated_sort_takes_the_calibrated_time_but_for_its_splits(script: ModuleType) -> None:
    """The parts count whole passes; every split of the graph places one element without a serial merge."""
    n = 2**21
    work = make("sort", n=n)
    rate = kernel_rates()["sort.merge"]
    expected = script.serial_ps(script.sort_parts(n, leaf=512), rate)
    missing = work.facts["merge_splits"] * rate // 1000
    assert serial_ps(work, LATENCY_PS) + missing == pytest.approx(expected, abs=work.segments)


def test_the_rate_of_strassen_additions_does_not_matter() -> None:
    """They are tied to the products because they wait for memory: half or twice the rate changes no time."""
    work = make("strassen", n=2048)
    additions = work.segment_kernel == work.kernels.index("add")
    assert (segment_ps(work, LATENCY_PS)[additions] > 2 * work.segment_compute_ps[additions]).all()


@pytest.mark.parametrize(
    ("units", "rate", "expected"), [(0, 5, 0), (1, 499, 0), (1, 500, 1), (3, 1000, 3), (7, 1500, 11)]
)
def test_compute_times_round_to_the_nearest(units: int, rate: int, expected: int) -> None:
    assert compute_ps(units, rate) == expected
