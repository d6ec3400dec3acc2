"""Output to terminals whose encoding lacks a character, and paths that are not UTF-8."""

from __future__ import annotations

import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from small_inputs import RUN, VALIDATION_PART

from numasim.files.standard_streams import LEGIBLE, legible, legible_text

ASCII = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
BYTE = os.fsdecode(b"\xff")  # a byte of a path


@pytest.mark.parametrize(
    ("character", "expected"),
    [
        ("\u00d7", "x"),
        ("µ", "u"),
        ("\u2013", "-"),
        ("±", "+-"),
        ("≤", "<="),
        ("é", "e"),
        ("─", "-"),
        ("│", "|"),
        ("┼", "+"),
    ],
)
def test_people_read_what_stands_for_a_character(character: str, expected: str) -> None:
    assert legible(character) == expected


def test_everything_becomes_ascii() -> None:
    for number in range(128, 0x3000):
        if unicodedata.category(chr(number)) != "Cn":
            assert legible(chr(number)).isascii()
    assert "±1 µs".encode("ascii", LEGIBLE) == b"+-1 us"


def test_text_in_utf_8_stays_as_it_is() -> None:
    assert legible_text("±1 µs \u4e2d") == "±1 µs \u4e2d"
    assert legible_text(f"out{BYTE}") == "out\\xff"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    for name in ("spec.yaml", f"{BYTE}.yaml"):
        (tmp_path / name).write_text(RUN)
    (tmp_path / f"part{BYTE}.yaml").write_text(VALIDATION_PART)
    return tmp_path


def ended(here: Path, *words: str, **variables: str) -> tuple[int, bytes, bytes]:
    done = subprocess.run(
        [sys.executable, "-m", "numasim", *words],
        cwd=here,
        env={**os.environ, **variables},
        capture_output=True,
        check=False,
    )
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
    status, out, err = ended(here, *words, **ASCII)
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
    status, out, err = ended(here, *words)
    assert (status, err) == (0, b""), err
    out.decode()
    if words[0] == "sweep":  # a second sweep continues the first
        assert ended(here, *words) == (0, out, b"")
