from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from numasim.errors import InputError
from numasim.spec.sweep_spec import SweepSpec, load_sweep

Write = Callable[..., Path]


def sweep(run_file: Write, text: str, *sets: str) -> SweepSpec:
    return load_sweep(run_file(f"sweep:\n{text}"), sets)


def axes(run_file: Write, text: str, *sets: str) -> list[dict[str, Any]]:
    made = sweep(run_file, text, *sets)
    assert [cell.index for cell in made.cells] == list(range(len(made.cells)))
    return [cell.axes for cell in made.cells]


def refusal(run_file: Write, text: str, *sets: str) -> str:
    with pytest.raises(InputError) as caught:
        sweep(run_file, text, *sets)
    return str(caught.value)


def test_product_with_the_last_axis_fastest(run_file: Write) -> None:
    cells = sweep(run_file, "  workers: [2, 4]\n  workload.n: [64, 128, 256]\n").cells
    found = [(cell.spec.workers, cell.spec.workload.model_dump()["n"]) for cell in cells]
    assert found == [(2, 64), (2, 128), (2, 256), (4, 64), (4, 128), (4, 256)]
    assert cells[1].axes == {"workers": 2, "workload.n": 128}


def test_ranges(run_file: Write) -> None:
    for text, values in (
        ("{from: 2, to: 8, step: 2}", [2, 4, 6, 8]),
        ("{from: 2, to: 9, step: 3}", [2, 5, 8]),
        ("{from: 5, to: 5}", [5]),
        ("{from: 1, to: 3}", [1, 2, 3]),
    ):
        assert [cell["workers"] for cell in axes(run_file, f"  workers: {text}\n")] == values
    cells = sweep(run_file, "  runtime.costs.push_ns: {from: 0.1, to: 0.3, step: 0.1}\n").cells
    assert [cell.spec.runtime.costs.push_ns for cell in cells] == [Decimal("0.1"), Decimal("0.2"), Decimal("0.3")]


def test_zip_advances_together_and_counts_as_one_axis(run_file: Write) -> None:
    text = "  seed: [1, 2]\n  zip: {workers: [2, 4], workload.n: [64, 128]}\n"
    assert axes(run_file, text) == [
        {"seed": 1, "workers": 2, "workload.n": 64},
        {"seed": 1, "workers": 4, "workload.n": 128},
        {"seed": 2, "workers": 2, "workload.n": 64},
        {"seed": 2, "workers": 4, "workload.n": 128},
    ]


def test_several_zips(run_file: Write) -> None:
    text = "  zip: [{workers: [2, 4], seed: [5, 6]}, {workload.n: [64, 128], strategy: [ring, randomized]}]\n"
    made = sweep(run_file, text)
    assert len(made.cells) == 4
    assert made.axes == ("workers", "seed", "workload.n", "strategy")
    assert made.cells[1].axes == {"workers": 2, "seed": 5, "workload.n": 128, "strategy": "randomized"}


def test_include_adds_and_exclude_takes_away_last(run_file: Write) -> None:
    text = "  workers: [2, 4]\n  seed: [1, 2]\n  include: [{workers: 3}, {workload.n: 64}]\n"
    text += "  exclude: [{workers: 4, seed: [2, 9]}]\n"
    made = sweep(run_file, text)
    assert [cell.axes for cell in made.cells] == [
        {"workers": 2, "seed": 1},
        {"workers": 2, "seed": 2},
        {"workers": 4, "seed": 1},
        {"workers": 3},
        {"workload.n": 64},
    ]
    assert made.axes == ("workers", "seed", "workload.n")
    assert (made.cells[3].spec.workers, made.cells[3].spec.seed) == (3, 0)
    assert axes(run_file, "  workers: [2, 4]\n  include: [{workers: 3}]\n  exclude: [{workers: 3}]\n") == [
        {"workers": 2},
        {"workers": 4},
    ]
    assert axes(run_file, "  include: [{workers: 3}, {workers: 5}]\n") == [{"workers": 3}, {"workers": 5}]


def test_mappings_as_values(run_file: Write) -> None:
    made = sweep(run_file, "  strategy: [ring, {like: ring, refill: 2}]\n  strategy.amount: [one, half]\n")
    found = [(cell.spec.strategy.refill, cell.spec.strategy.amount) for cell in made.cells]
    assert found == [(0, "one"), (0, "half"), (2, "one"), (2, "half")]
    assert made.cells[2].axes["strategy"] == {"like": "ring", "refill": 2}


