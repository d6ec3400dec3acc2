import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from hashlib import blake2b
from pathlib import Path

import pytest

from numasim.parts.base import canonical_json
from numasim.plan.build_plan import build_plan
from numasim.spec.identity import MODEL_VERSION, identity, run_id, spec_hash
from numasim.spec.one_run import load_run
from numasim.spec.run_spec import resolve
from numasim.spec.sweep_spec import load_sweep

Write = Callable[..., Path]


def hash_of(path: Path, *sets: str, seed: int = 1) -> str:
    return run_id(load_run(path, sets), seed)


def test_canonical_json() -> None:
    value = {"b": [Decimal("1.50"), Decimal(100), None], "a": {"y": True, "x": "é"}}
    assert canonical_json(value) == '{"a":{"x":"\\u00e9","y":true},"b":["1.5","1E+2",null]}'
    with pytest.raises(TypeError, match="has no canonical JSON"):
        canonical_json({"a": object()})


def test_the_identity_is_the_hash_of_the_canonical_contents(run_file: Write) -> None:
    spec = load_run(run_file())
    names = {"name", "sources"}
    contents = {
        "model_version": MODEL_VERSION,
        "machine": json.loads(canonical_json(spec.machine.model_dump(exclude=names))),
        "workload": json.loads(canonical_json(spec.workload.model_dump())),
        "strategy": json.loads(canonical_json(spec.strategy.model_dump(exclude=names))),
        "runtime": json.loads(canonical_json(spec.runtime.model_dump(exclude=names))),
        "model": json.loads(canonical_json(spec.model.model_dump(exclude={"skip"}))),
        "workers": 24,
        "seed": 99,
    }
    text = json.dumps(contents, sort_keys=True, separators=(",", ":"))
    assert run_id(spec, 99) == blake2b(text.encode(), digest_size=16).hexdigest()


def test_the_columns_of_a_single_run_name_its_parts_and_the_file_of_a_graph(run_file: Write, tmp_path: Path) -> None:
    spec = load_run(run_file(), ["strategy.name=mine", "seed=5"])
    assert identity(spec, 99, "reference") == {
        "run_id": run_id(spec, 99),
        "seed": 5,
        "repeat": 0,
        "engine": "reference",
        "machine": spec.machine.name,
        "workload": "strassen",
        "strategy": "mine",
        "workers": 24,
    }
    graph = tmp_path / "graph.json"
    graph.write_text("{}")
    spec = load_run(run_file(), [f"workload={{file: {graph}}}"])
    assert identity(spec, 0, "reference")["workload"] == str(graph)


@pytest.mark.parametrize(
    ("change", "is_content"),
    [
        ("repeat=9", False),
        ("model.skip=off", False),
        ("machine.name=other", False),
        ("machine.sources={latency_ns: a guess}", False),
        ("strategy.name=other", False),
        ("strategy={name: x, steal: [{from: others, pick: random}]}", False),  # a default value, written out
        ("runtime=ompi", False),  # the default runtime of this workload
        ("machine.clock.base_ghz=2", False),  # the value is 2.0 in the file
        ("seed=3", False),  # the identity has the seed of the repeat instead
        ("workers=23", True),
        ("workload.n=512", True),
        ("machine.latency_ns[0][1]=124.8", True),
        ("strategy.amount=half", True),
        ("runtime.costs.push_ns=1", True),
        ("runtime=bare", True),
        ("strategy.placement=interleave", True),
    ],
)
def test_contents_alone_make_another_run(run_file: Write, change: str, is_content: bool) -> None:
    assert (hash_of(run_file(), change) != hash_of(run_file())) == is_content


def test_a_spec_that_went_to_another_process_is_the_same_run(run_file: Write) -> None:
    spec = load_run(run_file())
    before = run_id(spec, 1)
    copy = pickle.loads(pickle.dumps(spec))
    assert vars(copy) == vars(spec)
    assert run_id(copy, 1) == before


def test_copies_elsewhere_are_the_same_runs(folder: Path, run_file: Write) -> None:
    before = hash_of(run_file())
    (folder / "else").mkdir()
    (folder / "else" / "moved.yaml").write_text("# moved\n" + (folder / "machine.yaml").read_text())
    assert hash_of(run_file(), "machine=./else/moved.yaml") == before


def test_sweeps_that_may_share_a_directory(run_file: Write) -> None:
    def digest(extra: str, *sets: str) -> str:
        return spec_hash(load_sweep(run_file(extra), sets))

    base = digest("sweep: {seed: [1, 2]}\n")
    assert digest("repeat: 7\nsweep: {seed: [1, 2, 3], strategy: [ring, randomized]}\n") == base
    assert digest("# only a comment\nmodel: {skip: off}\n") == digest("model: {}\n")
    assert digest("", "strategy.name=other", "repeat=2") == base
    for change in ("workers=23", "seed=4", "workload.n=128", "strategy.refill=1", "runtime=bare"):
        assert digest("", change) != base


def test_run_identities_do_not_depend_on_the_sweep(run_file: Write) -> None:
    cells = load_sweep(run_file("sweep: {workers: [2, 4], strategy: [ring, randomized]}\n")).cells
    alone = load_run(run_file(), ["workers=4", "strategy=ring"])
    assert run_id(cells[2].spec, 5) == run_id(alone, 5)
    assert run_id(replace(alone, repeat=9), 5) == run_id(alone, 5)


def test_a_copy_with_another_value_is_another_program() -> None:
    """A copy with another field keeps no value derived from the old fields, such as the text that finds its plan."""
    strassen = {"name": "strassen", "n": 128}
    spec = resolve({"machine": "xeon-e5-2620-2s", "workload": strassen, "strategy": "randomized", "workers": 24})
    plan, text = build_plan(spec), spec.workload.whole_json
    doubled = {"ps_per_1000_flops": 2 * spec.workload.ps_per_1000_flops}  # type: ignore[union-attr]
    copied = replace(spec, workload=spec.workload.model_copy(update=doubled))
    assert copied.workload.whole_json != text
    assert build_plan(copied).workload.segment_compute_ps.sum() > plan.workload.segment_compute_ps.sum()
