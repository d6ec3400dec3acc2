"""Rounds on threads: the seeds of predictions, rounds of one process, and rejected rounds.

A round is a rehearsal (serial copies on all workers), a run and its serial twin, for one cell (a program under a
strategy with a number of workers). It counts only if the transfer of a cache line between workers took about as long as
the machine file says.
"""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fake_runtime import CELLS, FakeRuntime, found, part_file
from hypothesis import given
from hypothesis import strategies as st

from numasim.cli import CHECK_FAILED, OK, main
from numasim.engine.simulate import simulate
from numasim.plan.build_plan import build_plan
from numasim.plan.plan import Plan
from numasim.runtime.runtime_program import KernelRun, Order
from numasim.spec.run_spec import resolve
from numasim.validate.cell_runs import ROUNDS_PER_PROCESS, PartFindings, at_speed
from numasim.validate.comparison import hop_ps, placement_differs

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


def plan_of(workers: int = 2) -> Plan:
    workload = {"name": "nqueens", "n": 5}
    spec = {"machine": "xeon-e5-2620-2s", "strategy": "randomized", "workload": workload, "workers": workers}
    return build_plan(resolve(spec))


def on_threads(folder: Path, repeats: int) -> PartFindings:
    return found(part_file(folder, mode="native", repeats=repeats), folder / "out")


# ---- predictions ----


@given(total_ps=st.integers(0, 10**16))
def test_segments_share_what_the_rehearsal_took(total_ps: int) -> None:
    plan = plan_of()
    recorded = plan.workload.segment_compute_ps.tolist()
    written = at_speed(plan, total_ps).workload.segment_compute_ps
    assert 0 <= total_ps - int(written.sum()) < len(recorded)
    assert written.tolist() == [each * total_ps // sum(recorded) for each in recorded]
    assert written.dtype == np.int64
    assert not written.flags.writeable


def test_segments_that_take_no_time_share_nothing() -> None:
    plan = plan_of()
    nothing = at_speed(plan, 0)
    assert not nothing.workload.segment_compute_ps.any()
    assert not at_speed(nothing, 1000).workload.segment_compute_ps.any()


def test_a_prediction_takes_its_speed_from_the_rehearsal_of_its_round(tmp_path: Path, monkeypatch: Patch) -> None:
    def twice_as_slow(order: Order, run: KernelRun) -> KernelRun:
        plan = runtime.plans[threading.get_ident()]
        slow = simulate(at_speed(plan, 2 * run.rehearsed_ps), run.seed).counters["makespan_ps"]
        assert slow > run.makespan_ps
        return replace(run, rehearsed_ps=2 * run.rehearsed_ps, makespan_ps=slow)

    runtime = FakeRuntime(twice_as_slow).install(monkeypatch, tmp_path)
    makespans = [each for each in on_threads(tmp_path, 3).comparisons if each.quantity == "makespan"]
    assert len(makespans) == CELLS
    assert {each.distance for each in makespans} == {0.0}


# ---- rounds ----


def test_rounds_share_a_process_and_no_two_have_a_seed(tmp_path: Path, monkeypatch: Patch) -> None:
    seeds: list[int] = []

    def note(order: Order, run: KernelRun) -> KernelRun:
        seeds.append(run.seed)
        return run

    runtime = FakeRuntime(note).install(monkeypatch, tmp_path)
    on_threads(tmp_path, 2 * ROUNDS_PER_PROCESS + 3)
    native = [order for order in runtime.orders if order.mode == "native"]
    assert [order.repeat for order in native] == [ROUNDS_PER_PROCESS, ROUNDS_PER_PROCESS, 3] * CELLS
    assert all(order.rehearse and order.warm_up for order in native)
    assert [order.mode for order in runtime.orders] == ["serial", "native"] * len(native)
    assert len(set(seeds)) == len(seeds) // CELLS == 2 * ROUNDS_PER_PROCESS + 3  # round k has one seed in all cells


def test_more_rounds_are_added_to_those_that_are_kept(tmp_path: Path, monkeypatch: Patch) -> None:
    FakeRuntime().install(monkeypatch, tmp_path)
    few = on_threads(tmp_path, 4)
    runtime = FakeRuntime().install(monkeypatch, tmp_path)
    on_threads(tmp_path, 9)
    assert [order.repeat for order in runtime.orders if order.mode == "native"] == [5] * CELLS
    runtime.orders.clear()
    again = on_threads(tmp_path, 4)
    assert runtime.orders == []
    assert again.comparisons == few.comparisons  # the repeats that were stored first


# ---- rejected rounds ----


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
    assert not placement_differs(run_of(), plan)  # a run without times
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
