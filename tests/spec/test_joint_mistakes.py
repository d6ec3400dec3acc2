"""All mistakes of a specification are reported together, once each, in file order. A check that needs the value of a
wrong field is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from small_inputs import TOY_MACHINE, TOY_RUN

from numasim.cli import BAD_INPUT, main
from numasim.errors import MOST_TOLD, InputError, JointInputError, for_each, together
from numasim.spec.one_run import load_run
from numasim.spec.sweep_spec import load_sweep

WRONG = """\
machine: ./machin.yaml
workload: {name: fib, m: 6}
strategy: {stael: [{from: othres}], queues: 3, amount: hlaf}
wrokers: 3
seed: -1
model: {cache: shared, contention: flood}
"""


def places(error: InputError) -> list[str]:
    """Return the place of each mistake: line and column, and the field."""
    return [f"{(each.place or '').partition(':')[2]} {'.'.join(map(str, each.path))}".strip() for each in error.each]


def mistakes(text: str, sets: Sequence[str] = (), sweep: bool = False) -> list[str]:
    Path("run.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        (load_sweep if sweep else load_run)("run.yaml", sets)
    return places(caught.value)


@pytest.mark.usefixtures("folder")
def test_all_parts_are_looked_at_and_a_missing_field_may_be_the_misspelt_one() -> None:
    assert mistakes(WRONG) == [
        "1:10",  # the file does not exist
        "2:23 workload",
        "3:12 strategy",
        "3:45 strategy.queues",
        "3:56 strategy.amount",
        "4:1",
        "5:7 seed",
        "6:16 model.cache",
        "6:36 model.contention",
    ]


def test_the_representation_has_field_and_place() -> None:
    """Notebooks, debuggers and logs show the representation of an error, so it has the field and the place."""
    error = InputError("got 'x'", path=("steal", 0, "from"), place="mine.yaml:3:7", expected="others")
    assert repr(error) == "InputError(\"got 'x'\", path='steal[0].from', place='mine.yaml:3:7', expected='others')"
    assert repr(InputError("got nothing")) == "InputError('got nothing')"
    assert repr(together([error, InputError("more")])).startswith("JointInputError(\"got 'x'\", path='steal[0].from'")


@pytest.mark.usefixtures("folder")
def test_the_command_line_prints_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    Path("run.yaml").write_text(TOY_RUN + "wrokers: 3\nseed: -1\n")
    assert main(["run", "run.yaml"]) == BAD_INPUT
    assert capsys.readouterr().err == (
        "numasim: run.yaml:5:1: there is no field 'wrokers' here; expected one of machine, workload, strategy, "
        "runtime, workers, model, seed, repeat, sweep; did you mean 'workers'?\n"
        "numasim: run.yaml:6:7: seed: got -1; expected at least 0\n"
    )


def test_mistakes_of_a_part_in_a_file_of_its_own_stand_in_its_order(folder: Path) -> None:
    lines = TOY_MACHINE.replace("sockets: 2", "sockets: two").replace("caches: {}", "caches: {lcc: 1MiB}").splitlines()
    (folder / "machine.yaml").write_text("\n".join(line for line in lines if not line.startswith("clock")))
    assert mistakes(TOY_RUN.replace("workers: 24", "workers: 0")) == [
        "4:10 workers",  # the workers are read first; then the machine's file from top to bottom
        "1:1 machine.clock",
        "2:10 machine.sockets",
        "4:10 machine.caches",
    ]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("extra", "found"),
    [
        ("", ["4:10 workers"]),  # more workers than the machine has
        ("model: {background: {nodes: {5: 1}}}\n", ["4:10 workers", "5:30 model.background.nodes.5"]),
        (
            "model: {cache: 1, background: {nodes: {5: 1}}}\n",
            ["5:16 model.cache"],
        ),  # wrong settings: no further checks
    ],
)
def test_checks_of_parts_together_need_those_parts_alone(extra: str, found: list[str]) -> None:
    assert mistakes(TOY_RUN.replace("workers: 24", "workers: 25") + extra) == found


@pytest.mark.usefixtures("folder")
def test_changes_are_looked_at_together() -> None:
    assert mistakes(TOY_RUN, ["workers=x", "seed=-1", "wrokers=2"]) == ["", "workers", "seed"]
    assert mistakes(TOY_RUN, ["workers", "a..b=1"]) == ["", ""]


@pytest.mark.usefixtures("folder")
def test_every_axis_and_what_no_axis_changes_is_looked_at() -> None:
    axes = "sweep:\n  wrokers: [2]\n  seed: []\n  strategy: [ring, ring]\n"
    text = TOY_RUN.replace("workers: 24\n", "").replace("strassen, n: 256", "strassen, m: 256") + axes
    assert mistakes(text, sweep=True) == ["2:28 workload", "5:3 sweep", "6:9 sweep.seed", "7:20 sweep.strategy"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("axes", "found"), [("{wrokers: [2]}", "5:9 sweep"), ("{}", "5:8 sweep"), ("[]", "5:8 sweep")])
def test_axes_may_be_all_that_is_wrong(axes: str, found: str) -> None:
    assert mistakes(f"{TOY_RUN}sweep: {axes}\n", sweep=True) == [found]  # the missing fields hide no check


@pytest.mark.usefixtures("folder")
def test_every_wrong_value_of_an_axis_is_found_in_the_first_cell_that_has_it() -> None:
    axes = "sweep:\n  strategy: [rnig, ring, tow-choices]\n  workers: [48, 2, 96]\n"
    text = TOY_RUN.replace("workers: 24\n", "") + axes
    assert mistakes(text, sweep=True) == ["5:14 strategy", "5:26 strategy", "6:13 workers", "6:20 workers"]
    with pytest.raises(InputError) as caught:
        load_sweep("run.yaml")
    cells = [each.problem.partition("(in cell ")[2][:1] for each in caught.value.each]
    assert cells == ["0", "6", "0", "2"]
    text = TOY_RUN.replace("workers: 24\n", "seed: -1\nsweep:\n  workers: [2, 3, 4]\n")
    assert mistakes(text, sweep=True) == ["4:7 seed"], "a mistake of many cells is told for the first"


def test_no_more_than_some_twenty_are_told() -> None:
    several = [InputError("is wrong", place=f"a.yaml:{line}:1") for line in range(30, 0, -1)]
    error = together(several)
    assert str(error).splitlines() == [
        *(f"a.yaml:{line}:1: is wrong" for line in range(1, MOST_TOLD + 1)),
        f"and {30 - MOST_TOLD} more",
    ]
    assert str(JointInputError(several[:3], cut=True)).splitlines()[-1] == "and many more"
    assert str(together(several[:1])) == str(several[0])
    assert len(together([error, error]).each) == 30  # each mistake once


def test_the_mistakes_of_all_items_are_raised_at_the_end() -> None:
    def fail(line: int) -> None:
        raise InputError("is wrong", place=f"a.yaml:{line}:1")

    with pytest.raises(InputError, match=r"a.yaml:1:1: is wrong\na.yaml:2:1: is wrong"):
        for_each((2, 1), fail)
    assert for_each((2, 1), str) == ["2", "1"]
