"""Rounds on threads: the bases of their predictions, the rounds that share a process, and the stored results."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fake_runtime import FakeRuntime, part_file
from hypothesis import given
from hypothesis import strategies as st

from numasim.engine.simulate import simulate
from numasim.plan.build_plan import build_plan
from numasim.plan.plan import Plan
from numasim.runtime.runtime_program import KernelRun, Order
from numasim.spec.run_spec import resolve
from numasim.validate.cell_runs import ROUNDS_PER_PROCESS, at_speed
from numasim.validate.part_files import part_of
from numasim.validate.run_validation import PartFindings, validate_parts

CELLS = 2 * 2 * 2  # kernels, strategies, workers

Patch = pytest.MonkeyPatch


def plan_of(workers: int = 2) -> Plan:
    workload = {"name": "nqueens", "n": 5}
    spec = {"machine": "xeon-e5-2620-2s", "strategy": "randomized", "workload": workload, "workers": workers}
    return build_plan(resolve(spec))


def found(folder: Path, repeats: int) -> PartFindings:
    (findings,) = validate_parts([part_of(part_file(folder, mode="native", repeats=repeats))], folder / "out")
    return findings


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
    makespans = [each for each in found(tmp_path, 3).comparisons if each.quantity == "makespan"]
    assert len(makespans) == CELLS
    assert {each.distance for each in makespans} == {0.0}


# ---- rounds ----


def test_rounds_share_a_process_and_no_two_have_a_seed(tmp_path: Path, monkeypatch: Patch) -> None:
    seeds: list[int] = []

    def note(order: Order, run: KernelRun) -> KernelRun:
        seeds.append(run.seed)
        return run

    runtime = FakeRuntime(note).install(monkeypatch, tmp_path)
    found(tmp_path, 2 * ROUNDS_PER_PROCESS + 3)
    native = [order for order in runtime.orders if order.mode == "native"]
    assert [order.repeat for order in native] == [ROUNDS_PER_PROCESS, ROUNDS_PER_PROCESS, 3] * CELLS
    assert all(order.rehearse and order.warm_up for order in native)
    assert [order.mode for order in runtime.orders] == ["serial", "native"] * len(native)
    assert len(set(seeds)) == len(seeds) // CELLS == 2 * ROUNDS_PER_PROCESS + 3  # all cells have the same seeds


def test_more_rounds_are_added_to_those_that_are_kept(tmp_path: Path, monkeypatch: Patch) -> None:
    FakeRuntime().install(monkeypatch, tmp_path)
    few = found(tmp_path, 4)
    runtime = FakeRuntime().install(monkeypatch, tmp_path)
    found(tmp_path, 9)
    assert [order.repeat for order in runtime.orders if order.mode == "native"] == [5] * CELLS
    runtime.orders.clear()
    again = found(tmp_path, 4)
    assert runtime.orders == []
    assert again.comparisons == few.comparisons  # the repeats that were stored first
