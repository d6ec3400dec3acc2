"""`ns.run` and `ns.sweep` take paths, names and mappings; the folder of a sweep has a YAML file that runs it again."""

from __future__ import annotations

import gc
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import numasim as ns
from numasim.engine.simulate import DEFAULT_ENGINE, simulate_spec
from numasim.errors import InputError
from numasim.parts.yaml.document import parse, yaml_text
from numasim.parts.yaml.nodes import Place, Source, from_python
from numasim.spec.identity import run_id, spec_hash
from numasim.spec.sweep_spec import load_sweep
from numasim.sweep.run_sweep import run_sweep

BASE: dict[str, Any] = {
    "machine": "xeon-e5-2620-2s",
    "workload": {"name": "fib", "n": 6},
    "strategy": "randomized",
    "workers": 2,
    "seed": 3,
}
SWEEP: dict[str, Any] = {**BASE, "sweep": {"workload.n": [5, 6], "workers": range(2, 5, 2)}}
HERE = Place(Source("", Path()))
CONTROLLER = """\
from numasim.strategy.control.controller import Controls


def same(program, state, measures):
    return state, Controls()
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_run_of_a_mapping_takes_dotted_changes() -> None:
    assert ns.run(BASE, **{"workload.n": 5, "strategy.amount": "half"}).row()["tasks"] == 15
    assert ns.run(SWEEP, workers=1).row()["workers"] == 1
    with pytest.raises(InputError, match=r"there is no field 'wrokers' here.*did you mean 'workers'"):
        ns.run(BASE, wrokers=3)


@pytest.mark.parametrize("collects", [True, False])
def test_a_run_leaves_the_garbage_collector_as_the_user_set_it(collects: bool) -> None:
    (gc.enable if collects else gc.disable)()
    try:
        ns.run(BASE)
        assert gc.isenabled() is collects
    finally:
        gc.enable()


def test_all_fields_may_be_keywords() -> None:
    assert ns.run(**BASE).row() == ns.run(BASE).row()
    frame = ns.sweep(**BASE, directory="here", jobs=1).to_frame()
    assert frame.equals(ns.sweep(BASE, "there", jobs=1).to_frame())
    with pytest.raises(InputError, match="machine: this field is missing"):
        ns.run(workers=2)


def test_a_sweep_of_a_mapping_is_that_of_its_yaml(tmp_path: Path) -> None:
    Path("sweep.yaml").write_text(yaml_text(from_python(SWEEP, HERE).plain()))
    of_file = ns.sweep("sweep.yaml", "a", jobs=1).to_frame()
    made = ns.sweep(SWEEP, "b", jobs=1).to_frame()
    assert made.equals(of_file)
    assert made["workload.n"].tolist() == [5, 5, 6, 6]
    again = load_sweep("b/spec.yaml")
    assert spec_hash(again) == spec_hash(load_sweep(SWEEP)) == spec_hash(load_sweep("sweep.yaml"))
    assert [cell.axes for cell in again.cells] == [cell.axes for cell in load_sweep(SWEEP).cells]
    shards = sorted(path.name for path in (tmp_path / "b/shards").iterdir())
    assert ns.sweep(tmp_path / "b/spec.yaml", "b", jobs=1).to_frame().equals(made)
    assert sorted(path.name for path in (tmp_path / "b/shards").iterdir()) == shards  # nothing was simulated again


def test_the_usual_directory_differs_for_every_other_sweep() -> None:
    first = ns.sweep(SWEEP, jobs=1)
    assert first.directory.parent == Path("results")
    assert ns.sweep(SWEEP, jobs=1, repeat=2).directory == first.directory
    others = [{**SWEEP, "seed": 4}, {**SWEEP, "sweep": {"workload.n": [5]}}, {**SWEEP, "sweep": {"workload.n": [6]}}]
    names = {ns.sweep(other, jobs=1).directory for other in others}
    assert len(names | {first.directory}) == 4
    assert len(first.to_frame()) == 8  # the results of the last call, with two repeats


def test_changes_are_in_the_yaml_that_is_kept() -> None:
    ns.sweep(SWEEP, "here", jobs=1, strategy="threshold", **{"strategy.amount": "half", "model.mlp": 0.5})
    again = load_sweep("here/spec.yaml")
    strategy = again.cells[0].spec.strategy
    assert (strategy.name, strategy.amount) == ("threshold", "half")
    assert again.cells[0].spec.model.mlp == Decimal("0.5")
    changes = {"strategy": "threshold", "strategy.amount": "half", "model.mlp": 0.5}
    assert spec_hash(again) == spec_hash(load_sweep(SWEEP, changes=changes))


def test_changes_of_what_is_an_axis_are_written_into_its_values() -> None:
    """The file in the results folder describes the runs with the changes."""
    sweep = {**BASE, "sweep": {"strategy": ["ring", "randomized"]}}
    del sweep["strategy"]
    made = load_sweep(sweep, changes={"strategy.amount": "half"})
    Path("kept.yaml").write_text(made.text)
    again = [cell.spec for cell in load_sweep("kept.yaml").cells]
    assert [spec.strategy.amount for spec in again] == ["half", "half"]
    assert [run_id(spec, 1) for spec in again] == [run_id(cell.spec, 1) for cell in made.cells]


def test_a_results_folder_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep refers to a machine, a strategy with a controller and a graph, by name and along axes, and has overrides.

    The folder is moved and all other files are gone. The kept files describe the same runs, also when kept again.
    """
    origin = tmp_path / "origin"
    (origin / "parts").mkdir(parents=True)
    (origin / "parts/machine.yaml").write_text("like: xeon-e5-2620-2s\nnodes: {cores: 4}\nclock: {turbo: []}\n")
    (origin / "parts/mine.yaml").write_text("like: randomized\ntune: {python: 'choose:same'}\n")
    (origin / "parts/choose.py").write_text(CONTROLLER)
    graph = '{"tasks": [{"ops": [["run", 0]]}], "segments": [{"compute_ps": SIZE}]}'
    (origin / "one.json").write_text(graph.replace("SIZE", "5"))
    (origin / "two.json").write_text(graph.replace("SIZE", "7"))
    (origin / "sweep.yaml").write_text(
        "machine: parts/machine.yaml\nworkload: {file: one.json}\nworkers: 2\nseed: 3\n"
        "sweep:\n  strategy: [parts/mine.yaml, ring]\n  workload.file: [one.json, two.json]\n"
    )
    made = load_sweep(origin / "sweep.yaml", ["strategy.amount=half", "workers=3"])
    ids = [run_id(cell.spec, 1) for cell in made.cells]
    run_sweep(made, tmp_path / "here", jobs=1, engine=DEFAULT_ENGINE, runner=simulate_spec)
    (tmp_path / "here").rename(tmp_path / "there")
    shutil.rmtree(origin)
    monkeypatch.chdir("/")
    again = load_sweep(tmp_path / "there/spec.yaml")
    assert [run_id(cell.spec, 1) for cell in again.cells] == ids
    assert again.cells[0].spec.workers == 3
    assert again.cells[0].spec.strategy.amount == "half"
    assert again.files == made.files
    assert again.text == made.text
    ns.sweep(tmp_path / "there/spec.yaml", tmp_path / "once more", jobs=1)
    results = [pq.read_table(tmp_path / name / "results.parquet") for name in ("there", "once more")]
    assert results[0]["makespan_ps"] == results[1]["makespan_ps"]


