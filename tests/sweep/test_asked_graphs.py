"""`numasim ask`: a task graph on several machines, under several strategies, is a sweep."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import numasim as ns
from numasim.cli.entrance import main
from numasim.report.sweep_result import SweepResult
from numasim.workload.graph_forms import write_graph
from numasim.workload.recording.recorded import Recorded

DOT = "digraph pair { a [us=3]; b [us=4]; a -> b }"
TIMES = ("--unit", "1us", "--cost", "us")


def asked(*words: str | Path) -> int:
    return main(["ask", *map(str, words), "-j", "1"])


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """Return the file of a chain of two tasks, of 3 and 4 microseconds."""
    file = tmp_path / "pair.dot"
    file.write_text(DOT)
    return file


def test_a_chain_takes_its_length_on_every_machine(
    graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machines = ("--machine", "xeon-e5-2620-2s", "--machine", "altra-q80-30-2s")
    assert asked(graph, *machines, "-s", "randomized", "-w", "2", *TIMES, "-o", tmp_path / "r") == 0
    said = capsys.readouterr()
    assert "does not say what memory its tasks access" in said.err
    free = (
        "nder the runtime bare only probes cost time (100 ns, on another node 300 ns"  # of configs/runtimes/bare.yaml
    )
    assert free in " ".join(said.out.split())
    assert free in (tmp_path / "r" / "index.html").read_text()
    frame = SweepResult(tmp_path / "r").to_frame()
    assert sorted(set(frame["machine"])) == ["altra-q80-30-2s", "xeon-e5-2620-2s"]
    assert set(frame["serial_ps"]) == set(frame["makespan_ps"]) == {7_000_000}
    assert (tmp_path / "r" / "index.html").exists()


def test_a_single_cell_is_an_answer(graph: Path, tmp_path: Path) -> None:
    """With one machine, one strategy and one number of workers, no axis has two values."""
    assert asked(graph, "-m", "xeon-e5-2620-2s", "-s", "randomized", "-w", "2", *TIMES, "-o", tmp_path / "r") == 0
    assert set(SweepResult(tmp_path / "r").to_frame()["makespan_ps"]) == {7_000_000}


def test_workers_are_the_cores_of_the_smallest_machine(
    graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("-m", "altra-q80-30-2s", "-m", "xeon-e5-2620-2s", *TIMES, "--repeat", "1", "--runtime", "ompi")
    assert asked(graph, *words, "-o", tmp_path / "r") == 0
    assert "only probes cost time" not in " ".join(capsys.readouterr().out.split())
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


def machine(folder: Path, name: str, rate: int) -> Path:
    file = folder / f"{name}.yaml"
    file.write_text(f"{{like: xeon-e5-2620-2s, name: {name}, core_steps_per_s: {rate}}}")
    return file


def test_times_are_those_of_the_machine_s_cores_where_both_rates_are_known(
    graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The graph was recorded on cores of 250 million steps per second and takes 7 us there. It takes 3.5 us at 500
    million steps per second, and 1.75 us at 1,000 million.
    """
    here, a, b = (machine(tmp_path, *each) for each in (("here", 250 * 10**6), ("a", 500 * 10**6), ("b", 10**9)))
    words = ("-s", "randomized", "-w", "2", *TIMES, "-o", tmp_path / "r")
    assert asked(graph, "-m", a, "-m", b, "--recorded-on", here, *words) == 0
    frame = SweepResult(tmp_path / "r").to_frame()
    assert frame.groupby("machine")["makespan_ps"].unique().map(list).to_dict() == {"a": [3_500_000], "b": [1_750_000]}
    said = " ".join(capsys.readouterr().out.split())
    assert "b is 50.0 % faster than a" in said
    assert "multiplied by 0.5 on a and 0.25 on b" in said
    assert "multiplied by 0.5 on a and 0.25 on b" in (tmp_path / "r" / "index.html").read_text()
    single = ns.Graph.imported(graph, unit="1us", cost="us").recorded_on(here)
    result = ns.run(machine=a, workload=single, strategy="randomized", workers=2)
    assert "multiplied by 0.5 on a" in " ".join(result.remarks)


def test_where_a_rate_is_missing_every_page_says_that_cores_are_taken_to_be_equal(
    graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("-m", "xeon-e5-2620-2s", "-m", "altra-q80-30-2s", "-s", "randomized", *TIMES, "-o", tmp_path / "r")
    assert asked(graph, *words) == 0
    page, said = (tmp_path / "r" / "index.html").read_text(), " ".join(capsys.readouterr().out.split())
    for text in (page, said):
        assert "With cores taken to be equally fast, makespan is" in text
        assert "no machine is called faster" in text
        assert "% faster" not in text
    assert main(["compare", str(tmp_path / "r"), "--axis", "machine"]) == 0
    assert "taken to be equally fast" in " ".join(capsys.readouterr().out.split())


def test_guessed_bytes_are_said_to_be_guesses_wherever_bytes_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = ns.Graph("tiles")
    graph.task(1000, reads=graph.region("a", 4096))
    work = replace(graph.specified().workload, recorded=Recorded("a processor", sizes=64, guessed_sizes=8))
    write_graph(work, tmp_path / "tiles.json")
    words = ("-m", "xeon-e5-2620-2s", "-s", "randomized", "-w", "1", "-w", "2", "--repeat", "1", "-o", tmp_path / "r")
    assert asked(tmp_path / "tiles.json", *words) == 0
    run = tmp_path / "run.yaml"
    run.write_text("{machine: xeon-e5-2620-2s, workload: {file: tiles.json}, strategy: randomized, workers: 1}")
    by_ask = capsys.readouterr().out
    assert main(["run", str(run)]) == 0
    by_run = capsys.readouterr().out
    assert main(["run", str(run), "--trace", str(tmp_path / "trace.json")]) == 0
    for text in (by_ask, by_run, capsys.readouterr().out, (tmp_path / "r" / "index.html").read_text()):
        assert "bytes of tiles are partly guesses: 8 of 64 sizes of accesses" in " ".join(text.split())


def test_a_machine_without_a_rate_is_no_place_of_a_recording(
    graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("-m", "altra-q80-30-2s", "--recorded-on", "altra-q80-30-2s", *TIMES, "-o", tmp_path / "r")
    assert asked(graph, *words) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert "the machine altra-q80-30-2s has no core_steps_per_s; expected a machine file that numasim calibrate" in said
    assert not (tmp_path / "r").exists()
