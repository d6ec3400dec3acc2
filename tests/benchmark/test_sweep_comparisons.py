"""Sweeps on two processes and on a Dask cluster of two: the same runs as on one, and what is missing is said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from numasim.benchmark import sweep_costs
from numasim.benchmark.effort import Effort
from numasim.benchmark.sweep_costs import ending, overhead_ms, sweep_comparisons

SMALL = replace(Effort(), sweep_runs=10, sweep_run_s=1e-6)
ENDS_S = {"{'jobs': 1}": 1.0, "{'jobs': 2}": 0.5, "{'cluster': 'local:2'}": 0.625}  # between two runs' ends


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, Any], int]]:
    """What sweeps are asked for; their runs end after one another, as quickly as `ENDS_S` says."""
    sweeps: list[tuple[dict[str, Any], int]] = []

    def swept(spec: dict[str, Any], runs: int, runner: object, **where: Any) -> tuple[float, list[float]]:
        assert runner is ending
        sweeps.append((spec, runs))
        return 0.0, [at * ENDS_S[str(where)] for at in range(runs)]

    monkeypatch.setattr(sweep_costs, "_swept", swept)
    return sweeps


def test_two_of_each_kind_are_compared_with_one_process(asked: list[tuple[dict[str, Any], int]]) -> None:
    comparisons = sweep_comparisons(SMALL)
    ratios = [probe.finding(*probe.sample()) for probe in comparisons.probes]
    assert [(each.name, each.ours, each.other, each.ratio) for each in ratios] == [
        ("sweep of 10 short runs, two processes: to one process", 2.0, 1.0, 2.0),
        ("sweep of 10 short runs, a Dask cluster of two: to one process", 1.6, 1.0, 1.6),
    ]
    assert {(each.kind, each.bound) for each in ratios} == {("at least", 1.9)}
    assert comparisons.missing == ()
    assert len(asked) == 4
    assert all(sweep == asked[0] for sweep in asked)
    assert asked[0][1] == 10


@pytest.mark.usefixtures("asked")
def test_without_distributed_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_costs, "find_spec", lambda name: None)
    comparisons = sweep_comparisons(SMALL)
    assert [probe.finding(*probe.sample()).ratio for probe in comparisons.probes] == [2.0]
    assert comparisons.missing == (
        "sweeps on a Dask cluster with those of one process: there is no package distributed",
    )


def test_overhead_is_what_the_engine_did_not_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_costs, "_swept", lambda spec, runs, runner, jobs: (3.0, [0.25] * runs))
    assert overhead_ms(4) == 500.0  # of 3 s for four runs of 0.25 s each


def test_two_thousand_runs_are_the_sweep() -> None:
    assert Effort().sweep_runs == 2000
