"""The benchmark's parts at tiny sizes: what they count is right, how fast it goes is not asked."""

from __future__ import annotations

import json

import pytest
import simpy

from numasim.report import benchmark
from numasim.report.benchmark import Rate, Rates, Sizes, measure, print_rates

TINY = Sizes(timeouts=240, tasks=240, fib_n=5, sweep_runs=2, samples=3)
GIVEN = Rates((Rate("bare SimPy timeouts", 400_000.4, 1.0), Rate("fib calls", 60_000.0, 0.15, 0.125)), 4.25, 101.6)


def test_the_bare_simulation_has_as_many_timeouts_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[int] = []
    timeout = simpy.Environment.timeout

    def counted(env: simpy.Environment, delay: int) -> simpy.Event:
        waited.append(delay)
        return timeout(env, delay)

    monkeypatch.setattr(simpy.Environment, "timeout", counted)
    benchmark.timeouts_per_second(240)
    assert len(waited) == 240
    assert len(set(waited)) == 24  # as many processes as the engine has workers


def test_everything_is_measured_and_ratios_are_to_the_bare_rate() -> None:
    found = measure(TINY)
    bare, tasks, calls, bulk = found.rates
    assert bare.ratio == 1.0
    assert tasks.ratio == pytest.approx(tasks.per_second / bare.per_second)
    assert calls.ratio == pytest.approx(calls.per_second / bare.per_second)
    assert bulk.ratio == pytest.approx(bulk.per_second / bare.per_second)
    assert [rate.target for rate in found.rates] == [None, 1 / 4, 1 / 8, None]
    assert min(rate.per_second for rate in found.rates) > 0
    assert found.sweep_overhead_ms > 0
    assert 10 < found.peak_memory_mib < 100_000


def test_the_median_of_alternating_samples_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = iter([100.0, 900.0, 400.0])
    engine = iter([10.0, 1.0, 800.0, 90.0, 2.0, 700.0, 40.0, 9.0, 900.0])  # tasks, calls and bulk in turn
    monkeypatch.setattr(benchmark, "timeouts_per_second", lambda _: next(bare))
    monkeypatch.setattr(benchmark, "tasks_per_second", lambda _: next(engine))
    found = measure(TINY)
    assert [rate.per_second for rate in found.rates] == [400.0, 40.0, 2.0, 800.0]
    assert [rate.ratio for rate in found.rates] == [1.0, 0.1, 0.005, 2.0]


def test_rates_are_printed_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    print_rates(GIVEN, as_json=False)
    out = capsys.readouterr().out
    assert "400,000" in out
    assert next(line for line in out.splitlines() if "fib" in line).split() == [
        "fib",
        "calls",
        "60,000",
        "0.150",
        "0.125",
    ]
    assert "4.2 ms" in out
    assert "102 MiB" in out


def test_rates_are_printed_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    print_rates(GIVEN, as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["rates"][1] == {"name": "fib calls", "per_second": 60_000.0, "ratio": 0.15, "target": 0.125}
    assert found["sweep_overhead_ms"] == 4.25
