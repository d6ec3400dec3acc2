"""A command with a bad input ends with status 2 and one sentence, with place and remedy; it writes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from bad_arguments import ARGUMENTS
from bad_input_type import BadInput
from bad_specifications import SPECIFICATIONS
from damaged_data import BAD_CSV, BAD_PROVENANCES, BAD_RESULTS, bad_graphs
from damaged_files import DAMAGED
from damaged_machines import BAD_XML, bad_sysfs
from damaged_yaml import LOOPS, MACHINES, bad_yaml

from numasim.cli import main
from numasim.errors import MOST_TOLD


def is_one_message(text: str) -> bool:
    """Return whether ``text`` is one sentence or, for very many mistakes, some twenty and a note that more exist."""
    lines = text.splitlines()
    few = len(lines) == 1 or (len(lines) == MOST_TOLD + 1 and lines[-1].startswith("numasim: and "))
    return few and text.endswith("\n") and all(line.startswith("numasim: ") for line in lines)


EVERY = [
    *SPECIFICATIONS,
    *ARGUMENTS,
    *DAMAGED,
    *bad_yaml(),
    *MACHINES,
    *LOOPS,
    *bad_graphs(),
    *BAD_XML,
    *bad_sysfs(),
    *BAD_CSV,
    *BAD_PROVENANCES,
    *BAD_RESULTS,
]
OF_COMMANDS = {bad.command[0]: bad for bad in reversed(EVERY)}
FIRST = [  # bad inputs whose tests are not slow
    bad
    for number, bad in enumerate(EVERY)
    if number % (2 if bad in SPECIFICATIONS else 6) == 0 or bad in OF_COMMANDS.values()
]


@pytest.mark.parametrize("bad", FIRST, ids=str)
def test_one_sentence_and_nothing_written(
    bad: BadInput, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    one_sentence_and_nothing_written(bad, tmp_path, monkeypatch, capfd)


@pytest.mark.parametrize("bad", [bad for bad in EVERY if bad not in FIRST], ids=str)
def test_the_others_are_one_sentence_and_nothing_is_written(
    bad: BadInput, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    one_sentence_and_nothing_written(bad, tmp_path, monkeypatch, capfd)


def one_sentence_and_nothing_written(
    bad: BadInput, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Run the command with its bad input, and check its message and the files that it leaves."""
    monkeypatch.chdir(tmp_path)
    bad.make(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    assert main(bad.command) == 2
    shown = capfd.readouterr()
    assert shown.out == ""
    said = shown.err.removeprefix("numasim: executes study/study.py\n")  # printed before code of a user is executed
    assert is_one_message(said), shown.err
    assert [text for text in bad.says if text not in shown.err] == [], shown.err
    assert sorted(tmp_path.rglob("*")) == before


def test_no_bad_input_has_the_name_of_another() -> None:
    assert len({bad.name for bad in EVERY}) == len(EVERY)
