"""`numasim ask`: a task graph on several machines, under several strategies, is a sweep."""

from __future__ import annotations

from pathlib import Path

import pytest

import numasim as ns
from numasim.cli.entrance import main
from numasim.sweep_report.sweep_result import SweepResult

DOT = "digraph pair { a [us=3]; b [us=4]; a -> b }"
TIMES = ("--unit", "1us", "--cost", "us")


def asked(*words: str | Path) -> int:
    return main(["ask", *map(str, words), "-j", "1"])


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """A chain of two tasks, of 3 and 4 microseconds."""
    file = tmp_path / "pair.dot"
    file.write_text(DOT)
    return file


def test_a_chain_takes_its_length_on_every_machine(
    graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machines = ("--machine", "xeon-e5-2620-2s", "--machine", "altra-q80-30-2s")
    assert asked(graph, *machines, "-s", "randomized", "-w", "2", *TIMES, "-o", tmp_path / "r") == 0
    assert "does not say what memory its tasks access" in capsys.readouterr().err
    frame = SweepResult(tmp_path / "r").to_frame()
    assert sorted(set(frame["machine"])) == ["altra-q80-30-2s", "xeon-e5-2620-2s"]
    assert set(frame["serial_ps"]) == set(frame["makespan_ps"]) == {7_000_000}
    assert (tmp_path / "r" / "index.html").exists()


def test_workers_are_the_cores_of_the_smallest_machine(graph: Path, tmp_path: Path) -> None:
    words = ("-m", "altra-q80-30-2s", "-m", "xeon-e5-2620-2s", *TIMES, "--repeat", "1")
    assert asked(graph, *words, "-o", tmp_path / "r") == 0
    frame = SweepResult(tmp_path / "r").to_frame()
    assert set(frame["workers"]) == {ns.Machine("xeon-e5-2620-2s").cores} == {12}
    assert len(set(frame["strategy"])) == 4


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (TIMES, "no machine is given"),
        (("-m", "altra", *TIMES), "did you mean 'altra-q80-30-2s'?"),
        (("-m", "altra-q80-30-2s", *TIMES, "-s", "randomised"), "did you mean 'randomized'?"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(
    words: tuple[str, ...], sentence: str, graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(graph, *words, "-o", tmp_path / "r") == 2
    assert sentence in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "r").exists()
