"""Standard output and standard error that cannot be written: at most one sentence, a status, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from small_inputs import RUN

BAD_INPUT, PIPE_CLOSED = 2, 141
EXPECTED = "expected a terminal, a pipe, a file on a disk with free space, or /dev/null"
COMMANDS = {
    "one line": ("numasim", "run", "spec.yaml", "--json", "--engine", "reference"),
    "more than a buffer": ("numasim", "schema", "run"),
    "a table": ("numasim", "run", "spec.yaml", "--engine", "reference"),
    "help": ("numasim", "--help"),
    "a list": ("numasim", "workload", "list"),
    "a sweep": ("numasim", "sweep", "spec.yaml", "-o", "out", "--jobs", "1", "--engine", "reference"),
    "kernels": ("numasim-runtime", "--list"),
    "kernels as JSON": ("numasim-runtime", "--list", "--json"),
    "usage": ("numasim-runtime", "--help"),
    "a run of a kernel": ("numasim-runtime", "--kernel", "fib", "--set", "n=5", "--mode", "serial"),
    "the topology": ("numasim-runtime", "topology"),
}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "spec.yaml").write_text(RUN)
    return tmp_path


def command(name: str, request: pytest.FixtureRequest) -> list[str]:
    program, *arguments = COMMANDS.get(name, name.split())
    if program == "numasim":
        return [sys.executable, "-m", "numasim", *arguments]
    return [str(request.getfixturevalue("program")), *arguments]


def ended(words: list[str], here: Path, **streams: Any) -> tuple[int, str]:
    """Return the status and the text on standard error."""
    streams = {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE, **streams}
    done = subprocess.run(words, cwd=here, text=True, check=False, **streams)
    return done.returncode, done.stderr or ""


def closing(*descriptors: int) -> dict[str, Any]:
    """Return options that start a process with these descriptors closed."""
    return {"preexec_fn": lambda: [os.close(number) for number in descriptors], "close_fds": True}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_behind_standard_output_is_one_sentence(
    name: str, here: Path, request: pytest.FixtureRequest
) -> None:
    with open("/dev/full", "wb") as full:
        status, said = ended(command(name, request), here, stdout=full)
    program = COMMANDS[name][0]
    assert said == f"{program}: standard output cannot be written (No space left on device); {EXPECTED}\n"
    assert status == BAD_INPUT


@pytest.mark.parametrize("name", COMMANDS)
def test_standard_output_that_is_closed_is_one_sentence_before_anything_is_done(
    name: str, here: Path, request: pytest.FixtureRequest
) -> None:
    status, said = ended(command(name, request), here, **closing(1))
    assert said == f"{COMMANDS[name][0]}: standard output is closed; {EXPECTED}\n"
    assert status == BAD_INPUT
    assert [path.name for path in here.iterdir()] == ["spec.yaml"]


@pytest.mark.parametrize("ignored", [False, True], ids=["signal", "no signal"])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_pipe_that_nobody_reads_ends_it_quietly(
    name: str, ignored: bool, here: Path, request: pytest.FixtureRequest
) -> None:
    """The status is as in a shell; for a program that the signal ends, `ended` gives a negative status."""
    reader, writer = os.pipe()
    os.close(reader)
    status, said = ended(command(name, request), here, stdout=writer, restore_signals=not ignored)
    os.close(writer)
    assert said == ""
    assert status % 256 in (PIPE_CLOSED, -13 % 256)
    assert status == PIPE_CLOSED or (COMMANDS[name][0] == "numasim-runtime" and not ignored)


@pytest.mark.parametrize("stream", ["full", "nobody reads"])
@pytest.mark.parametrize("name", ["numasim run absent.yaml", "numasim run", "numasim-runtime --kernel absent"])
def test_a_complaint_that_cannot_be_made_keeps_its_status(
    name: str, stream: str, here: Path, request: pytest.FixtureRequest
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open("/dev/full", "wb") as full:
        stderr = full if stream == "full" else writer
        status, _ = ended(command(name, request), here, stderr=stderr, stdout=subprocess.DEVNULL, restore_signals=False)
    os.close(writer)
    assert status == BAD_INPUT


@pytest.mark.parametrize("descriptors", [(0,), (2,), (0, 2)])
@pytest.mark.parametrize(
    "name", ["numasim run absent.yaml", "numasim-runtime --kernel fib --set n=5 --mode serial --record"]
)
def test_what_is_meant_for_a_closed_stream_gets_into_no_file(
    name: str, descriptors: tuple[int, ...], here: Path, request: pytest.FixtureRequest
) -> None:
    """An opened file gets the lowest free descriptor, which must not be the descriptor of a standard stream."""
    record = name.endswith("--record")
    words = command(name, request) + (["graph.json"] if record else [])
    done = subprocess.run(
        words, cwd=here, stdout=subprocess.PIPE, text=True, check=False, preexec_fn=closing(*descriptors)["preexec_fn"]
    )
    assert done.returncode == (0 if record else BAD_INPUT)
    assert "numasim: " not in done.stdout
    if record:
        assert (here / "graph.json").read_text().endswith("}\n")
