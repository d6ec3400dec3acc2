"""The runs of a calibration."""

from __future__ import annotations

from typing import Any

import pytest

from numasim.plan.build_plan import build_plan
from numasim.reproduce.calibration.calibration_runs import (
    SharedRate,
    at_rate,
    counters,
    mean_task_ns,
    rate_now,
    serial_ps,
    serial_rate,
    serial_seconds,
)
from numasim.spec.run_spec import resolve
from numasim.sweep.planned_runs import PlannedRun, repeated

MODELS: list[dict[str, Any]] = [
    {},
    {"overlap": 0.3, "mlp": 0.7},
    {"cache": "none", "contention": "none", "smt": "none"},
]


def run(n: int = 256, **changes: Any) -> PlannedRun:
    fields = {"machine": "xeon-e5-2620-2s", "workload": {"name": "strassen", "n": n}, "strategy": "randomized"}
    return repeated(resolve({**fields, "workers": 24, "seed": 1, **changes}), 0)


@pytest.mark.parametrize("model", MODELS)
def test_the_serial_time_is_that_of_parallel_runs(model: dict[str, Any]) -> None:
    each = run(model=model)
    assert serial_ps(each) == counters(each)["serial_ps"]


@pytest.mark.parametrize("model", MODELS)
def test_the_rate_is_found_from_the_serial_times_that_it_gives(model: dict[str, Any]) -> None:
    runs = {str(n): run(n, model=model) for n in (128, 256)}
    true = 200_000
    published = {row: serial_ps(at_rate(each, "ps_per_1000_flops", true)) / 1e12 for row, each in runs.items()}
    group = SharedRate("ps_per_1000_flops", {row: [each] for row, each in runs.items()}, published)
    assert serial_rate(group, rate_now(group)) == pytest.approx(true, rel=2e-3)
    assert serial_seconds(group, true) == published


def test_the_mean_time_of_a_task_is_that_of_the_first_back_off() -> None:
    matmul = run(workload={"name": "matmul", "n": 64}, runtime="own")
    assert build_plan(matmul.spec).steal.backoff.first_ps // 1000 == mean_task_ns(matmul)
