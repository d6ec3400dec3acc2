"""Help with examples that run unchanged, completion, and messages for wrong words."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import typer

from numasim.cli import BAD_INPUT, OK, main
from numasim.cli.entrance import app
from numasim.cli.shared import examples_of
from numasim.engine.simulate import ENGINES
from numasim.parts import catalog
from numasim.runtime.record.openmp_costs import MEASURED
from numasim.workload.registry import MODULES

Capture = pytest.CaptureFixture[str]


def commands(command: Any, path: str = "numasim") -> Iterator[tuple[str, Any]]:
    """Yield the command and all its subcommands, with the words that call them."""
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{path} {name}")


COMMANDS = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("path", COMMANDS)
def test_every_help_has_an_example_of_its_command(path: str, capsys: Capture) -> None:
    assert main([*path.split()[1:], "--help"]) == OK
    before, _, section = capsys.readouterr().out.partition("\nExamples:\n")
    assert before
    shown = [line.removeprefix("  ") for line in section.splitlines()]
    assert shown == list(examples_of(COMMANDS[path].epilog))  # whole lines, however long
    assert any(line.startswith(path) for line in shown)
    assert "..." not in before.partition("\nCommands:")[2]  # descriptions of commands are short enough for a line


def test_every_argument_and_option_is_described() -> None:
    shown = [(path, each) for path, command in COMMANDS.items() for each in command.params if each.name != "help"]
    assert [(path, each.name) for path, each in shown if not each.hidden and not each.help] == []


def test_every_example_runs_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """All examples run one after the other in one folder. Three steps are replaced: the measurements of `bench`, which
    take minutes; the measurement of an OpenMP runtime with spinning threads; and the recording of a program.
    """
    from matplotlib.figure import Figure

    monkeypatch.chdir(tmp_path)
    for measurement in ("simulation_rates.measure", "scale.measure_scale"):
        monkeypatch.setattr(f"numasim.validate.benchmark.{measurement}", lambda progress: [])
    monkeypatch.setattr("numasim.validate.benchmark.simulation_rates.rates_figure", lambda found: Figure())
    monkeypatch.setattr(
        "numasim.runtime.record.openmp_costs.measured", lambda library: dict.fromkeys(MEASURED, Decimal(50))
    )
    monkeypatch.setattr("numasim.cli.record_and_ask._record", lambda order, file: None)  # of a user's program
    monkeypatch.setattr("webbrowser.open", lambda page: page.endswith("/index.html"))
    every = [line for command in COMMANDS.values() for line in examples_of(command.epilog)]
    for line in dict.fromkeys(every):
        program, *arguments = shlex.split(line)
        assert (program, main(arguments)) == ("numasim", OK), f"{line}: {capsys.readouterr().err}"


def completions(line: str, monkeypatch: pytest.MonkeyPatch, capture: Capture) -> list[str]:
    """Return the completions of a shell at the end of ``line``."""
    monkeypatch.setenv("_NUMASIM_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(line.count(" ")))
    assert main([]) == OK
    return capture.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("numasim machine show ", [*catalog.names("machines"), "mine.yaml", "of/"]),
        ("numasim strategy show top", [name for name in catalog.names("strategies") if name.startswith("top")]),
        ("numasim strategy show ring --runtime ", [*catalog.names("runtimes"), "mine.yaml", "of/"]),
        ("numasim workload show ", list(MODULES)),
        ("numasim sweep qui", ["quickstart"]),
        ("numasim show thesis", [name for name in catalog.names("sweeps") if name.startswith("thesis")] + ["thesis"]),
        ("numasim list s", ["strategies", "sweeps", "studies"]),
        ("numasim run ", [*catalog.names("sweeps"), "mine.yaml", "of/"]),
        ("numasim run of/", ["of/mine.yml"]),
        ("numasim run quickstart --engine ", list(ENGINES)),
        ("numasim reproduce th", ["thesis"]),
        ("numasim validate ", ["exact", "native", "virtual", "mine.yaml", "of/"]),
        ("numasim schema sw", ["sweep"]),
    ],
)
def test_shells_complete_what_ships_and_files(
    line: str, offered: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "of").mkdir()
    for name in ("mine.yaml", "note.txt", "of/mine.yml"):
        (tmp_path / name).touch()
    assert completions(line, monkeypatch, capsys) == offered


WRONG_WORDS = {  # words -> the begin of the error message, after "numasim: "
    "rnu": "no such command 'rnu'; did you mean 'run'? (see numasim --help)",
    "run": "run: missing argument 'spec'; for example: numasim run quickstart (see numasim run --help)",
    "run x --engin y": "run: no such option: --engin",
    "machine lst": "machine: no such command 'lst'; did you mean 'list'? (see numasim machine --help)",
    "sweep x --jobs x": "sweep: invalid value for '--jobs' / '-j'; expected a valid integer (see numasim sweep --help)",
    "--verison": "no such option: --verison; did you mean --version? (see numasim --help)",
    "run quikstart": "there is no sweep 'quikstart'; expected one of quickstart, ",
    "run mine": "there is no sweep 'mine'; expected one of quickstart, ",
    "sweep ring": "'ring' is a strategy; expected a sweep or run that has it, such as numasim run ",
    "machine show mine.yaml": "mine.yaml:1:1: this is the file of a run; expected the file of a ",
    "run mine.yaml --trace mine.yaml": "the trace would replace mine.yaml, which is run; ",
    "workload export fib n=5": "the file is missing; expected it behind the parameters: fib ",
    "workload show fib n": "got 'n'; expected parameters of the workload, such as n=10",
    "workload show fib n=1 n=2": "the parameter 'n' is given twice; expected each",
    "workload show fib n=3 spwan_ns=3": "workload: there is no field 'spwan_ns' here; expected one of name, n, "
    "spawn_ns, leaf_ns, join_ns; did you mean 'spawn_ns'?",
    "workload show fib n=-1": "workload.n: got -1; expected at least 0",
    "workload show fbi n=1": "workload.name: there is no workload 'fbi'; expected one of ",
}


@pytest.mark.parametrize("line", WRONG_WORDS)
def test_wrong_words_are_one_sentence(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    run = "machine: xeon-e5-2620-2s\nworkload: {name: fib, n: 5}\nstrategy: ring\nworkers: 2\n"
    (tmp_path / "mine.yaml").write_text(run)
    assert main(shlex.split(line)) == BAD_INPUT
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"numasim: {WRONG_WORDS[line]}")
    assert err.count("\n") == 1
    assert (tmp_path / "mine.yaml").read_text() == run
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]


def test_parameters_are_words_or_a_mapping(capsys: Capture) -> None:
    for words in ("fib n=6 leaf_ns=7", "'{name: fib, n: 6}' leaf_ns=7", "name=fib leaf_ns=7 n=6"):
        assert main(["workload", "show", *shlex.split(words)]) == OK
    assert len(set(capsys.readouterr().out.split("\n\n")) - {""}) == 1


@pytest.mark.parametrize(
    ("kind", "command"), [("machines", "machine"), ("strategies", "strategy"), ("runtimes", "runtime")]
)
def test_shipped_files_are_printed_as_they_stand(kind: str, command: str, capsys: Capture) -> None:
    for name in catalog.names(kind):
        assert main([command, "show", name, "--yaml"]) == OK
        assert capsys.readouterr().out == catalog.find(kind, name).read_text()
