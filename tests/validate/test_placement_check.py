"""A run counts only if cache lines took about the time between workers that the machine file has."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from fake_runtime import FakeRuntime, part_file

from numasim.cli import CHECK_FAILED, OK, main
from numasim.plan.build_plan import build_plan
from numasim.plan.plan import Plan
from numasim.runtime.runtime_program import KernelRun, Order
from numasim.spec.run_spec import resolve
from numasim.validate.comparison import hop_ps, placement_differs

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


def plan_of(workers: int) -> Plan:
    workload = {"name": "fib", "n": 3}
    spec = {"machine": "xeon-e5-2620-2s", "strategy": "randomized", "workload": workload, "workers": workers}
    return build_plan(resolve(spec))


def run_of(*hops_ps: int) -> KernelRun:
    return KernelRun("fib", {}, "native", 2, 0, True, 1, {}, hop_ps=hops_ps)


def test_the_machine_says_how_long_a_line_takes_around_its_workers() -> None:
    three = plan_of(3)
    assert three.workers.socket.tolist() == [0, 1, 0]
    times = three.machine.coherence
    assert hop_ps(three) == (2 * times.cross_socket_ps[0] + times.same_socket_ps) // 3
    assert hop_ps(plan_of(2)) == times.cross_socket_ps[0]


def test_twice_and_half_are_about_the_same() -> None:
    plan = plan_of(2)
    said = hop_ps(plan)
    assert not placement_differs(run_of(said, said), plan)
    assert not placement_differs(run_of(2 * said, (said + 1) // 2), plan)
    assert placement_differs(run_of(2 * said + 1, said), plan)
    assert placement_differs(run_of(said, said // 2 - 1), plan)


def test_who_was_nowhere_has_not_moved() -> None:
    assert not placement_differs(run_of(), plan_of(2))
    assert not placement_differs(run_of(0, 0), plan_of(1))


def elsewhere(runs: list[int], times: int) -> FakeRuntime:
    """Return a runtime whose first ``times`` native runs are on another machine. ``runs`` gets a number per run."""

    def change(order: Order, run: KernelRun) -> KernelRun:
        runs.append(1)
        return replace(run, hop_ps=(10**7, 10**7)) if len(runs) <= times else run

    return FakeRuntime(change)


def test_runs_elsewhere_are_made_again_and_counted(tmp_path: Path, monkeypatch: Patch, capsys: Capture) -> None:
    runs: list[int] = []
    elsewhere(runs, 3).install(monkeypatch, tmp_path)
    part = part_file(tmp_path, mode="native", repeats=2)
    assert main(["validate", part, "-o", str(tmp_path / "out")]) == OK
    sentence = "3 more runs were rejected: beside them, cache lines took more than 2 times longer or"
    assert sentence in capsys.readouterr().out
    assert sentence in (tmp_path / "out" / "index.html").read_text()
    assert len(runs) == 2 * 8 + 3
    # the runs are kept, and so is the number of rejected runs
    assert main(["validate", part, "-o", str(tmp_path / "out"), "--json"]) == OK
    assert json.loads(capsys.readouterr().out)["parts"][0]["moved"] == 3
    assert len(runs) == 2 * 8 + 3


def test_a_machine_that_is_always_another_is_said(tmp_path: Path, monkeypatch: Patch, capsys: Capture) -> None:
    elsewhere([], 10**9).install(monkeypatch, tmp_path)
    monkeypatch.setattr("numasim.validate.cell_runs.MOST_REJECTED", 12)
    part = part_file(tmp_path, mode="native", repeats=1)
    assert main(["validate", part, "-o", str(tmp_path / "out")]) == CHECK_FAILED
    (said,) = capsys.readouterr().err.splitlines()
    assert "in each of 12 runs cache lines took another time between workers than the machine file says" in said
    assert "10 µs in the last one" in said
    assert said.endswith("Calibrate anew, or elsewhere")
