"""`numasim validate --quick` with the compiled runtime: with the model's costs every counter equals the simulator's,
with measured costs the counters that do not depend on time.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from numasim.cli import CHECK_FAILED, OK, main
from numasim.validate.part_files import part_names, part_of, read_part

Capture = pytest.CaptureFixture[str]

KERNELS = ("fib", "spinlock", "stencil", "syncbench")


pytestmark = pytest.mark.usefixtures("program")


def test_counters_with_model_costs_are_those_of_the_simulator(tmp_path: Path, capsys: Capture) -> None:
    chosen = [text for kernel in KERNELS for text in ("--kernel", kernel)]
    assert main(["validate", "exact", "--quick", *chosen, "-o", str(tmp_path), "--json"]) == OK
    (part,) = json.loads(capsys.readouterr().out)["parts"]
    assert {each["kernel"] for each in part["equalities"]} == set(KERNELS)
    assert {tuple(each["differing"]) for each in part["equalities"]} == {()}
    assert min(each["values"] for each in part["equalities"]) > 6 * 10  # counters by worker alone


def test_bytes_and_tasks_do_not_hang_on_measured_times(tmp_path: Path, capsys: Capture) -> None:
    chosen = ["--kernel", "stencil", "--kernel", "fft"]
    assert main(["validate", "virtual", "--quick", *chosen, "-o", str(tmp_path), "--json"]) in (OK, CHECK_FAILED)
    (part,) = json.loads(capsys.readouterr().out)["parts"]
    moved = [each for each in part["comparisons"] if each["quantity"] == "bytes"]
    assert {each["kernel"] for each in moved} == {"stencil", "fft"}
    assert {each["distance"] for each in moved} == {0.0}
    assert (tmp_path / "index.html").is_file()


CONTROLLED = """\
title: Strategies with a controller
mode: {mode}
costs: {costs}
machine: xeon-6130-4s
runtime: ompi
kernels: [{{kernel: fft, set: {{n: 512}}}}]
strategies: [cats, laws]
workers: [1, 6]
"""


def test_a_strategy_may_have_a_controller(tmp_path: Path, capsys: Capture) -> None:
    """FFT has two iterations, so each controller decides by the measurements of the first iteration."""
    parts = {"exact": ("virtual", "model"), "measured": ("virtual", "measured")}
    for name, (mode, costs) in parts.items():
        (tmp_path / f"{name}.yaml").write_text(CONTROLLED.format(mode=mode, costs=costs))
    files = [str(tmp_path / f"{name}.yaml") for name in parts]
    assert main(["validate", *files, "-o", str(tmp_path / "out"), "--json"]) == OK
    exact, measured = json.loads(capsys.readouterr().out)["parts"]
    assert {tuple(each["differing"]) for each in exact["equalities"]} == {()}
    assert {each["strategy"] for each in measured["comparisons"]} == {"cats", "laws"}


@pytest.mark.parametrize("name", part_names())
def test_shipped_parts_are_sound(name: str) -> None:
    _, file = read_part(name)
    own = {"machine": file.machine or "xeon-e5-2620-2s", "runtime": file.runtime or "bare"}
    whole, quick = (part_of(name, quick=quick, **own) for quick in (False, True))
    assert 0 < len(quick.cells) * quick.repeats < len(whole.cells) * whole.repeats


@pytest.mark.parametrize("name", ["virtual", "native"])
def test_a_quick_validation_has_cells_of_the_whole_one(name: str) -> None:
    """The bounds were set for programs of these sizes: in smaller programs, the overheads of tasks are not small."""
    whole, quick = (part_of(name, quick=quick, machine="xeon-e5-2620-2s", runtime="bare") for quick in (False, True))
    assert {cell.label for cell in quick.cells} < {cell.label for cell in whole.cells}
    assert {cell.program.kernel for cell in quick.cells} == {cell.program.kernel for cell in whole.cells}
