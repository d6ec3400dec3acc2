"""Standard output and standard error that cannot be written, terminals that lack a character, and odd paths.

A stream that cannot be written ends a command with at most one sentence, a status and no traceback.
"""

from __future__ import annotations

import os
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from small_inputs import RUN

from numasim.files.standard_streams import LEGIBLE, legible, legible_text

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
    """The status is the status that a shell shows; for a program that a signal ends, `ended` has a negative status."""
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


# ---- terminals whose encoding lacks a character, and paths that are not UTF-8 ----

ASCII = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
BYTE = os.fsdecode(b"\xff")  # a byte of a path


def test_everything_becomes_ascii_that_people_read() -> None:
    for number in range(128, 0x3000):
        if unicodedata.category(chr(number)) != "Cn":
            assert legible(chr(number)).isascii()
    assert "±1 µs".encode("ascii", LEGIBLE) == b"+-1 us"
    assert [legible(character) for character in "\u00d7µ\u2013≤é─│┼"] == ["x", "u", "-", "<=", "e", "-", "|", "+"]


def test_text_in_utf_8_stays_as_it_is() -> None:
    assert legible_text("±1 µs \u4e2d") == "±1 µs \u4e2d"
    assert legible_text(f"out{BYTE}") == "out\\xff"


def shown(here: Path, *words: str, **variables: str) -> tuple[int, bytes, bytes]:
    """Return the status, and the bytes on both streams; the folder has a specification with an odd name."""
    (here / f"{BYTE}.yaml").write_text(RUN)
    command = [sys.executable, "-m", "numasim", *words]
    done = subprocess.run(command, cwd=here, env={**os.environ, **variables}, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("run", "spec.yaml"),
        ("run", "spec.yaml", "--json"),
        ("sweep", "spec.yaml", "-o", "out", "--jobs", "1"),
        ("machine", "list"),
        ("machine", "show", "xeon-e5-2620-2s"),
        ("strategy", "show", "topology-aware"),
        ("workload", "list"),
        ("schema", "run"),
        ("--help",),
        ("run", "µ.yaml"),
        ("run", f"absent{BYTE}.yaml"),
        ("run", "spec.yaml", "--set", "strategy=\u00d7"),
        ("workload", "export", "{name: fib, n: 4}", "µ.json"),
    ],
    ids=lambda words: ascii(" ".join(words)),
)
def test_a_terminal_of_ascii_gets_ascii(words: tuple[str, ...], here: Path) -> None:
    status, out, err = shown(here, *words, **ASCII)
    assert status in (0, 2)
    assert (out + err).isascii()
    assert out + err
    assert b"Traceback" not in err


@pytest.mark.parametrize(
    "words",
    [
        ("run", f"{BYTE}.yaml", "--json", "--trace", f"trace{BYTE}.json"),
        ("sweep", f"{BYTE}.yaml", "--jobs", "1", "-o", f"out{BYTE}", "--engine", "reference"),
        ("sweep", f"{BYTE}.yaml", "--jobs", "1", "--engine", "reference"),
        ("workload", "export", "{name: fib, n: 4}", f"graph{BYTE}.json"),
        ("machine", "import", "-o", f"machine{BYTE}.yaml"),
        ("machine", "show", "tilepro64", "--picture", f"picture{BYTE}.svg"),
    ],
    ids=lambda words: ascii(" ".join(words)),
)
def test_paths_that_are_not_utf_8_work(words: tuple[str, ...], here: Path) -> None:
    status, out, err = shown(here, *words)
    assert (status, err) == (0, b""), err
    out.decode()
    if words[0] == "sweep":  # a second sweep continues the first
        assert shown(here, *words) == (0, out, b"")
