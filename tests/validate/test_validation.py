"""`numasim validate` with a fake runtime: equal and unequal counters, bounds, stored runs, and refused parts."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from fake_runtime import CELLS, TWIN_PS, FakeRuntime, found, part_file, slower

from numasim.cli import BAD_INPUT, CHECK_FAILED, OK, main
from numasim.engine.simulate import simulate
from numasim.errors import InputError
from numasim.runtime.runtime_program import KernelRun, Order
from numasim.validate.cell_runs import validate_parts
from numasim.validate.part_files import part_of

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


# ---- findings ----


def test_a_runtime_that_does_what_was_predicted_is_within_every_bound(tmp_path: Path, monkeypatch: Patch) -> None:
    FakeRuntime().install(monkeypatch, tmp_path)
    findings = found(part_file(tmp_path), tmp_path / "out")
    assert findings.met
    assert {each.distance for each in findings.comparisons} == {0.0}
    verdicts = {each.quantity: (each.cells, each.within, each.outside) for each in findings.verdicts}
    assert verdicts == dict.fromkeys(("makespan", "miss_ratio", "remote_share"), (CELLS, CELLS, ()))


def test_a_bound_of_a_share_lets_the_others_go(tmp_path: Path, monkeypatch: Patch) -> None:
    def two_workers_slow(order: Order, run: KernelRun) -> KernelRun:
        slow = order.kernel == "fib" and order.workers == 2
        return replace(run, makespan_ps=run.makespan_ps * 3) if slow else run

    FakeRuntime(two_workers_slow).install(monkeypatch, tmp_path)
    (verdict,) = (each for each in found(part_file(tmp_path), tmp_path / "out").verdicts if each.quantity == "makespan")
    assert (verdict.within, verdict.met) == (CELLS - 2, False)  # six of eight cells: 75 %, less than the demanded 80 %


def test_ten_percent_is_of_what_was_measured(tmp_path: Path, monkeypatch: Patch) -> None:
    FakeRuntime(slower(1.1112)).install(monkeypatch, tmp_path)  # predicted / measured - 1 = -0.10007
    assert [each.quantity for each in found(part_file(tmp_path), tmp_path / "apart").broken] == ["makespan"]
    FakeRuntime(slower(1.1110)).install(monkeypatch, tmp_path)  # -0.09991
    assert found(part_file(tmp_path), tmp_path / "near").met


def test_a_ratio_is_of_sums_and_its_distance_a_difference(tmp_path: Path, monkeypatch: Patch) -> None:
    def fewer_misses(order: Order, run: KernelRun) -> KernelRun:
        return replace(run, columns={**run.columns, "steal_success": run.columns["steal_attempts"]})

    runtime = FakeRuntime(fewer_misses).install(monkeypatch, tmp_path)
    part = part_of(part_file(tmp_path, repeats=1), kernels=("fib",), quick=True)
    (findings,) = validate_parts([part], tmp_path / "out")
    (miss,) = (each for each in findings.comparisons if each.quantity == "miss_ratio")
    counters = simulate(next(iter(runtime.plans.values())), runtime.seeds[0]).counters
    assert miss.measured.value == 0
    assert miss.distance == counters["steal_false"] / counters["steal_attempts"]
    assert math.isnan(miss.predicted.low), "one repeat has no interval"


def test_what_neither_side_knows_is_not_compared(tmp_path: Path, monkeypatch: Patch) -> None:
    FakeRuntime().install(monkeypatch, tmp_path)
    names = {each.quantity for each in found(part_file(tmp_path), tmp_path / "out").comparisons}
    assert names == {"makespan", "attempts", "miss_ratio", "remote_share"}, "no bytes, locks or real clocks here"


def test_on_threads_the_speedup_is_that_over_the_serial_twin(tmp_path: Path, monkeypatch: Patch) -> None:
    FakeRuntime(slower(2)).install(monkeypatch, tmp_path)
    findings = found(part_file(tmp_path, mode="native", repeats=1), tmp_path / "out")
    for makespan, speedup in zip(
        *([each for each in findings.comparisons if each.quantity == name] for name in ("makespan", "speedup")),
        strict=True,
    ):
        assert speedup.measured.value == pytest.approx(TWIN_PS / (makespan.measured.value * 10**12))
        assert speedup.distance == pytest.approx(1)


# ---- model costs ----


def test_with_model_costs_every_value_is_compared(tmp_path: Path, monkeypatch: Patch) -> None:
    runtime = FakeRuntime().install(monkeypatch, tmp_path)
    findings = found(part_file(tmp_path, costs="model"), tmp_path / "out")
    assert findings.met
    assert len(findings.equalities) == CELLS
    once = 1 + 2 + 6 + 7 * 2 + 3 * 2 * 2  # the hash, 2 numbers, 6 columns; 7 by worker; 3 by pair of nodes
    assert {each.values for each in findings.equalities if each.cell.workers == 2} == {2 * once}
    assert [order.mode for order in runtime.orders].count("serial") == 2  # each program is recorded once


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"makespan_ps": 1}, "makespan_ps"),
        ({"trace_hash": "0" * 16}, "trace_hash"),
        ({"columns": {"tasks": 0}}, "tasks"),
        ({"worker": {"tasks": (1, 10)}}, "tasks[0]"),
        ({"worker": {"tasks": (1,)}}, "shape of tasks"),
        ({"node_attempts": ((0, 9), (0, 0))}, "node_attempts[0,1]"),
        ({"node_bytes": ((0, 0), (1, 0))}, "node_bytes[1,0]"),
        ({"words": ((1, 2, 3, 4, 5),)}, "shape of sync_objects"),
        ({"node": (1, 1)}, "node[0]"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_one_number_that_differs_is_found(
    change: dict[str, object], name: str, tmp_path: Path, monkeypatch: Patch
) -> None:
    FakeRuntime(lambda _, run: replace(run, **change)).install(monkeypatch, tmp_path)  # type: ignore[arg-type]
    part = part_of(part_file(tmp_path, costs="model"), kernels=("fib",), quick=True)
    (findings,) = validate_parts([part], tmp_path / "out")
    assert not findings.met
    assert name in {pair[0] for _, pair in findings.unequal[0].differing}


# ---- stored results ----


def test_every_repeat_is_predicted_from_the_serial_run_before_it_and_kept(tmp_path: Path, monkeypatch: Patch) -> None:
    runtime = FakeRuntime().install(monkeypatch, tmp_path)
    part = part_file(tmp_path)
    first = found(part, tmp_path / "out")
    assert [order.mode for order in runtime.orders] == ["serial", "virtual"] * (CELLS * 2)
    seeds = {order.seed for order in runtime.orders if order.mode == "virtual"}
    assert seeds == set(runtime.seeds)  # the simulator draws from the seeds of the runtime
    assert len(seeds) == 2
    runtime.orders.clear()
    assert found(part, tmp_path / "out") == first
    assert runtime.orders == []


def test_a_killed_validation_goes_on_where_it_was(tmp_path: Path, monkeypatch: Patch) -> None:
    class KilledError(Exception):
        pass

    def killed(order: Order, run: KernelRun) -> KernelRun:
        if order.mode == "virtual" and len(runtime.orders) == 12:
            raise KilledError
        return run

    part = part_file(tmp_path)
    runtime = FakeRuntime(killed).install(monkeypatch, tmp_path)
    with pytest.raises(KilledError):
        found(part, tmp_path / "out")
    done = [order for order in runtime.orders[:-1] if order.mode == "virtual"]
    again = FakeRuntime().install(monkeypatch, tmp_path)
    resumed = found(part, tmp_path / "out")
    later = [order for order in again.orders if order.mode == "virtual"]
    assert len(done) + len(later) == CELLS * 2
    assert resumed == found(part, tmp_path / "afresh")


def test_another_program_is_run_anew(tmp_path: Path, monkeypatch: Patch) -> None:
    part = part_file(tmp_path, repeats=1)
    FakeRuntime().install(monkeypatch, tmp_path)
    found(part, tmp_path / "out")
    runtime = FakeRuntime().install(monkeypatch, tmp_path)
    (tmp_path / "numasim-runtime").write_text("another program, that is longer")
    found(part, tmp_path / "out")
    assert len(runtime.orders) == CELLS + CELLS


def test_more_repeats_are_added_to_those_that_are_kept(tmp_path: Path, monkeypatch: Patch) -> None:
    FakeRuntime().install(monkeypatch, tmp_path)
    found(part_file(tmp_path, repeats=2), tmp_path / "out")
    runtime = FakeRuntime().install(monkeypatch, tmp_path)
    found(part_file(tmp_path, repeats=3), tmp_path / "out")
    assert len(runtime.orders) == CELLS * 2  # a serial run, and the run itself


def test_cells_at_a_time_find_the_same(tmp_path: Path, monkeypatch: Patch) -> None:
    FakeRuntime().install(monkeypatch, tmp_path)
    part = part_of(part_file(tmp_path))
    assert validate_parts([part], tmp_path / "two", jobs=2) == validate_parts([part], tmp_path / "one")


# ---- the command ----


def test_the_command_leaves_table_and_page(tmp_path: Path, monkeypatch: Patch) -> None:
    FakeRuntime().install(monkeypatch, tmp_path)
    parts = [part_file(tmp_path, costs=costs) for costs in ("measured", "model")]
    assert main(["validate", *parts, "-o", str(tmp_path / "out")]) == OK
    with (tmp_path / "out" / "validation.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["part"] for row in rows} == {"measured", "model"}
    assert {row["within"] for row in rows if row["quantity"] == "makespan"} == {"yes"}
    text = (tmp_path / "out" / "index.html").read_text()
    assert "All bounds are met and all counters that must be equal are equal." in text
    assert 'src="data:image/svg+xml' in text
    assert 'src="http' not in text


def test_the_page_names_the_cells_outside_and_the_status_is_one(
    tmp_path: Path, monkeypatch: Patch, capsys: Capture
) -> None:
    FakeRuntime(slower(2, "graph")).install(monkeypatch, tmp_path)
    assert main(["validate", part_file(tmp_path), "-o", str(tmp_path / "out"), "--json"]) == CHECK_FAILED
    out, err = capsys.readouterr()
    assert err == "numasim: measured: makespan: 4 of 8 (50 %) cells are within 10 %, 80 % required\n"
    (part,) = json.loads(out)["parts"]
    (makespan,) = (each for each in part["bounds"] if each["quantity"] == "makespan")
    cells = product(("randomized", "topology-aware"), (2, 6))
    assert makespan["outside"] == [f"graph n=6, {strategy}, {workers} workers" for strategy, workers in cells]
    text = (tmp_path / "out" / "index.html").read_text()
    assert all(f"<li>{label}: predicted " in text for label in makespan["outside"])


def test_a_counter_that_differs_is_status_one_and_named(tmp_path: Path, monkeypatch: Patch, capsys: Capture) -> None:
    FakeRuntime(lambda _, run: replace(run, page_faults=7)).install(monkeypatch, tmp_path)
    part = part_file(tmp_path, costs="model")
    assert main(["validate", part, "-o", str(tmp_path / "out"), "--quick"]) == CHECK_FAILED
    err = capsys.readouterr().err
    assert "2 of 2 cells have counters that differ; first fib n=5, randomized, 2 workers, seed " in err
    assert err.endswith(": page_faults is 0 predicted and 7 found\n")
    assert "page_faults" in (tmp_path / "out" / "index.html").read_text()


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("makespan:", "makspan:", "there is no quantity 'makspan' to set a bound on; expected one of makespan"),
        ("mode: virtual", "mode: vitual", "measured.yaml:2:7: mode: "),
        ("within: 0.1,", "within: 0,", "within"),
        ("seed: 3", "sed: 3", "sed"),
        ("makespan:", "speedup:", "virtual time has no speedup over the serial twin; set a bound on the makespan"),
        ("workers: [2, 6]", "workers: []", "workers"),
        ("costs: measured", "costs: model", "every counter must be equal: bounds have no effect"),
        ("workers: [2, 6]", "workers: [25]", "25"),
    ],
)
def test_a_part_with_a_mistake_names_it(
    old: str, new: str, sentence: str, tmp_path: Path, monkeypatch: Patch, capsys: Capture
) -> None:
    FakeRuntime().install(monkeypatch, tmp_path)
    path = Path(part_file(tmp_path))
    path.write_text(path.read_text().replace(old, new, 1))
    assert main(["validate", str(path), "-o", str(tmp_path / "out")]) == BAD_INPUT
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("workers", "options", "sentence"),
    [
        ("[2, 20]", ["--machine", "opteron-8380-4s"], None),
        ("[20]", ["--machine", "opteron-8380-4s"], "20 workers, but 'opteron-8380-4s' has 16 hardware threads"),
        ("[2, 30]", [], "asks for 30 workers, but 'xeon-e5-2620-2s' has 24 hardware threads"),
    ],
)
def test_cells_that_a_machine_has_no_room_for_are_left_out_or_refused_before_any_runs(
    workers: str, options: list[str], sentence: str | None, tmp_path: Path, monkeypatch: Patch, capsys: Capture
) -> None:
    """Cells with more workers than the machine has threads (16 or 24) are refused. They are left out instead if the
    command names the machine and other cells remain.
    """
    runtime = FakeRuntime().install(monkeypatch, tmp_path)
    path = Path(part_file(tmp_path))
    path.write_text(path.read_text().replace("workers: [2, 6]", f"workers: {workers}"))
    status = main(["validate", str(path), *options, "-o", str(tmp_path / "out"), "--json"])
    out, err = capsys.readouterr()
    if sentence:
        assert (status, runtime.orders) == (BAD_INPUT, [])
        assert sentence in err
        return
    (part,) = json.loads(out)["parts"]
    assert (status, part["cells"], part["workers_left_out"]) == (OK, 2 * 2, [20])
    assert "cells with 20 workers are left out" in (tmp_path / "out" / "index.html").read_text()


def test_cells_on_threads_run_alone(tmp_path: Path, monkeypatch: Patch, capsys: Capture) -> None:
    FakeRuntime().install(monkeypatch, tmp_path)
    part = part_file(tmp_path, mode="native")
    assert main(["validate", part, "-o", str(tmp_path / "out"), "--jobs", "2"]) == BAD_INPUT
    assert "jobs is 2, and cells on real threads run alone; expected --jobs 1" in capsys.readouterr().err


def test_damaged_runs_are_named(tmp_path: Path, monkeypatch: Patch) -> None:
    FakeRuntime().install(monkeypatch, tmp_path)
    part = part_file(tmp_path, repeats=1)
    found(part, tmp_path / "out")
    next((tmp_path / "out" / "runs").iterdir()).write_text("{")
    with pytest.raises(InputError, match=r"json:1:2: this is not JSON: .*; expected the file as it was written"):
        found(part, tmp_path / "out")
