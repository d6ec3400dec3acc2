"""Every kernel, a benchmark with tasks, has the result of its serial code; numasim simulates the graphs they record."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from recorded_graphs import SMALL, recorded

import numasim as ns


def kernels(program: Path) -> list[dict[str, Any]]:
    listed = subprocess.run([program, "--list", "--json"], capture_output=True, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(listed.stdout)["kernels"]
    return found


def test_every_kernel_is_tested(program: Path) -> None:
    assert sorted(kernel["name"] for kernel in kernels(program)) == sorted({name.split()[0] for name in SMALL})


@pytest.mark.parametrize("label", SMALL)
def test_a_kernel_is_correct_and_what_it_records_is_simulated(label: str, program: Path, tmp_path: Path) -> None:
    run, graph = recorded(program, tmp_path, label.split(maxsplit=1)[0], workers=3, **SMALL[label])
    assert run.serial_ps is not None
    assert run.columns["tasks"] == graph.tasks == graph.facts["tasks"]
    assert run.columns["work_local_ps"] == graph.segment_compute_ps.sum() == run.makespan_ps
    spec = {"machine": "xeon-e5-2620-2s", "workload": {"file": str(tmp_path / f"{label.split(maxsplit=1)[0]}.json")}}
    result = ns.run({**spec, "strategy": "randomized", "workers": 3, "seed": 1}, check=True)
    assert result.row()["tasks"] == run.columns["tasks"]


@pytest.mark.parametrize("label", SMALL)
def test_measured_segments_are_recorded_before_every_call_and_at_the_end(
    label: str, program: Path, tmp_path: Path
) -> None:
    _, graph = recorded(program, tmp_path, label.split(maxsplit=1)[0], workers=3, costs="measured", **SMALL[label])
    for task in range(graph.rows):
        codes = graph.op_code[graph.op_ptr[task] : graph.op_ptr[task + 1]]
        assert not codes[::2].any()  # RUN
        assert codes[1::2].all()


@pytest.mark.parametrize("label", ["cholesky", "fft", "matmul", "mergesort", "sparselu", "stencil", "strassen"])
def test_objects_can_be_left_out(label: str, program: Path, tmp_path: Path) -> None:
    _, with_objects = recorded(program, tmp_path, label, **SMALL[label])
    _, without = recorded(program, tmp_path, label, objects=0, **SMALL[label])
    assert len(with_objects.accesses)
    assert not without.regions
    assert not len(without.accesses)
    assert (without.op_code == with_objects.op_code).all()
    assert (without.segment_compute_ps == with_objects.segment_compute_ps).all()
