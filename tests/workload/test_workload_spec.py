"""Parameters of benchmarks: names, defaults, limits, and messages about wrong values."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from workload_setup import make

from numasim.errors import InputError
from numasim.spec.one_run import load_run
from numasim.workload import families
from numasim.workload.parameters import WorkloadFile
from numasim.workload.registry import MODULES, PARAMETERS, workload_spec, workload_union

ADAPTER: TypeAdapter[Any] = TypeAdapter(workload_union())
FAMILY_PREFIX = f"{families.__name__}."
TIMES = {"low_ns": 1, "high_ns": 2}


def test_the_table_of_names_is_what_the_modules_define() -> None:
    found = {
        family.name: module.name.removeprefix(FAMILY_PREFIX)
        for module in walk_packages(families.__path__, FAMILY_PREFIX)
        if not module.ispkg
        for family in import_module(module.name).FAMILIES
    }
    assert found == MODULES


def test_a_mapping_becomes_its_own_model() -> None:
    for name in ("matmul", "strassen"):
        assert type(ADAPTER.validate_python({"name": name, "n": 64})) is PARAMETERS[name]
    assert ADAPTER.validate_python({"file": "graph.json"}) == WorkloadFile(file="graph.json")
    rate = {"ps_per_1000_flops": 117_200}
    assert (
        workload_spec("sparselu-for").model_dump()
        == {"name": "sparselu-for", "blocks": 128, "block_size": 64, "element_bytes": 4, "alignment": 1} | rate
    )


def test_an_unknown_name_proposes_the_nearest() -> None:
    with pytest.raises(InputError, match=r"there is no workload 'strasen'.*did you mean 'strassen'"):
        workload_spec("strasen", n=64)
    with pytest.raises(
        ValidationError, match=r"'strasen' found .* does not match any of the expected tags: .*'cholesky', 'fft'"
    ):
        ADAPTER.validate_python({"name": "strasen", "n": 64})


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("matmul", {"n": 0}, "greater than or equal to 1"),
        ("matmul", {"n": "8"}, "a whole number is needed"),
        ("matmul", {}, "Field required"),
        ("matmul", {"m": 8}, "Extra inputs are not permitted"),
        ("strassen", {"n": 1000}, "a power of two is needed here, for example 512 or 1024"),
        (
            "strassen",
            {"n": 65536},
            "n: 65536 makes 329,554,457 tasks, and at most 8,000,000 fit; expected at most 16384",
        ),
        ("strassen", {"n": 64, "cutoff_version": "if"}, "'none' or 'manual'"),
        ("sort", {"n": 2**27, "merge_cutoff": 2}, "n: 134217728 makes .* tasks, and at most 8,000,000 fit"),
        ("nqueens", {"n": 13}, "n: 13 makes 59,815,315 tasks, and at most 8,000,000 fit; expected at most 11"),
        ("fft", {"n": 48}, "a power of two is needed here, for example 32 or 64"),
        ("uts", {"probability": 0.5}, "children x probability is below 1"),
        ("uts", {"depth": 4}, "depth is no parameter of a binomial tree"),
        ("uts", {"tree": "geometric", "children": 4}, "children is no parameter of a geometric tree"),
        ("uts", {"tree": "round"}, "'binomial' or 'geometric'"),
        ("independent", {"tasks": 3, "low_ns": 3, "high_ns": 2}, "low_ns = 3 is above high_ns = 2"),
        (
            "random-layered",
            {"layers": 9_000, "width": 9_000, **TIMES},
            "layers: 9000 makes 162,000,001 tasks, and at most 8,000,000 fit; expected at most 444",
        ),
        (
            "spinlock",
            {"threads": 9, "acquisitions": 1_000_000},
            "threads: 9 makes 9,000,000 tasks, and at most 8,000,000 fit; expected at most 8",
        ),
        ("syncbench", {"construct": "for", "threads": 9, "repetitions": 1_000_000}, "threads: 9 makes 9,000,009 tasks"),
        ("reduce", {"emits": 10, "key_range": 9}, "key_range: 9 keys are too few"),
        ("reduce", {"emits": 10, "threads": 2, "nodes": (0, 1, 1)}, "got 3 nodes for 2 threads"),
        ("ga", {"islands": 2, "individuals": 5, "migrants": 3}, "3 of 5 individuals; expected at most half"),
    ],
)
def test_bad_parameters(name: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        workload_spec(name, **parameters)


def test_layered_tasks_depend_on_the_layer_before() -> None:
    work = make("random-layered", layers=4, width=6, degree=3, **TIMES)
    edges = list(zip(work.predecessor.tolist(), work.successor.tolist(), strict=True))
    assert len(edges) == len(set(edges)) == work.facts["edges"]
    assert all((after - 1) // 6 == (task - 1) // 6 + 1 for task, after in edges)
    assert {after for _, after in edges} == set(range(7, 25))


def test_who_names_a_file_as_a_workload_is_told_how_graphs_are_given(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text(
        "machine: xeon-e5-2620-2s\nworkload: mine.json\nstrategy: randomized\nworkers: 2\n"
    )
    with pytest.raises(
        InputError, match=r"run.yaml:2:11: .*no workload 'mine.json'.* or \{file: graph.json\} for a task"
    ):
        load_run(tmp_path / "run.yaml")