def test_arrays_are_lists_of_values() -> None:
    axes = {"workers": np.arange(2, 5), "model.mlp": np.array([0.5, 1.0]), "seed": np.int64(4) * np.ones(1, np.int32)}
    cells = load_sweep({**BASE, "sweep": axes}).cells
    assert [cell.axes["workers"] for cell in cells] == [2, 2, 3, 3, 4, 4]
    assert cells[0].axes["model.mlp"] == Decimal("0.5")


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ue000\ufffe\uffff"), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.decimals(-(10**9), 10**9, places=3) | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS | st.integers(0, 99), inner, max_size=3)
)


@given(st.dictionaries(st.sampled_from(["a", "b", "sweep"]), VALUES, min_size=1), st.booleans())
@settings(max_examples=150)
def test_what_is_written_is_read_again(document: dict[str, Any], in_blocks: bool) -> None:
    blocks = [key for key, value in document.items() if in_blocks and value and isinstance(value, dict | list)]
    node = from_python(document, HERE)
    assert parse(yaml_text(node.plain(), blocks=blocks), Source("text", Path())).plain() == node.plain()


def test_zipped_axes_and_single_cells_are_kept() -> None:
    axes = {
        "zip": [{"workers": [2, 3], "workload.n": [4, 5]}],
        "strategy": ["ring", "randomized"],
        "include": [{"workers": 4}],
        "exclude": [{"strategy": "ring", "workers": [3]}],
    }
    sweep = load_sweep({**BASE, "sweep": axes})
    Path("spec.yaml").write_text(sweep.text)
    assert [cell.axes for cell in load_sweep("spec.yaml").cells] == [cell.axes for cell in sweep.cells]