def test_without_axes_there_is_one_cell(run_file: Write) -> None:
    made = load_sweep(run_file("repeat: 3\nseed: 9\n"))
    assert (len(made.cells), made.axes, made.repeat, made.seed, made.runs) == (1, (), 3, 9, 3)


def test_set_reaches_fields_and_axes(run_file: Write) -> None:
    assert axes(run_file, "  workers: [2, 4]\n", "sweep.workers=[6]") == [{"workers": 6}]
    assert sweep(run_file, "  workers: [2, 4]\n", "repeat=5").runs == 10
    made = sweep(run_file, "  workers: [2, 4]\n", "seed=5")
    assert {cell.spec.seed for cell in made.cells} == {5}
    assert "\nmachine: {name: toy, " in made.text  # the contents of ./machine.yaml, beside the text
    assert "\nseed: 5\n" in made.text


REFUSED = {
    "  wrokers: [2]\n": "run.yaml:6:3: sweep: there is no field 'wrokers' here; expected one of machine",
    "  workload.m: [2]\n": "run.yaml:6:3: workload: there is no field 'm' here (in cell 0: workload.m = 2)",
    "  repeat: [2]\n": "run.yaml:6:3: sweep: repeat cannot be an axis",
    "  workload: {n: [2, 4]}\n": "run.yaml:6:13: sweep.workload: got a mapping; expected a list of values, or "
    "{from: 2, to: 24, step: 2}; nested fields are dotted, such as workload.n: [1, 2]",
    "  workers: {from: 4, too: 8}\n": "run.yaml:6:22: sweep.workers: there is no field 'too' here; expected one of "
    "from, to, step; did you mean 'to'?",
    "  workers: {from: 1, to: 10000000}\n": "run.yaml:6:12: sweep.workers: the range from 1 to 10000000 in steps of 1",
    "  zip: {workers: [2, 4], seed: [1]}\n": "run.yaml:6:26: sweep.zip.seed: this axis has 1 values, but 'workers' "
    "beside it has 2; expected axes of equal length under zip",
    "  workers: [2]\n  zip: {workers: [4], seed: [1]}\n": "run.yaml:7:9: sweep: the axis 'workers' is given twice",
    "  include: {workers: 2}\n": "run.yaml:6:12: sweep.include: got a mapping; expected a list of cells",
    "  include: [{wrokers: 2}]\n": "run.yaml:6:14: sweep: there is no field 'wrokers' here",
    "  workers: [2]\n  exclude: [{worker: 2}]\n": "run.yaml:7:14: sweep.exclude: there is no axis 'worker' in this "
    "sweep; expected one of workers; did you mean 'workers'?",
    "  workers: [2, 48]\n": "run.yaml:6:16: workers: got 48 workers, but 'toy' has 24 hardware threads (in cell 1: "
    "workers = 48); expected 1 to 24",
    "  seed: {from: 1, to: 2000}\n  zip: {workload.n: {from: 1, to: 2000}}\n": "run.yaml:6:3: sweep: the sweep has "
    "4,000,000 cells; expected at most 1,000,000",
    "  {}\n": "run.yaml:6:3: sweep: there is no axis; expected at least one axis",
    "  [workers]\n": "run.yaml:6:3: sweep: got a list; expected a mapping of axes to lists of values",
}


@pytest.mark.parametrize(("text", "message"), REFUSED.items())
def test_refusals(run_file: Write, text: str, message: str) -> None:
    assert refusal(run_file, text).startswith(message)


def test_setting_an_axis_is_refused(run_file: Write) -> None:
    assert refusal(run_file, "  workers: [2]\n", "workers=4") == (
        "--set workers=4: workers is an axis of this sweep; "
        "expected another field, or sweep.workers=[...] to change the axis"
    )


def test_ten_thousand_cells_are_made_of_a_few_parts(run_file: Write) -> None:
    """The common parts of cells are read and checked once; otherwise so many cells would take minutes."""
    text = "  workers: {from: 1, to: 20}\n  seed: {from: 1, to: 100}\n  workload.n: [64, 128, 256, 512, 1024]\n"
    cells = sweep(run_file, text).cells
    assert len(cells) == 10_000
    assert len({id(cell.spec.workload) for cell in cells}) == 5
    for part in ("machine", "strategy", "runtime", "model"):
        assert len({id(getattr(cell.spec, part)) for cell in cells}) == 1
