"""A sweep from YAML to DataFrame, with the reference engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from numasim.draws import repeat_seed
from numasim.engine.simulate import simulate_spec
from numasim.errors import InputError
from numasim.report.sweep_result import SweepResult
from numasim.spec.sweep_spec import SweepSpec, load_sweep
from numasim.sweep.run_sweep import SweepOutcome, run_sweep

YAML = """
machine: xeon-e5-2620-2s
workload: {name: fib, n: 6}
strategy: randomized
workers: 2
seed: 3
repeat: REPEAT
sweep:
  strategy: [randomized, STRATEGY]
  workload.n: [5, 6]
"""


def sweep_of(folder: Path, repeat: int = 1, strategy: str = "topology-aware", head: str = "") -> SweepSpec:
    file = folder / "sweep.yaml"
    file.write_text(head + YAML.replace("REPEAT", str(repeat)).replace("STRATEGY", strategy))
    return load_sweep(file)


def run(sweep: SweepSpec, directory: Path, jobs: int = 1) -> SweepOutcome:
    return run_sweep(sweep, directory, jobs=jobs, engine="reference", runner=simulate_spec, progress=False, check=True)


def test_each_row_is_what_the_engine_says_of_its_cell(tmp_path: Path) -> None:
    sweep = sweep_of(tmp_path, repeat=2)
    run(sweep, tmp_path / "results", jobs=2)
    frame = SweepResult(tmp_path / "results").to_frame()
    assert frame["error"].isna().all()
    assert frame["workload.n"].tolist() == [5, 5, 6, 6] * 2
    assert frame["strategy"].tolist() == ["randomized"] * 4 + ["topology-aware"] * 4
    expected = [
        simulate_spec(cell.spec, repeat_seed(3, repeat), "reference").counters["trace_hash"]
        for cell in sweep.cells
        for repeat in range(2)
    ]
    assert frame["trace_hash"].tolist() == expected


def test_a_directory_is_extended_by_axes_and_repeats_and_by_nothing_else(tmp_path: Path) -> None:
    results = tmp_path / "results"
    assert run(sweep_of(tmp_path), results).executed == 4
    assert run(sweep_of(tmp_path, repeat=2), results).executed == 4
    assert run(sweep_of(tmp_path, repeat=2, strategy="threshold"), results).executed == 4
    assert (results / "spec.yaml").read_bytes() == (tmp_path / "sweep.yaml").read_bytes()
    with pytest.raises(InputError, match="holds results of another specification"):
        run(sweep_of(tmp_path, head="runtime: own"), results)


def test_variants_of_a_strategy_are_told_apart(tmp_path: Path) -> None:
    run(sweep_of(tmp_path, strategy="{name: randomized, spawn: work-first}"), tmp_path / "results")
    frame = SweepResult(tmp_path / "results").to_frame()
    assert set(frame["strategy"]) == {"randomized", "randomized spawn=work-first"}
    assert frame["run_id"].nunique() == 4


def test_workers_and_node_pairs_add_up_to_the_row(tmp_path: Path) -> None:
    run(sweep_of(tmp_path), tmp_path / "results")
    result = SweepResult(tmp_path / "results")
    frame = result.to_frame().set_index("run_id")
    for name in ("steal_attempts", "steal_success"):
        assert result.workers().groupby("run_id")[name].sum().to_dict() == frame[name].to_dict()
        assert result.node_pairs().groupby("run_id")[name].sum().to_dict() == frame[name].to_dict()
