"""Directories that a sweep refuses; a refused directory is not changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from toy_sweep import refuse, run_toy, sweep_toy, toy_sweep

from numasim.errors import InputError
from numasim.files.owned_folder import MANIFEST
from numasim.spec import identity
from numasim.sweep import run_sweep
from numasim.sweep.store.results_store import PROVENANCE, SHARDS, SPEC
from numasim.sweep.store.results_tables import RESULTS


def contents(directory: Path) -> dict[str, bytes | None]:
    """Return every path below ``directory``, with the bytes of the files."""
    return {
        str(path.relative_to(directory)): path.read_bytes() if path.is_file() else None for path in directory.rglob("*")
    }


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("/proc/results", r"/proc/results: cannot be written"),
        (".", r"holds files that `numasim sweep` did not write, .* expected a new or empty"),
    ],
)
def test_a_place_where_no_directory_can_be(tmp_path: Path, place: str, problem: str) -> None:
    (tmp_path / SPEC).write_text("seed: 7")
    before = contents(tmp_path)
    with pytest.raises(InputError, match=problem):
        sweep_toy(toy_sweep(), tmp_path / place, refuse)
    assert contents(tmp_path) == before


def test_results_of_another_specification(tmp_path: Path) -> None:
    sweep_toy(toy_sweep(seed=7), tmp_path)
    before = contents(tmp_path)
    with pytest.raises(InputError, match=r"holds results of another specification, see its spec.yaml; expected a new"):
        sweep_toy(toy_sweep(seed=8), tmp_path, refuse)
    assert contents(tmp_path) == before


def test_results_of_another_model_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hash of a specification includes the version, but the message names the version and not the hash."""
    with monkeypatch.context() as older:
        older.setattr(identity, "MODEL_VERSION", 3)
        older.setattr(run_sweep, "MODEL_VERSION", 3)
        sweep_toy(toy_sweep(), tmp_path)
    now = identity.MODEL_VERSION
    with pytest.raises(InputError, match=f"holds results of model version 3, and this numasim has version {now}"):
        sweep_toy(toy_sweep(), tmp_path, refuse)


def test_a_new_directory_is_made_with_its_parents_and_holds_no_leftovers(tmp_path: Path) -> None:
    results = tmp_path / "a" / "b"
    sweep_toy(toy_sweep(), results)
    tables = {f"{name}.parquet" for name in ("workers", "node_pairs", "iterations", "timing")}
    names = {MANIFEST, SPEC, PROVENANCE, SHARDS, RESULTS, *tables}
    assert {path.name for path in results.iterdir()} == names
    assert (results / SPEC).read_text() == toy_sweep().text


def test_provenance_says_what_wrote_here_once_per_kind_of_process(tmp_path: Path) -> None:
    sweep_toy(toy_sweep(), tmp_path)
    sweep_toy(toy_sweep(), tmp_path)
    provenance = json.loads((tmp_path / PROVENANCE).read_text())
    (entry,) = provenance["history"]
    assert {"command", "numasim", "model_version", "python", "platform", "dependencies"} == set(entry)


DAMAGE = {
    "cut": lambda content: content[:-100],
    "empty": lambda content: b"",
    "altered": lambda content: content[:50] + bytes([content[50] ^ 1]) + content[51:],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_shard_is_refused_and_its_runs_are_done_anew_without_it(tmp_path: Path, damage: str) -> None:
    sweep_toy(toy_sweep(repeat=1), tmp_path)
    sweep_toy(toy_sweep(repeat=2), tmp_path)
    before = (tmp_path / RESULTS).read_bytes()
    shard = min((tmp_path / SHARDS).iterdir())
    shard.write_bytes(DAMAGE[damage](shard.read_bytes()))
    with pytest.raises(InputError, match=rf"{shard.name}: is damaged.*delete it and run the sweep again"):
        sweep_toy(toy_sweep(repeat=2), tmp_path, refuse)
    shard.unlink()
    outcome = sweep_toy(toy_sweep(repeat=2), tmp_path, run_toy)
    assert 0 < outcome.executed < outcome.rows
    assert (tmp_path / RESULTS).read_bytes() == before


@pytest.mark.parametrize("name", ["other.parquet", "folder"])
def test_what_no_sweep_wrote_among_the_shards_is_refused(tmp_path: Path, name: str) -> None:
    sweep_toy(toy_sweep(), tmp_path)
    foreign = tmp_path / SHARDS / name
    if name == "folder":
        foreign.mkdir()
    else:
        foreign.write_bytes((tmp_path / RESULTS).read_bytes())
    with pytest.raises(InputError, match=rf"{name}: is damaged, or was not written by a sweep"):
        sweep_toy(toy_sweep(), tmp_path, refuse)
    assert foreign.exists()
